"""Findings for the demo's websites: ninety days of them, the same at every seeding."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from random import Random

from config.demo.sample_data import Catalogue, Page, Place, Problem
from dashboard_api.importing.plan import other_locations
from dashboard_api.models import Coverage, Finding, FindingEvent, Kind, Occurrence, Severity, Website

PERIOD = timedelta(days=90)
_STATUSES = {
    Finding.Status.OPEN: 86,
    Finding.Status.FIXED: 9,
    Finding.Status.FALSE_POSITIVE: 3,
    Finding.Status.ACCEPTED_RISK: 2,
}
_REASONS = {
    Finding.Status.FIXED: "",  # a scan no longer reported it
    Finding.Status.FALSE_POSITIVE: "We tried it by hand, and nothing came of it.",
    Finding.Status.ACCEPTED_RISK: "Agreed with the shop: it goes with the relaunch in spring.",
}
_ACCEPTED_FOR = timedelta(days=120)
_FURTHER_PLACES = (0, 0, 0, 0, 1, 2, 5)


def store_findings(
    catalogue: Catalogue,
    website: Website,
    count: int,
    runs: Iterable[Coverage],
    *,
    now: datetime,
    dice: Random,
) -> None:
    """Store ``count`` findings by the engines among ``runs`` that ever completed one, oldest first."""
    completed = {run.source.slug: run for run in runs if run.completed_at}
    drawn = []
    for problem, place, engine in _distinct(catalogue, website.host, count, completed, dice):
        finding = _finding(problem, place, completed[engine], now=now, dice=dice)
        drawn.append((finding, _locations(problem, place, dice)))
    drawn.sort(key=lambda pair: pair[0].first_seen)
    for finding, locations in drawn:
        finding.location, finding.locations_count = locations[0], len(locations)
        finding.other_locations = other_locations(finding.location, locations)
    Finding.objects.bulk_create(finding for finding, _ in drawn)
    Occurrence.objects.bulk_create(
        _occurrence(finding, location) for finding, locations in drawn for location in locations
    )
    FindingEvent.objects.bulk_create(_step(finding) for finding, _ in drawn if finding.status in _REASONS)


def _distinct(
    catalogue: Catalogue, host: str, count: int, engines: Iterable[str], dice: Random
) -> Iterator[tuple[Problem, Place, str]]:
    """``count`` different combinations of a problem, a place and an engine that notices it."""
    problems = [problem for problem in catalogue.problems if not problem.rules.keys().isdisjoint(engines)]
    weights = [problem.weight for problem in problems]
    drawn: set[tuple[str, Place, str]] = set()
    while len(drawn) < count:
        problem = dice.choices(problems, weights)[0]
        page = Page("/", "") if problem.location else dice.choice(catalogue.pages)
        place = Place(dice.choice(catalogue.subdomains) + host, page)
        engine = dice.choice([engine for engine in problem.rules if engine in engines])
        key = (problem.title, place, engine)
        if key not in drawn:
            drawn.add(key)
            yield problem, place, engine


def _finding(problem: Problem, place: Place, run: Coverage, *, now: datetime, dice: Random) -> Finding:
    scanned_at = run.completed_at or now
    first_seen = now - PERIOD + (scanned_at - now + PERIOD) * dice.random()
    status = dice.choices(list(_STATUSES), list(_STATUSES.values()))[0]
    fixed_at = None
    last_seen = scanned_at
    if status == Finding.Status.FIXED:
        fixed_at = first_seen + (scanned_at - first_seen) * dice.uniform(0.1, 1)
        last_seen = first_seen + (fixed_at - first_seen) * 0.9
    rule = problem.rules[run.source.slug]
    title = place.fill(problem.title)
    return Finding(
        website=run.website,
        source=run.source,
        fingerprint=_digest(f"{run.source.slug}|{rule}|{title}|{place.host}"),
        severity=Severity[problem.severity.upper()],
        kind=Kind(problem.kind),
        status=status,
        title=title,
        description=place.fill(problem.description),
        remediation=problem.remediation,
        references=problem.references,
        cwe=problem.cwe,
        cve=problem.cve,
        rule=rule,
        evidence=place.fill(problem.evidence),
        first_seen=first_seen,
        last_seen=last_seen,
        fixed_at=fixed_at,
        triage_until=(now + _ACCEPTED_FOR).date() if status == Finding.Status.ACCEPTED_RISK else None,
    )


def _step(finding: Finding) -> FindingEvent:
    """How it came to stand where it stands."""
    reason = _REASONS[Finding.Status(finding.status)]
    return FindingEvent(
        finding=finding,
        website_id=finding.website_id,
        event=finding.status,
        at=finding.fixed_at or finding.last_seen,
        by="robin" if reason else "",
        reason=reason,
    )


def _locations(problem: Problem, place: Place, dice: Random) -> list[str]:
    if problem.location:
        return [place.fill(problem.location)]
    first = place.fill("https://$host$path")
    numbers = dice.sample(range(100, 1000), dice.choice(_FURTHER_PLACES))
    return [first, *(f"{first}/{number}" for number in numbers)]


def _occurrence(finding: Finding, location: str) -> Occurrence:
    return Occurrence(
        finding=finding,
        location=location,
        location_digest=_digest(location),
        evidence=finding.evidence,
        first_seen=finding.first_seen,
        last_seen=finding.last_seen,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
