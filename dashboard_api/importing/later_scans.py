"""Scans on record: when a decision ends, they may prove that its findings are gone."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Max

from dashboard_api.importing.apply import apply_absent_plan, findings_with_occurrences
from dashboard_api.importing.journal import Changes, Journal
from dashboard_api.importing.plan import AbsentFinding, StoredOccurrence, plan_absent
from dashboard_api.importing.scopes import Scan
from dashboard_api.limits import TRIAGE_BATCH
from dashboard_api.models import Finding, FindingEvent, ImportChange, Website

_DECISIONS = (FindingEvent.Event.FALSE_POSITIVE, FindingEvent.Event.ACCEPTED_RISK)


class _ScanOnRecord(NamedTuple):
    """A scan that proves absence, from the journal of its import."""

    scan: Scan
    suppressed: frozenset[str]
    dealt_with: set[int]  # findings that it listed or changed


def fix_gone(website: Website, source_id: int, ids: Sequence[int]) -> set[int]:
    """Close open findings of a source, or some of their locations, that scans on record prove gone.

    Return the fixed findings. Only scans after an analyst's last decision count: the analyst knew the earlier
    ones. The journal of the newest import records the changes; taking that import back calls ``fix_gone``
    again, with the remaining scans.
    """
    if not ids:
        return set()
    scans: list[_ScanOnRecord] = []
    journal = None  # of the import in the loop; in the end of the newest
    chosen = set(ids)
    parts = ImportChange.objects.filter(run__website=website, run__source=source_id)
    for part in parts.select_related("run").order_by("run_id", "pk").iterator():
        changes = Changes.from_bytes(bytes(part.content))
        if journal is None or journal.run.pk != part.run_id:
            journal, dealt_with = Journal(part.run), set[int]()  # later parts of the import add to this set
        dealt_with.update(chosen & changes.findings.keys())
        if changes.scan is not None:
            scans.append(_ScanOnRecord(changes.scan.scan(), frozenset(changes.scan.suppressed), dealt_with))
    fixed: set[int] = set()
    for start in range(0, len(ids), TRIAGE_BATCH):
        if journal is not None:
            fixed |= _fix_batch(ids[start : start + TRIAGE_BATCH], scans, website, journal)
    return fixed


def _fix_batch(
    ids: Sequence[int], scans: Sequence[_ScanOnRecord], website: Website, journal: Journal
) -> set[int]:
    """Apply the scans, one after the other; return the fixed findings."""
    fixed: set[int] = set()
    changed: set[int] = set()
    rows = _since_decisions(ids)
    for scan, suppressed, dealt_with in scans:  # the oldest first
        plan = plan_absent(
            (
                (finding, occurrences)
                for fingerprint, finding, occurrences in rows
                if fingerprint not in suppressed and finding.id not in dealt_with
            ),
            scan,
        )
        if plan.gone:
            apply_absent_plan(plan, website, scan, journal)
            fixed.update(number for number, _ in plan.fixed)
            changed |= plan.gone.keys()
            rows = _since_decisions(ids)  # as they are now
    journal.record(Changes(decisions_ended=sorted(changed)))
    return fixed


def _since_decisions(ids: Sequence[int]) -> list[tuple[str, AbsentFinding, Sequence[StoredOccurrence]]]:
    """Return the open findings with fingerprints and occurrences.

    An analyst's last decision counts as a reopening by the analyst.
    """
    opened = Finding.objects.filter(pk__in=ids, status=Finding.Status.OPEN)
    fingerprints = dict(opened.values_list("pk", "fingerprint"))
    decisions = FindingEvent.objects.filter(finding__in=ids, event__in=_DECISIONS, decision=None)
    decided_at = dict(decisions.order_by().values_list("finding").annotate(Max("at")))
    rows = []
    for finding, occurrences in findings_with_occurrences(list(fingerprints)):
        times = [at for at in (finding.reopened_at, decided_at.get(finding.id)) if at is not None]
        since = finding._replace(reopened_at=max(times, default=None))
        rows.append((fingerprints[finding.id], since, occurrences))
    return rows
