"""Ninety days of findings for the demo's websites, the same in every demo."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from random import Random

from config.demo.sample_data import Page, PageOnHost, SampleData, Weakness
from dashboard_api.importing.plan import other_locations
from dashboard_api.models import (
    Coverage,
    Finding,
    FindingEvent,
    Kind,
    Occurrence,
    OpenCount,
    Severity,
    Website,
)

PERIOD = timedelta(days=90)
_STATUS_WEIGHTS = {  # in percent
    Finding.Status.OPEN: 86,
    Finding.Status.FIXED: 9,
    Finding.Status.FALSE_POSITIVE: 3,
    Finding.Status.ACCEPTED_RISK: 2,
}
_REASONS = {  # of the event that gave a finding its status; an open finding has no event
    Finding.Status.FIXED: "",  # a scan no longer reported it
    Finding.Status.FALSE_POSITIVE: "We tried it by hand without any effect.",
    Finding.Status.ACCEPTED_RISK: "Agreed with the shop: it goes with the relaunch in spring.",
}
_ACCEPTED_FOR = timedelta(days=120)  # an accepted risk
_MORE_LOCATIONS = (0, 0, 0, 0, 1, 2, 5)  # a finding has one of these numbers, most often 0


def store_findings(
    data: SampleData,
    website: Website,
    count: int,
    runs: Iterable[Coverage],
    *,
    now: datetime,
    dice: Random,
) -> None:
    """Store ``count`` findings of the sources with a complete run, oldest first."""
    completed = {run.source.slug: run for run in runs if run.completed_at}
    findings = []
    for weakness, page, source in _distinct(data, website.host, count, completed, dice):
        finding = _finding(weakness, page, completed[source], now=now, dice=dice)
        findings.append((finding, _locations(weakness, page, dice)))
    findings.sort(key=lambda pair: pair[0].first_seen)
    for finding, locations in findings:
        finding.location = locations[0]
        finding.locations_count = len(locations)
        finding.other_locations = other_locations(finding.location, locations)
    Finding.objects.bulk_create(finding for finding, _ in findings)
    Occurrence.objects.bulk_create(
        _occurrence(finding, location) for finding, locations in findings for location in locations
    )
    FindingEvent.objects.bulk_create(_event(finding) for finding, _ in findings if finding.status in _REASONS)
    _store_history(website, [finding for finding, _ in findings], today=now.date())


def _store_history(website: Website, findings: list[Finding], *, today: date) -> None:
    """Store the numbers of open findings at the end of each earlier day on which they changed."""
    statuses = (Finding.Status.OPEN, Finding.Status.FIXED)
    counted = [finding for finding in findings if finding.status in statuses]
    first_seen_days = {finding.first_seen.date() for finding in counted}
    fixed_days = {finding.fixed_at.date() for finding in counted if finding.fixed_at}
    OpenCount.objects.bulk_create(
        OpenCount(
            website_id=website.pk,
            day=day,
            **_by_severity(
                finding
                for finding in counted
                if finding.first_seen.date() <= day
                and (finding.fixed_at is None or day < finding.fixed_at.date())
            ),
        )
        for day in sorted((first_seen_days | fixed_days) - {today})
    )


def _by_severity(findings: Iterable[Finding]) -> dict[str, int]:
    """Return the counts of the findings by the columns of ``OpenCount``."""
    names = [severity.name.lower() for severity in Severity]
    counts = dict.fromkeys(names, 0) | {f"suspected_{name}": 0 for name in names if name != "info"}
    for finding in findings:
        name = Severity(finding.severity).name.lower()
        counts[name] += 1
        if finding.kind == Kind.SUSPECTED and name != "info":
            counts[f"suspected_{name}"] += 1
    return counts


def _distinct(
    data: SampleData, host: str, count: int, sources: Iterable[str], dice: Random
) -> Iterator[tuple[Weakness, PageOnHost, str]]:
    """Yield ``count`` distinct combinations of a weakness, a page and a source that reports it."""
    weaknesses = [each for each in data.weaknesses if not each.rules.keys().isdisjoint(sources)]
    weights = [weakness.weight for weakness in weaknesses]
    keys: set[tuple[str, PageOnHost, str]] = set()
    while len(keys) < count:
        weakness = dice.choices(weaknesses, weights)[0]
        # A weakness with an only location occurs once on a host: with the same page each time.
        path = Page("/", "") if weakness.only_location else dice.choice(data.pages)
        page = PageOnHost(dice.choice(data.subdomains) + host, path)
        source = dice.choice([source for source in weakness.rules if source in sources])
        key = (weakness.title, page, source)
        if key not in keys:
            keys.add(key)
            yield weakness, page, source


def _finding(weakness: Weakness, page: PageOnHost, run: Coverage, *, now: datetime, dice: Random) -> Finding:
    scanned_at = run.completed_at or now
    begin = now - PERIOD
    first_seen = begin + (scanned_at - begin) * dice.random()  # at any time before the scan
    status = dice.choices(list(_STATUS_WEIGHTS), list(_STATUS_WEIGHTS.values()))[0]
    fixed_at = None
    last_seen = scanned_at
    if status == Finding.Status.FIXED:
        fixed_at = first_seen + (scanned_at - first_seen) * dice.uniform(0.1, 1)
        last_seen = first_seen + (fixed_at - first_seen) * 0.9
    rule = weakness.rules[run.source.slug]
    title = page.fill_in(weakness.title)
    return Finding(
        website=run.website,
        source=run.source,
        fingerprint=_digest(f"{run.source.slug}|{rule}|{title}|{page.host}"),
        severity=Severity[weakness.severity.upper()],
        kind=Kind(weakness.kind),
        status=status,
        title=title,
        description=page.fill_in(weakness.description),
        remediation=weakness.remediation,
        references=weakness.references,
        cwe=weakness.cwe,
        cve=weakness.cve,
        rule=rule,
        evidence=page.fill_in(weakness.evidence),
        first_seen=first_seen,
        last_seen=last_seen,
        fixed_at=fixed_at,
        triage_until=(now + _ACCEPTED_FOR).date() if status == Finding.Status.ACCEPTED_RISK else None,
    )


def _event(finding: Finding) -> FindingEvent:
    """Return the event that gave the finding its status."""
    reason = _REASONS[Finding.Status(finding.status)]
    return FindingEvent(
        finding=finding,
        website_id=finding.website_id,
        event=finding.status,
        at=finding.fixed_at or finding.last_seen,
        by="robin" if reason else "",  # an analyst; scans fix findings without a name
        reason=reason,
    )


def _locations(weakness: Weakness, page: PageOnHost, dice: Random) -> list[str]:
    """Return where the finding is; the first location is the page itself."""
    if weakness.only_location:
        return [page.fill_in(weakness.only_location)]
    first = page.fill_in("https://$host$path")
    numbers = dice.sample(range(100, 1000), dice.choice(_MORE_LOCATIONS))
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
