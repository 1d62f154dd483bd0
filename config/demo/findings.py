"""Findings of the demo's websites over ninety days, the same at every seeding."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from random import Random

from config.demo.sample_data import Catalogue, Location, Page, Problem
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
    """Store ``count`` findings of the sources in ``runs`` that have completed a run, oldest first."""
    completed = {run.source.slug: run for run in runs if run.completed_at}
    findings = []
    for problem, location, source in _distinct(catalogue, website.host, count, completed, dice):
        finding = _finding(problem, location, completed[source], now=now, dice=dice)
        findings.append((finding, _locations(problem, location, dice)))
    findings.sort(key=lambda pair: pair[0].first_seen)
    for finding, locations in findings:
        finding.location, finding.locations_count = locations[0], len(locations)
        finding.other_locations = other_locations(finding.location, locations)
    Finding.objects.bulk_create(finding for finding, _ in findings)
    Occurrence.objects.bulk_create(
        _occurrence(finding, location) for finding, locations in findings for location in locations
    )
    FindingEvent.objects.bulk_create(_step(finding) for finding, _ in findings if finding.status in _REASONS)


def _distinct(
    catalogue: Catalogue, host: str, count: int, sources: Iterable[str], dice: Random
) -> Iterator[tuple[Problem, Location, str]]:
    """Return ``count`` different combinations of a problem, a location and a source."""
    problems = [problem for problem in catalogue.problems if not problem.rules.keys().isdisjoint(sources)]
    weights = [problem.weight for problem in problems]
    used: set[tuple[str, Location, str]] = set()
    while len(used) < count:
        problem = dice.choices(problems, weights)[0]
        page = Page("/", "") if problem.location else dice.choice(catalogue.pages)
        location = Location(dice.choice(catalogue.subdomains) + host, page)
        source = dice.choice([source for source in problem.rules if source in sources])
        key = (problem.title, location, source)
        if key not in used:
            used.add(key)
            yield problem, location, source


def _finding(problem: Problem, location: Location, run: Coverage, *, now: datetime, dice: Random) -> Finding:
    scanned_at = run.completed_at or now
    first_seen = now - PERIOD + (scanned_at - now + PERIOD) * dice.random()
    status = dice.choices(list(_STATUSES), list(_STATUSES.values()))[0]
    fixed_at = None
    last_seen = scanned_at
    if status == Finding.Status.FIXED:
        fixed_at = first_seen + (scanned_at - first_seen) * dice.uniform(0.1, 1)
        last_seen = first_seen + (fixed_at - first_seen) * 0.9
    rule = problem.rules[run.source.slug]
    title = location.fill(problem.title)
    return Finding(
        website=run.website,
        source=run.source,
        fingerprint=_digest(f"{run.source.slug}|{rule}|{title}|{location.host}"),
        severity=Severity[problem.severity.upper()],
        kind=Kind(problem.kind),
        status=status,
        title=title,
        description=location.fill(problem.description),
        remediation=problem.remediation,
        references=problem.references,
        cwe=problem.cwe,
        cve=problem.cve,
        rule=rule,
        evidence=location.fill(problem.evidence),
        first_seen=first_seen,
        last_seen=last_seen,
        fixed_at=fixed_at,
        triage_until=(now + _ACCEPTED_FOR).date() if status == Finding.Status.ACCEPTED_RISK else None,
    )


def _step(finding: Finding) -> FindingEvent:
    """Return the event that led to the status of ``finding``."""
    reason = _REASONS[Finding.Status(finding.status)]
    return FindingEvent(
        finding=finding,
        website_id=finding.website_id,
        event=finding.status,
        at=finding.fixed_at or finding.last_seen,
        by="robin" if reason else "",
        reason=reason,
    )


def _locations(problem: Problem, location: Location, dice: Random) -> list[str]:
    if problem.location:
        return [location.fill(problem.location)]
    first = location.fill("https://$host$path")
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
