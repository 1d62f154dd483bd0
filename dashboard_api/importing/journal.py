"""The journal of an import: the values that it replaced, so that it can be taken back."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice, pairwise
from typing import Any

import msgspec

from dashboard_api.importing.plan import (
    OccurrenceChange,
    ReportedPlan,
    StoredFinding,
    StoredOccurrence,
)
from dashboard_api.importing.scopes import Scan, Scope, Targets
from dashboard_api.models import CoverageScope, ImportChange, ImportRun

# Replaced values of a row, by column; None if the import added the row.
Before = dict[str, Any] | None
OccurrenceKey = tuple[int, str]  # the finding's id, and the digest of the location
ScopeKey = tuple[str, str]  # category and target
_SCOPE_COLUMNS = ("state", "last_run_at", "completed_at", "urls_checked", "version", "detail")
_MAX_SUPPRESSED = 10_000  # findings; they are in one row, and in memory when decisions end


class RecordedScan(msgspec.Struct, kw_only=True):
    """The scope of a complete report: findings that it omits there are gone since ``absent_at``."""

    absent_at: datetime
    category: str
    targets: list[str]
    checks: list[str] | None
    rule_separators: str
    failed: dict[str, list[str]]
    suppressed: list[str]  # fingerprints that the report suppresses: they are not gone
    ports: list[str] | None = None
    failed_locations: list[str] = []

    @classmethod
    def of(cls, scope: Scope, absent_at: datetime, suppressed: Iterable[str]) -> "RecordedScan":
        """Copy ``scope`` to a value that can be stored."""
        return cls(
            absent_at=absent_at,
            category=scope.category,
            targets=list(scope.targets),
            checks=None if scope.checks is None else sorted(scope.checks),
            rule_separators=scope.rule_separators,
            failed={rule: list(targets) for rule, targets in scope.failed.items()},
            suppressed=list(suppressed),
            ports=None if scope.ports is None else sorted(scope.ports),
            failed_locations=sorted(scope.failed_locations),
        )

    def scan(self) -> Scan:
        """Return the recorded scan, for ``plan_absent``."""
        scope = Scope(
            category=self.category,
            targets=Targets(self.targets),
            checks=None if self.checks is None else set(self.checks),
            ports=None if self.ports is None else set(self.ports),
            rule_separators=self.rule_separators,
            failed={rule: Targets(targets) for rule, targets in self.failed.items()},
            failed_locations=set(self.failed_locations),
        )
        return Scan(scope=scope, absent_at=self.absent_at)


class Changes(msgspec.Struct, kw_only=True):
    """Rows that an import changed, added or saw unchanged (an empty dict), with the values before it."""

    added: list[tuple[int, int]] = []  # ranges of ids of new findings, both ends included
    findings: dict[int, Before] = {}
    occurrences: dict[OccurrenceKey, Before] = {}
    scopes: dict[ScopeKey, Before] = {}
    events: list[int] = []  # ids of FindingEvent
    scan: RecordedScan | None = None  # if it proves absence
    decisions_ended: list[int] = []  # findings that ``fix_gone`` changed after the import
    reported: bool = False  # the report lists each of these findings

    def to_bytes(self) -> bytes:
        """Encode the changes for ``ImportChange.content``."""
        return zlib.compress(msgspec.msgpack.encode(self), level=1)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Changes":
        """Decode stored changes; the ids in ``added`` move to ``findings``."""
        changes = _DECODER.decode(zlib.decompress(content))
        for first, last in changes.added:
            changes.findings |= dict.fromkeys(range(first, last + 1))
        changes.added = []
        return changes

    def add(self, other: "Changes") -> None:
        """Merge later changes; of two replaced values of a column, keep the earlier one."""
        for number, before in other.findings.items():
            self.findings[number] = _merged(before, self.findings.get(number, {}))
        for key, before in other.occurrences.items():
            self.occurrences[key] = _merged(before, self.occurrences.get(key, {}))
        self.scopes |= other.scopes  # only one part has scopes
        self.events += other.events
        self.decisions_ended += other.decisions_ended


_DECODER = msgspec.msgpack.Decoder(Changes)


def _merged(later: Before, earlier: Before) -> Before:
    """Return the values before two changes of a row; None if one of them added it."""
    return None if earlier is None or later is None else later | earlier  # the right side wins


class Journal:
    """The changes of one import, stored part by part while it is applied."""

    def __init__(self, run: ImportRun) -> None:
        self.run = run

    def record(self, changes: Changes) -> None:
        """Store one part, if it has changes."""
        if changes == Changes():
            return
        ImportChange.objects.create(run=self.run, content=changes.to_bytes())

    def record_reported(
        self,
        plan: ReportedPlan,
        findings: Iterable[StoredFinding],
        occurrences: Iterable[StoredOccurrence],
        *,
        added: Sequence[int],
        events: list[int],
    ) -> None:
        """Store the values that ``plan`` replaces in these rows, and the ids of the rows that it added."""
        before = {finding.id: finding for finding in findings}
        stored_occurrences = {occurrence.id: occurrence for occurrence in occurrences}
        changes = Changes(added=_ranges(added), events=events, reported=True)
        changes.findings = {number: {} for number in before}
        for finding in plan.changed:
            changes.findings[finding.id] = _replaced(before[finding.id], finding._asdict())
        for last_seen, number in plan.seen_again:
            changes.findings[number] = _replaced(before[number], {"last_seen": last_seen})
        for change in plan.occurrences:
            occurrence = stored_occurrences[change.id]
            key = (occurrence.finding_id, occurrence.location_digest)
            changes.occurrences[key] = _replaced(occurrence, _values(change))
        for number, new in plan.new_occurrences:
            changes.occurrences[number, new.location_digest] = None
        self.record(changes)

    def record_scan(self, scan: Scan, suppressed: Iterable[str]) -> None:
        """Store the scope of a report that proves absence, unless it suppresses too many findings."""
        fingerprints = list(islice(suppressed, _MAX_SUPPRESSED + 1))  # one more shows that there are too many
        if scan.absent_at is not None and len(fingerprints) <= _MAX_SUPPRESSED:
            self.record(Changes(scan=RecordedScan.of(scan.scope, scan.absent_at, fingerprints)))

    def record_scopes(self, stored: Mapping[ScopeKey, CoverageScope], keys: Iterable[ScopeKey]) -> None:
        """Record the scopes ``keys``, which the import is about to change or add."""
        self.record(
            Changes(scopes={key: scope_values(stored[key]) if key in stored else None for key in keys})
        )


def listed_by(run: ImportRun) -> set[int] | None:
    """Return the findings that the report of ``run`` lists; None if that is no longer on record."""
    if not run.findings:
        return set()
    parts = [Changes.from_bytes(bytes(part.content)) for part in run.changes.iterator()]
    listed = {number for part in parts if part.reported for number in part.findings}
    return listed or None


def _values(change: OccurrenceChange) -> dict[str, Any]:
    """Return the values that ``change`` writes: evidence and category only if they are set."""
    unchanged = {name for name in ("evidence", "category") if getattr(change, name) is None}
    return {name: value for name, value in change._asdict().items() if name not in unchanged}


def _replaced(stored: StoredFinding | StoredOccurrence, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the old values of the columns that differ in ``values``."""
    return {name: old for name, new in values.items() if (old := getattr(stored, name)) != new}


def scope_values(scope: CoverageScope) -> dict[str, Any]:
    """Return the columns of a scope that an import changes."""
    return {name: getattr(scope, name) for name in _SCOPE_COLUMNS}


def _ranges(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Group increasing ids into ranges of first and last id."""
    if not ids:
        return []
    # The last id before a gap, and the first one after it.
    gaps = [(last, first) for last, first in pairwise(ids) if first != last + 1]
    firsts = [ids[0], *(first for _, first in gaps)]
    lasts = [*(last for last, _ in gaps), ids[-1]]
    return list(zip(firsts, lasts, strict=True))
