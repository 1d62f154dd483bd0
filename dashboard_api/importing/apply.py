"""The database side of plans: load their input, and write their changes."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db.models import Max, Q

from dashboard_api.importing import bulk_insert
from dashboard_api.importing.journal import Changes, Journal
from dashboard_api.importing.plan import (
    AbsentFinding,
    AbsentPlan,
    ReducedFinding,
    ReportedPlan,
    StoredFinding,
    StoredOccurrence,
    plan_absent,
    plan_reported,
)
from dashboard_api.importing.scopes import Scan
from dashboard_api.importing.staging import GroupedFinding, StagedReport
from dashboard_api.models import Finding, FindingEvent, Occurrence, Severity, Source, Website, host_of

_BATCH = 1_000
_UNIQUE_COLUMNS = ("website", "source", "fingerprint")
_BEFORE_FIX = {"status": Finding.Status.OPEN.value, "fixed_at": None}
_NOT_UPDATED = ("id", "fingerprint", "reviewed_at")  # reviewed_at: staff may review during an import
_UPDATED = [name for name in StoredFinding._fields if name not in _NOT_UPDATED]
_UPDATED += ["problem", "host", "words"]  # the model computes these


def apply_reported(
    groups: Mapping[str, GroupedFinding], website: Website, source: Source, scan: Scan, journal: Journal
) -> tuple[Counter[str], list[int]]:
    """Store a batch of findings of a report.

    Return the numbers of new, updated and reopened findings, and the ids of the new and reopened findings.
    """
    findings = _stored_findings(groups, website, source)
    occurrences: dict[int, dict[str, StoredOccurrence]] = defaultdict(dict)
    for occurrence in _stored_occurrences([finding.id for finding in findings.values()]):
        occurrences[occurrence.finding_id][occurrence.location_digest] = occurrence
    plan = plan_reported(
        groups,
        findings,
        occurrences,
        scan,
        website_id=website.pk,
        source_id=source.pk,
        source_slug=source.slug,
    )
    new_ids = bulk_insert.add_findings(plan.new)
    bulk_insert.add_occurrences(plan.new_occurrences)
    bulk_insert.change_occurrences(plan.occurrences)
    bulk_insert.change_last_seen(plan.seen_again)
    _change_findings(plan, website, source)
    to_review = [each.id for each in plan.reopened if each.reason]  # former false positives
    Finding.objects.filter(pk__in=to_review).update(reviewed_at=None)
    # A decision may be later than the scan; its end must follow it in the timeline.
    last_events = FindingEvent.objects.filter(finding__in=to_review).order_by().values_list("finding")
    decided_at = dict(last_events.annotate(Max("at")))
    reopened = [each._replace(at=max(each.at, decided_at.get(each.id, each.at))) for each in plan.reopened]
    event_ids = _add_events(FindingEvent.Event.REGRESSED, reopened, website)
    event_ids += _add_ratings(plan, findings.values(), website)
    journal.record_reported(
        plan,
        findings.values(),
        itertools.chain.from_iterable(by_digest.values() for by_digest in occurrences.values()),
        added=new_ids,
        events=event_ids,
    )
    counts = Counter(new=len(plan.new), updated=len(findings) - len(reopened), reopened=len(reopened))
    return counts, [*new_ids, *(each.id for each in plan.reopened)]


def severities_of_open(ids: Sequence[int]) -> dict[str, int]:
    """Count the open findings among ``ids`` by severity label, the worst first."""
    counts: Counter[int] = Counter()
    for start in range(0, len(ids), _BATCH):
        opened = Finding.objects.filter(pk__in=ids[start : start + _BATCH], status=Finding.Status.OPEN)
        counts.update(opened.order_by().values_list("severity", flat=True))
    return {Severity(level).label: counts[level] for level in sorted(counts, reverse=True)}


def apply_absent(staged: StagedReport, website: Website, source: Source, scan: Scan, journal: Journal) -> int:
    """Close the open findings that ``scan`` proves gone; return their number.

    A finding that is gone from some of its locations is reduced to the others.
    """
    if scan.absent_at is None:
        return 0
    candidates = Finding.objects.filter(website=website, source=source, status=Finding.Status.OPEN)
    candidates = candidates.filter(Q(last_seen__lt=scan.absent_at) | Q(locations_count__gt=1)).order_by()
    fingerprints = candidates.values_list("pk", "fingerprint").iterator()
    absent_ids = [pk for pk, fingerprint in fingerprints if fingerprint not in staged]
    fixed = 0
    for start in range(0, len(absent_ids), _BATCH):
        plan = plan_absent(findings_with_occurrences(absent_ids[start : start + _BATCH]), scan)
        apply_absent_plan(plan, website, scan, journal)
        fixed += len(plan.fixed)
    return fixed


def apply_absent_plan(plan: AbsentPlan, website: Website, scan: Scan, journal: Journal) -> None:
    """Write ``plan``, and record the replaced values; all values of a finding are in one ImportChange."""
    fixed_at = dict(plan.fixed)
    reduced = {each.id: each for each in plan.reduced}
    for finding_ids in _in_portions(plan.gone):
        fixed_ids = [each for each in finding_ids if each in fixed_at]
        ids_by_time: dict[datetime, list[int]] = defaultdict(list)
        for finding_id in fixed_ids:
            ids_by_time[fixed_at[finding_id]].append(finding_id)
        for at, ids in ids_by_time.items():
            Finding.objects.filter(pk__in=ids).update(status=Finding.Status.FIXED, fixed_at=at)
        events = [(finding_id, fixed_at[finding_id], "") for finding_id in fixed_ids]
        changes = Changes(events=_add_events(FindingEvent.Event.FIXED, events, website))
        changes.findings = {finding_id: dict(_BEFORE_FIX) for finding_id in fixed_ids}
        changes.findings |= {each: _reduce(reduced[each]) for each in finding_ids if each in reduced}
        gone = Occurrence.objects.filter(pk__in=[pk for each in finding_ids for pk in plan.gone[each]])
        keys = gone.values_list("finding_id", "location_digest")
        changes.occurrences = {key: {"gone_at": None} for key in keys}
        gone.update(gone_at=scan.absent_at)
        journal.record(changes)


def _in_portions(gone: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Split the findings into lists of about _BATCH gone occurrences; a finding counts at least one."""
    portion: list[int] = []
    size = 0
    for finding_id, occurrences in gone.items():
        portion.append(finding_id)
        size += max(len(occurrences), 1)
        if size >= _BATCH:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _reduce(reduced: ReducedFinding) -> dict[str, Any]:
    """Update a finding that lost some of its locations; return the replaced values."""
    values: dict[str, Any] = {
        "locations_count": reduced.locations_count,
        "other_locations": reduced.other_locations,
    }
    if reduced.shown is not None:
        values |= Occurrence.objects.values("location", "evidence").get(pk=reduced.shown.id)
        values["host"] = host_of(values["location"])
    finding = Finding.objects.filter(pk=reduced.id)
    before: dict[str, Any] = finding.values(*values).get()
    finding.update(**values)
    finding.rewrite_words()  # which the search looks up
    return before


def _stored_findings(
    fingerprints: Mapping[str, object], website: Website, source: Source
) -> dict[str, StoredFinding]:
    ids = bulk_insert.ids_of(website.pk, source.pk, fingerprints)
    rows = Finding.objects.filter(pk__in=ids).order_by("pk").values_list(*StoredFinding._fields)
    return {finding.fingerprint: finding for finding in map(StoredFinding._make, rows)}


def _stored_occurrences(finding_ids: Sequence[int]) -> Iterator[StoredOccurrence]:
    """Yield the occurrences of these findings, ordered by finding."""
    rows = Occurrence.objects.filter(finding__in=finding_ids).order_by("finding", "pk")
    return map(StoredOccurrence._make, rows.values_list(*StoredOccurrence._fields).iterator())


def findings_with_occurrences(
    ids: Sequence[int],
) -> Iterator[tuple[AbsentFinding, Sequence[StoredOccurrence]]]:
    """Yield the findings with these ids, each with its occurrences; in the end those without occurrences."""
    # An event without a standing decision, but with a name, is about a single finding and by an analyst.
    reopenings = FindingEvent.objects.filter(event=FindingEvent.Event.RECONSIDERED, decision=None)
    by_analyst = reopenings.filter(finding__in=ids).exclude(by="").order_by().values_list("finding")
    reopened_at = dict(by_analyst.annotate(Max("at")))
    rows = Finding.objects.filter(pk__in=ids).order_by().values_list("pk", "rule", "location", "last_seen")
    findings = {
        pk: AbsentFinding(pk, rule, location, last_seen, reopened_at.get(pk))
        for pk, rule, location, last_seen in rows
    }
    for finding, occurrences in itertools.groupby(_stored_occurrences(ids), key=attrgetter("finding_id")):
        yield findings.pop(finding), list(occurrences)
    for finding in findings.values():
        yield finding, []


def _change_findings(plan: ReportedPlan, website: Website, source: Source) -> None:
    """Update all changed findings in one statement, an upsert by their key."""
    Finding.objects.bulk_create(
        [
            # Without an id, the unique columns find the stored row.
            Finding(website=website, source=source, **(finding._asdict() | {"id": None}))
            for finding in plan.changed
        ],
        update_conflicts=True,
        unique_fields=_UNIQUE_COLUMNS,
        update_fields=_UPDATED,
    )


def _add_ratings(plan: ReportedPlan, stored: Iterable[StoredFinding], website: Website) -> list[int]:
    """Add an event for each finding whose severity the report changes; return the ids of the events."""
    before = {finding.id: finding.severity for finding in stored}
    events = FindingEvent.objects.bulk_create(
        FindingEvent(
            finding_id=finding.id,
            website_id=website.pk,
            event=FindingEvent.Event.SCANNER_RATED,
            at=finding.last_seen,
            severity_before=before[finding.id],
        )
        for finding in plan.changed
        if finding.severity != before[finding.id]
    )
    return [each.pk for each in events]


def _add_events(
    event: FindingEvent.Event, findings: Sequence[tuple[int, datetime, str]], website: Website
) -> list[int]:
    """Add the event to timelines of findings, given as id, time and reason; return the ids of the events."""
    events = FindingEvent.objects.bulk_create(
        FindingEvent(finding_id=finding, website_id=website.pk, event=event, at=at, reason=reason)
        for finding, at, reason in findings
    )
    return [each.pk for each in events]
