"""Plans: the changes that a report makes, as values. This module uses no database.

``plan_reported`` compares the findings of a report with stored ones. ``plan_absent`` decides which missing
findings are gone. ``apply`` loads their input and writes their result.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from dashboard_api import limits
from dashboard_api.importing.scopes import Scan
from dashboard_api.importing.staging import GroupedFinding, ReportedOccurrence
from dashboard_api.models import host_of, problem_key, searched_words

_LOCATION_LENGTH = 2000  # of the columns; the digest is of the whole location
_LOCATION_LENGTH_IN_REASON = 350  # a reason has at most 500 characters
OPEN, FIXED, FALSE_POSITIVE = "open", "fixed", "false_positive"


class NewFinding(NamedTuple):
    """Columns of a new finding; lists are JSON."""

    website_id: int
    source_id: int
    fingerprint: str
    severity: int
    severity_raw: str
    kind: str
    status: str
    words: str
    title: str
    description: str
    remediation: str
    references: str
    cwe: str
    cve: str
    rule: str
    problem: str
    location: str
    host: str
    other_locations: str
    locations_count: int
    evidence: str
    first_seen: datetime
    last_seen: datetime


class NewOccurrence(NamedTuple):
    """Columns of a new occurrence."""

    location: str
    location_digest: str
    evidence: str
    first_seen: datetime
    last_seen: datetime
    category: str = ""
    gone_at: datetime | None = None  # set where an older report adds a location to a fixed finding


class StoredFinding(NamedTuple):
    """Columns of a stored finding: its key, and the columns that a report may change."""

    id: int
    fingerprint: str
    rule: str
    title: str
    severity_raw: str
    kind: str
    source_kind: str | None
    description: str
    remediation: str
    references: Sequence[str]
    cwe: Sequence[int]
    cve: Sequence[str]
    severity: int
    source_severity: int | None
    status: str
    triage_until: date | None
    reviewed_at: datetime | None
    fixed_at: datetime | None
    first_seen: datetime
    last_seen: datetime
    location: str
    other_locations: str
    locations_count: int
    evidence: str


class StoredOccurrence(NamedTuple):
    """Columns of a stored occurrence: its keys, and the columns that a report may change."""

    id: int
    finding_id: int
    location_digest: str
    location: str
    category: str
    first_seen: datetime
    last_seen: datetime
    gone_at: datetime | None
    evidence: str


class OccurrenceChange(NamedTuple):
    """New values of a stored occurrence; evidence and category are unchanged without a value."""

    first_seen: datetime
    last_seen: datetime
    gone_at: datetime | None
    evidence: str | None
    category: str | None
    id: int


class ReopenedFinding(NamedTuple):
    """A fixed finding or a false positive that opens again at a time; only a false positive has a reason."""

    id: int
    at: datetime
    reason: str


@dataclass(slots=True, kw_only=True)
class ReportedPlan:
    """Changes by the findings that a report lists."""

    new: list[tuple[NewFinding, list[NewOccurrence]]] = field(default_factory=list)
    changed: list[StoredFinding] = field(default_factory=list)
    seen_again: list[tuple[datetime, int]] = field(default_factory=list)  # last_seen, id; the rest is equal
    reopened: list[ReopenedFinding] = field(default_factory=list)  # also in changed or seen_again
    occurrences: list[OccurrenceChange] = field(default_factory=list)
    new_occurrences: list[tuple[int, NewOccurrence]] = field(default_factory=list)


def plan_reported(
    groups: Mapping[str, GroupedFinding],
    findings: Mapping[str, StoredFinding],
    occurrences: Mapping[int, Mapping[str, StoredOccurrence]],
    scan: Scan,
    *,
    website_id: int,
    source_id: int,
    source_slug: str,
) -> ReportedPlan:
    """Return the changes by the reported ``groups``, which have fingerprints as keys.

    ``findings`` are the stored findings by fingerprint, and ``occurrences`` their occurrences by finding and
    digest of the location.
    """
    plan = ReportedPlan()
    category = scan.scope.category
    for fingerprint, group in groups.items():
        if stored := findings.get(fingerprint):
            _plan_stored(plan, stored, occurrences.get(stored.id, {}), group, scan)
        else:
            problem = problem_key(source_slug, group.row.rule, group.row.title)
            plan.new.append(_new(website_id, source_id, fingerprint, problem, group, category))
    return plan


def _new(
    website_id: int, source_id: int, fingerprint: str, problem: str, group: GroupedFinding, category: str
) -> tuple[NewFinding, list[NewOccurrence]]:
    row = group.row
    occurrences = [_new_occurrence(digest, each, category) for digest, each in group.occurrences.items()]
    shown = occurrences[0]
    others = other_locations(shown.location, (each.location for each in occurrences))
    finding = NewFinding(
        website_id=website_id,
        source_id=source_id,
        fingerprint=fingerprint,
        severity=int(row.severity),
        severity_raw=row.severity_raw,
        kind=row.kind,
        status=OPEN,
        words=searched_words(row.title, shown.location, row.rule, row.cve, row.description, others),
        title=row.title,
        description=row.description,
        remediation=row.remediation,
        references=_as_json(tuple(row.references)),
        cwe=_as_json(tuple(row.cwe)),
        cve=_as_json(tuple(row.cve)),
        rule=row.rule,
        problem=problem,
        location=shown.location,
        host=host_of(shown.location),
        other_locations=others,
        locations_count=group.locations_count,
        evidence=shown.evidence,
        first_seen=group.first_seen,
        last_seen=group.last_seen,
    )
    return finding, occurrences


def _new_occurrence(
    digest: str, occurrence: ReportedOccurrence, category: str, *, gone_at: datetime | None = None
) -> NewOccurrence:
    return NewOccurrence(
        location=occurrence.location[:_LOCATION_LENGTH],
        location_digest=digest,
        evidence=occurrence.evidence,
        first_seen=occurrence.first_seen,
        last_seen=occurrence.last_seen,
        category=category,
        gone_at=gone_at,
    )


@lru_cache(maxsize=256)  # the findings of a report share a few lists
def _as_json(values: tuple[str | int, ...]) -> str:
    return json.dumps(values)


def other_locations(shown: str, locations: Iterable[str]) -> str:
    """Return the locations to search except ``shown``, one a line, up to a limit."""
    others = [location for location in dict.fromkeys(locations) if location != shown]
    return "\n".join(others[: limits.MAX_OTHER_LOCATIONS])


def _plan_stored(
    plan: ReportedPlan,
    stored: StoredFinding,
    occurrences: Mapping[str, StoredOccurrence],
    group: GroupedFinding,
    scan: Scan,
) -> None:
    """Add the changes to one stored finding that the report lists as ``group``."""
    category = scan.scope.category
    finding = _with_report(stored, group)
    further = _further_occurrences(stored, occurrences, group)  # they end an analyst's decision
    if further:
        finding = _open_at(further[0], finding)
    if finding.status == OPEN and stored.status != OPEN:
        plan.reopened.append(ReopenedFinding(stored.id, group.last_seen, _reopening_reason(further)))
    changes = [
        _change_by_row(occurrence, group.occurrences[digest], category)
        for digest, occurrence in occurrences.items()
        if digest in group.occurrences
    ]
    if scan.absent_at is not None and not (group.is_sampled or group.is_cut):
        changes += _gone_occurrences(finding.rule, occurrences, group, scan)
    gone_at = {change.id: change.gone_at for change in changes}
    shown_times = {None, finding.fixed_at}  # a fixed finding shows where it was
    locations = [
        each.location for each in occurrences.values() if gone_at.get(each.id, each.gone_at) in shown_times
    ]
    not_stored = [(digest, each) for digest, each in group.occurrences.items() if digest not in occurrences]
    room = max(limits.MAX_OCCURRENCES - len(locations), 0)
    added, without_room = not_stored[:room], not_stored[room:]
    locations += [each.location[:_LOCATION_LENGTH] for _, each in added]
    finding = finding._replace(
        locations_count=_locations_count(stored, len(locations), len(without_room), group, scan),
        other_locations=other_locations(finding.location, locations),
    )
    if finding._replace(last_seen=stored.last_seen) != stored:  # more than the time differs
        plan.changed.append(finding)
    elif finding.last_seen != stored.last_seen:
        plan.seen_again.append((finding.last_seen, stored.id))
    plan.occurrences += changes
    # An older report does not open a fixed finding, so a further location was gone with the others.
    plan.new_occurrences += [
        (stored.id, _new_occurrence(digest, each, category, gone_at=finding.fixed_at))
        for digest, each in added
    ]


def _with_report(stored: StoredFinding, group: GroupedFinding) -> StoredFinding:
    """Return ``stored`` updated from the report: open if the finding is back, with the newer texts."""
    finding = stored._replace(first_seen=min(stored.first_seen, group.first_seen))
    if stored.fixed_at is not None and group.last_seen > stored.fixed_at:
        finding = finding._replace(status=OPEN, fixed_at=None)
    if group.last_seen < stored.last_seen:
        return finding
    row, severity = group.row, int(group.row.severity)
    is_overridden = stored.source_severity is not None
    is_confirmed = stored.source_kind is not None  # by an analyst
    return finding._replace(
        rule=row.rule,
        title=row.title,
        severity_raw=row.severity_raw,
        kind=stored.kind if is_confirmed else row.kind,
        source_kind=row.kind if is_confirmed else None,
        description=row.description,
        remediation=row.remediation,
        references=list(row.references),
        cwe=list(row.cwe),
        cve=list(row.cve),
        severity=stored.severity if is_overridden else severity,
        source_severity=severity if is_overridden else None,
        last_seen=group.last_seen,
        location=group.first_occurrence.location[:_LOCATION_LENGTH],
        evidence=group.first_occurrence.evidence,
    )


def _further_occurrences(
    stored: StoredFinding, occurrences: Mapping[str, StoredOccurrence], group: GroupedFinding
) -> list[ReportedOccurrence]:
    """Return the reported occurrences that the analyst of a false positive has not seen.

    Empty if that is unknown: the report is older or has only samples, or not every location is stored.
    """
    if stored.status != FALSE_POSITIVE or group.last_seen < stored.last_seen or group.row.is_sampled:
        return []
    if stored.locations_count > limits.MAX_OCCURRENCES:
        return []
    reported = group.occurrences.items()
    if not occurrences:  # an analyst entered the finding by hand
        return [each for _, each in reported if each.location != stored.location]
    return [each for digest, each in reported if digest not in occurrences]


def _open_at(occurrence: ReportedOccurrence, finding: StoredFinding) -> StoredFinding:
    """Return a false positive as open and not reviewed; it shows the occurrence that opened it."""
    return finding._replace(
        status=OPEN,
        triage_until=None,
        reviewed_at=None,
        location=occurrence.location[:_LOCATION_LENGTH],
        evidence=occurrence.evidence,
    )


def _reopening_reason(further: Sequence[ReportedOccurrence]) -> str:
    """Return why a false positive opens again; empty without further occurrences."""
    if not further:
        return ""
    location = further[0].location
    most = _LOCATION_LENGTH_IN_REASON
    shown = location if len(location) <= most else f"{location[:most]}…"
    more = f" and {len(further) - 1:,} more" if len(further) > 1 else ""
    return f"Also found at {shown}{more}, which the decision was not about."


def _change_by_row(stored: StoredOccurrence, reported: ReportedOccurrence, category: str) -> OccurrenceChange:
    is_newest = reported.last_seen >= stored.last_seen
    is_back = stored.gone_at is not None and reported.last_seen > stored.gone_at
    return OccurrenceChange(
        first_seen=min(stored.first_seen, reported.first_seen),
        last_seen=max(stored.last_seen, reported.last_seen),
        gone_at=None if is_back else stored.gone_at,
        evidence=reported.evidence if is_newest else None,
        category=category if is_newest else None,
        id=stored.id,
    )


def _gone_occurrences(
    rule: str, occurrences: Mapping[str, StoredOccurrence], group: GroupedFinding, scan: Scan
) -> Iterator[OccurrenceChange]:
    """Yield a change for each occurrence that the report omits and proves gone."""
    for digest, occurrence in occurrences.items():
        if digest not in group.occurrences and occurrence.gone_at is None and is_gone(rule, occurrence, scan):
            yield OccurrenceChange(
                first_seen=occurrence.first_seen,
                last_seen=occurrence.last_seen,
                gone_at=scan.absent_at,
                evidence=None,
                category=None,
                id=occurrence.id,
            )


def is_gone(rule: str, occurrence: StoredOccurrence, scan: Scan) -> bool:
    """Return whether ``scan``, which omits ``occurrence``, proves it gone."""
    if scan.absent_at is None or occurrence.last_seen >= scan.absent_at:
        return False
    return scan.scope.covers(rule=rule, location=occurrence.location, category=occurrence.category)


def _locations_count(
    stored: StoredFinding, present: int, without_room: int, group: GroupedFinding, scan: Scan
) -> int:
    """Return the number of locations, stored or not.

    Beyond MAX_OCCURRENCES it is the number in the newest complete report, else the highest number so far.
    """
    if present < limits.MAX_OCCURRENCES:
        return present
    if group.is_cut and scan.absent_at is not None:
        return max(present, group.locations_count)
    return max(present + without_room, group.locations_count, stored.locations_count)


class AbsentFinding(NamedTuple):
    """Columns that decide whether a finding that a report omits is gone."""

    id: int
    rule: str
    location: str
    last_seen: datetime
    reopened_at: datetime | None  # when an analyst last reopened it


class ReducedFinding(NamedTuple):
    """A finding that is gone from some of its locations."""

    id: int
    shown: StoredOccurrence | None  # the occurrence to show, if the shown one is gone
    other_locations: str
    locations_count: int


@dataclass(slots=True, kw_only=True)
class AbsentPlan:
    """Changes by the findings and locations that a report omits."""

    fixed: list[tuple[int, datetime]] = field(default_factory=list)  # id and time
    reduced: list[ReducedFinding] = field(default_factory=list)
    gone: dict[int, list[int]] = field(default_factory=dict)  # ids of occurrences, by finding


def plan_absent(
    findings: Iterable[tuple[AbsentFinding, Sequence[StoredOccurrence]]], scan: Scan
) -> AbsentPlan:
    """Return the changes by ``scan``, which omits these findings with all their occurrences."""
    plan = AbsentPlan()
    for finding, occurrences in findings:
        _plan_missing(plan, finding, occurrences, scan)
    return plan


def _plan_missing(
    plan: AbsentPlan, finding: AbsentFinding, occurrences: Sequence[StoredOccurrence], scan: Scan
) -> None:
    """Add the changes to one finding, unless an analyst reopened it after the scan."""
    if scan.absent_at is None or (finding.reopened_at is not None and finding.reopened_at >= scan.absent_at):
        return
    present = [each for each in occurrences or [_only_occurrence(finding)] if each.gone_at is None]
    gone = {each.id for each in present if is_gone(finding.rule, each, scan)}
    if len(gone) == len(present):
        earlier_times = [each.gone_at for each in occurrences if each.gone_at is not None]
        plan.fixed.append((finding.id, max([scan.absent_at, *earlier_times])))
    elif gone:
        remaining = [each for each in present if each.id not in gone]
        is_shown = any(each.location == finding.location for each in remaining)
        shown = None if is_shown else remaining[0]
        locations = [each.location for each in remaining]
        others = other_locations(shown.location if shown else finding.location, locations)
        plan.reduced.append(ReducedFinding(finding.id, shown, others, len(remaining)))
    else:
        return
    plan.gone[finding.id] = sorted(gone)


def _only_occurrence(finding: AbsentFinding) -> StoredOccurrence:
    """Return an occurrence for a finding that an analyst entered by hand: it has no stored ones."""
    return StoredOccurrence(
        id=0,
        finding_id=finding.id,
        location_digest="",
        location=finding.location,
        category="",
        first_seen=finding.last_seen,
        last_seen=finding.last_seen,
        gone_at=None,
        evidence="",
    )
