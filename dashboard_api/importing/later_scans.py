"""Complete scans after an import that is taken back, or a decision that ends: what they prove to be gone.

Records 0184 and 0031.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db.models import Max

from dashboard_api.importing.apply import apply_absent_plan, with_occurrences
from dashboard_api.importing.journal import Changes, Journal, RecordedScan
from dashboard_api.importing.plan import AbsentFinding, AbsentPlan, StoredOccurrence, is_gone, plan_absent
from dashboard_api.limits import TRIAGE_BATCH
from dashboard_api.models import (
    Finding,
    FindingEvent,
    ImportChange,
    ImportRun,
    Website,
    host_of,
)

AFTER_ALL_SCANS = datetime.max.replace(tzinfo=UTC)
_DECISIONS = (FindingEvent.Event.FALSE_POSITIVE, FindingEvent.Event.ACCEPTED_RISK)


class LaterScan:
    """A scan that proved absence when it was imported, as its journal has it."""

    def __init__(self, run: ImportRun, recorded: RecordedScan) -> None:
        self.run_id, self.journal, self.scan = run.pk, Journal(run), recorded.scan()
        self.suppressed = frozenset(recorded.suppressed)
        # Findings, of those that the undone import changed:
        self.incomplete: set[int] = set()  # of which it does not list every location
        self.listed: set[int] = set()
        self.fixed: set[int] = set()  # that it closed when it was imported
        # Gone from some locations, with the values before, if any are left to restore:
        self.reduced: dict[int, dict[str, Any]] = {}

    def add_reported(self, changes: Changes, findings: set[int]) -> None:
        """Add what one part of its journal says about ``findings``."""
        self.incomplete.update(findings.intersection(changes.incomplete))
        self.listed |= findings & changes.findings.keys()
        self.fixed |= findings & changes.fixed
        absent = changes.absent_findings
        self.reduced |= {
            each: {} for each in findings & absent.keys() if "locations_count" in (absent[each] or {})
        }

    def add_values_before(self, changes: Changes) -> None:
        """Add the values before the undone import and it of those that it found gone from some locations."""
        for number in self.reduced.keys() & changes.absent_findings.keys():
            before = changes.absent_findings[number]
            if before and "locations_count" in before:
                self.reduced[number] = before


class PlannedAgain(NamedTuple):
    """A later scan, and what it proves about findings that it does not list."""

    by: LaterScan
    plan: AbsentPlan


def plan_again(
    rows: Iterable[tuple[str, AbsentFinding, Sequence[StoredOccurrence]]],
    scans: Iterable[LaterScan],
    *,
    decided: Container[int] = (),
) -> list[PlannedAgain]:
    """Return what ``scans`` prove, one after the other, about findings, with fingerprint and occurrences.

    No scan fixes ``decided`` findings, which are not open; one that lists them says where they are.
    """
    remaining = {finding.id: (fingerprint, finding, list(own)) for fingerprint, finding, own in rows}
    plans = []
    closed: set[int] = set()  # at that time, and not listed since
    scans = list(scans)
    proven_by: dict[datetime | None, int] = {}  # the first scan of each time
    for index, each in enumerate(scans):
        proven_by.setdefault(each.scan.absent_at, index)
    for index, each in enumerate(scans):
        closed = (closed - each.listed) | each.fixed
        unchanged = closed | each.incomplete
        absent = [
            (
                _as_listed(finding) if number in each.listed else finding,
                [_as_present(row) if proven_by.get(row.gone_at, index) > index else row for row in own],
            )
            for number, (fingerprint, finding, own) in remaining.items()
            if number not in unchanged
            and fingerprint not in each.suppressed
            and (number not in decided or number in each.listed)
        ]
        plan = plan_absent(absent, each.scan)
        for number in remaining.keys() & each.fixed:
            if number in decided:
                continue
            _, finding, own = remaining[number]
            present = (row for row in own if row.gone_at is None)
            plan.gone[number] = [row.id for row in present if is_gone(finding.rule, row, each.scan)]
        plans.append(PlannedAgain(each, plan))
        for number, _ in plan.fixed:
            del remaining[number]
        shown = {reduced.id: reduced.shown.location for reduced in plan.reduced if reduced.shown}
        for number in plan.gone.keys() & remaining.keys():
            fingerprint, finding, own = remaining[number]
            gone = set(plan.gone[number])
            own = [row._replace(gone_at=each.scan.absent_at) if row.id in gone else row for row in own]
            location = shown.get(number, finding.location)
            remaining[number] = fingerprint, finding._replace(location=location), own
    return plans


def _as_listed(finding: AbsentFinding) -> AbsentFinding:
    """Return a finding that a scan lists: it is not closed, and only its other locations may be gone."""
    return finding._replace(reopened_at=None)


def _as_present(row: StoredOccurrence) -> StoredOccurrence:
    """Return a location as scans have it before the one that finds it gone."""
    return row._replace(gone_at=None, last_seen=AFTER_ALL_SCANS)


def fixed_in(plans: Iterable[PlannedAgain]) -> set[int]:
    """Return the findings that are fixed by ``plans``."""
    return {number for each in plans for number, _ in each.plan.fixed}


def changed_in(plans: Sequence[PlannedAgain]) -> set[int]:
    """Return the findings that are fixed by ``plans``, or gone from some locations."""
    return {number for each in plans for number in each.plan.gone}


def apply_again(plans: Iterable[PlannedAgain], website: Website) -> None:
    """Store what is gone by ``plans`` as changes by these scans, so that they can be taken back as well.

    A finding of which only some locations were gone shows them all when it is fixed.
    """
    for each in plans:
        for number, _ in each.plan.fixed:
            if before := each.by.reduced.get(number):
                host = {"host": host_of(before["location"])} if "location" in before else {}
                finding = Finding.objects.filter(pk=number)
                finding.update(**before | host)
                finding.rewrite_words()
        apply_absent_plan(each.plan, website, each.by.scan, each.by.journal)


def fix_gone(website: Website, source_id: int, ids: Sequence[int]) -> set[int]:
    """Fix those of these open findings of a source whose decision ended, and that scans prove gone.

    Some may be gone from a part of their locations. Return the fixed ones. Only scans after an analyst's last
    decision count: an analyst knew the others. An undo of such a scan opens the findings again.
    """
    scans = _scans_on_record(website, source_id, set(ids)) if ids else []
    if not scans:
        return set()
    fixed: set[int] = set()
    for start in range(0, len(ids), TRIAGE_BATCH):
        plans = plan_again(_since_decisions(ids[start : start + TRIAGE_BATCH]), scans)
        apply_again(plans, website)
        fixed |= fixed_in(plans)
    return fixed


def _since_decisions(ids: Sequence[int]) -> Iterator[tuple[str, AbsentFinding, Sequence[StoredOccurrence]]]:
    """Yield the rows to plan with: the last decision of an analyst counts like a reopening by one."""
    fingerprints = dict(Finding.objects.filter(pk__in=ids).values_list("pk", "fingerprint"))
    decisions = FindingEvent.objects.filter(finding__in=ids, event__in=_DECISIONS, decision=None)
    decided = dict(decisions.order_by().values_list("finding").annotate(Max("at")))
    for finding, occurrences in with_occurrences(ids):
        times = [at for at in (finding.reopened_at, decided.get(finding.id)) if at is not None]
        yield fingerprints[finding.id], finding._replace(reopened_at=max(times, default=None)), occurrences


def _scans_on_record(website: Website, source_id: int, findings: set[int]) -> list[LaterScan]:
    """Return the scans that prove absence, the oldest first; what one lists, its import has dealt with."""
    scans: list[LaterScan] = []
    parts = ImportChange.objects.filter(run__website=website, run__source=source_id, run__undone_at=None)
    for part in parts.select_related("run").order_by("run_id", "pk").iterator():
        changes = Changes.from_bytes(bytes(part.content))
        if changes.scan is not None:
            scans.append(LaterScan(part.run, changes.scan))
        if scans and scans[-1].run_id == part.run_id:
            scans[-1].add_reported(changes, findings)
            scans[-1].add_values_before(changes)
    for each in scans:
        each.incomplete |= each.listed
        each.fixed.clear()  # they were opened again since
    return scans
