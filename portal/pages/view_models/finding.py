"""The page of one finding: all details, with translated labels."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from foundation.texts.stored_texts import translate
from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.findings import NoteView, kind_label, note_view, row_key, status_label
from portal.texts import labels, topics
from portal.texts.cvss import Cvss, find_cvss
from portal.texts.stacks import StackFix, fixes_by_stack
from signed_api.findings import Event, FindingDetail, FindingResponse, Location, Threat

_CVE = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A text with an optional URL."""

    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationView:
    """A location of the finding; ``evidence`` is empty if it repeats the finding's."""

    location: str
    evidence: str
    is_evidence_cut: bool
    first_seen: datetime | None
    last_seen: datetime | None
    gone_at: datetime | None


AnyLocation = TypeVar("AnyLocation", bound=Location | LocationView)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineStep:
    """An event in the history of the finding."""

    event: str
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingView:
    """A finding with all details.

    - ``list_url`` leads back to the list, ``problem_url`` to all findings of the problem;
    - ``link`` is the URL to share;
    - ``topic`` is the title of a known topic, else empty;
    - ``other_sources`` names other scanners that report the topic;
    - ``fix`` is the topic's translated fix, empty in English, because scanners write English;
    - ``fixes`` has code by stack;
    - ``answer`` is the account's open answer in words, in a report only.
    """

    list_url: str
    problem_url: str
    topic: str
    row_key: str
    link: str
    severity: str
    tone: str
    kind: str
    kind_meaning: str
    status: str
    title: str
    location: str
    source: str
    other_sources: str
    rule: str
    cvss: Cvss | None
    description: str
    remediation: str
    fix: str
    fixes: tuple[StackFix, ...]
    evidence: str
    is_evidence_cut: bool
    locations: tuple[LocationView, ...]
    more_locations: int
    references: tuple[Link, ...]
    weaknesses: tuple[Link, ...]
    timeline: tuple[TimelineStep, ...]
    notes: tuple[NoteView, ...]
    answer: str = ""


def finding_view(response: FindingResponse, address: Address, *, link: str) -> FindingView:
    """Return the finding of ``response``; ``address`` is the list from which the person came."""
    finding = response.finding
    locations = location_views(finding)
    repeats_header = (
        len(locations) == 1 and locations[0].location == finding.location and not locations[0].evidence
    )
    return FindingView(
        list_url=str(address),
        problem_url=replace(address, filters=Filters()).of_problem(finding.problem),
        topic=topics.title_of(finding.problem),
        row_key=row_key(finding.id),
        link=link,
        severity=labels.label(labels.SEVERITIES, finding.severity),
        tone=labels.tone(finding.severity),
        kind=kind_label(finding),
        kind_meaning=str(
            labels.VERIFIED_MEANING if finding.verified else labels.KIND_MEANINGS.get(finding.kind, "")
        ),
        status=_status(finding),
        title=finding.title,
        location=finding.location,
        source=finding.source_name or finding.source,
        other_sources=", ".join(response.also_found_by),
        rule=finding.rule,
        cvss=find_cvss(f"{finding.description}\n\n{finding.evidence}"),
        description=finding.description,
        remediation=finding.remediation,
        fix=topics.translated_fix_of(finding.problem),
        fixes=fixes_by_stack(finding.problem),
        evidence=finding.evidence,
        is_evidence_cut=finding.evidence_truncated,
        locations=() if repeats_header else locations,
        more_locations=locations_left(finding, finding.locations),
        references=tuple(filter(None, map(reference, finding.references))),
        weaknesses=weaknesses(finding),
        timeline=timeline(finding),
        notes=tuple(note_view(note) for note in response.analyst_notes),
    )


def _status(finding: FindingDetail) -> str:
    """Return the label of the status, with the last day of a decision that ends."""
    status = status_label(finding)
    if status and finding.decided_until:
        return _("%(status)s until %(day)s") % {"status": status, "day": labels.day(finding.decided_until)}
    return status


def present_in(locations: Sequence[AnyLocation]) -> Sequence[AnyLocation]:
    """Return the locations where the finding still is; if it is gone from all, return all."""
    return [location for location in locations if location.gone_at is None] or locations


def locations_left(threat: Threat, listed: Sequence[Location | LocationView]) -> int:
    """Return the number of further locations, beyond ``listed``, that the finding has or had when fixed."""
    shown_count = max(len(present_in(listed)), 1)  # without a list, the page shows the finding's own location
    return max(threat.locations_count - shown_count, 0)


def location_views(finding: FindingDetail) -> tuple[LocationView, ...]:
    """Return the locations of ``finding``, with evidence only where it differs from the finding's."""
    return tuple(_location_view(location, finding) for location in finding.locations)


def _location_view(location: Location, finding: FindingDetail) -> LocationView:
    # A location's evidence is cut earlier than the finding's, so the same evidence is a beginning of it.
    has_own_evidence = not finding.evidence.startswith(location.evidence)
    return LocationView(
        location=location.location,
        evidence=location.evidence if has_own_evidence else "",
        is_evidence_cut=has_own_evidence and location.evidence_truncated,
        first_seen=location.first_seen,
        last_seen=location.last_seen,
        gone_at=location.gone_at,
    )


def reference(url: str) -> Link | None:
    """Return a link to a plain http(s) URL, shown without its scheme; other URLs are dropped."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        return None
    return Link(text=url.partition("://")[2].rstrip("/"), url=url)


def weaknesses(finding: Threat) -> tuple[Link, ...]:
    """Return links to the finding's CVEs and CWEs in their public catalogues."""
    cves = (
        Link(text=cve, url=f"https://nvd.nist.gov/vuln/detail/{cve}" if _CVE.fullmatch(cve) else "")
        for cve in finding.cve
    )
    cwes = (
        Link(text=f"CWE-{number}", url=f"https://cwe.mitre.org/data/definitions/{number}.html")
        for number in finding.cwe
    )
    return (*cves, *cwes)


def timeline(finding: FindingDetail) -> tuple[TimelineStep, ...]:
    """Return the finding's labelled events, oldest first; without a timeline, its first and last report."""
    dates = {"first_seen": finding.first_seen, "last_seen": finding.last_seen}
    reports = [Event(at=at, event=event) for event, at in dates.items() if at is not None]
    events: Iterable[Event] = finding.timeline or reports
    return tuple(
        TimelineStep(event=str(labels.EVENTS[event.event]), at=event.at, reason=translate(event.reason))
        for event in events
        if event.event in labels.EVENTS
    )
