"""The values that an import replaces, so that the import can be taken back. Decision record 0076."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice, pairwise
from typing import Any

import msgspec

from dashboard_api.importing.plan import (
    FIXED,
    OccurrenceChange,
    ReportedPlan,
    StoredFinding,
    StoredOccurrence,
)
from dashboard_api.importing.scopes import Scan, Scope, Targets
from dashboard_api.models import CoverageScope, ImportChange, ImportRun

# The replaced values by column; None where the import added the row.
Before = dict[str, Any] | None
OccurrenceKey = tuple[int, str]  # the finding's id, and the digest of the location
ScopeKey = tuple[str, str]  # category and target
_SCOPE_COLUMNS = ("state", "last_run_at", "completed_at", "urls_checked", "version", "detail")
_MAX_SUPPRESSED = 10_000  # because they are in one row, and in memory during an undo
_GONE_COLUMNS = ("status", "fixed_at", "gone_at")


class RecordedScan(msgspec.Struct, kw_only=True):
    """The scope of a complete report: what it does not list there is gone since ``absent_at``."""

    absent_at: datetime
    category: str
    targets: list[str]
    checks: list[str] | None
    rule_separators: str
    failed: dict[str, list[str]]
    suppressed: list[str]  # fingerprints: neither part of the report nor gone
    ports: list[str] | None = None
    failed_locations: list[str] = []

    @classmethod
    def of(cls, scope: Scope, absent_at: datetime, suppressed: Iterable[str]) -> "RecordedScan":
        """Return what a report of ``scope`` proves."""
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
        """Return the scan to plan with."""
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
    """Rows that an import changed, added or lists as they were, with the values before it."""

    added: list[tuple[int, int]] = []  # ranges of ids of new findings, both ends included
    findings: dict[int, Before] = {}
    occurrences: dict[OccurrenceKey, Before] = {}
    scopes: dict[ScopeKey, Before] = {}
    runs: dict[ScopeKey, dict[str, Any]] = {}  # what the import itself says about each of ``scopes``
    events: list[int] = []  # of the timelines
    # Changed because the report does not list them, which is no reason to keep them:
    absent_findings: dict[int, Before] = {}
    absent_occurrences: dict[OccurrenceKey, Before] = {}
    scan: RecordedScan | None = None  # if it proves absence
    incomplete: list[int] = []  # findings of which the report does not list every location

    def to_bytes(self) -> bytes:
        """Return the changes as they are stored."""
        return zlib.compress(msgspec.msgpack.encode(self), level=1)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Changes":
        """Return stored changes; new findings are among ``findings``.

        What the scanner said has one name, also where an analyst or a standing decision said otherwise, so
        that the values before the first of several imports count.
        """
        changes = _DECODER.decode(zlib.decompress(content))
        for before in filter(None, changes.findings.values()):
            for name in ("severity", "kind"):
                if f"source_{name}" in before:
                    before.setdefault(name, before.pop(f"source_{name}"))
        for first, last in changes.added:
            changes.findings |= dict.fromkeys(range(first, last + 1))
        changes.added = []
        return changes

    def add(self, other: "Changes") -> None:
        """Add changes that the same import made later; the values before the first of them count."""
        for mine, others in self._tables(other):
            for key, before in others.items():
                mine[key] = merged(before, mine[key]) if key in mine else before
        self.scopes |= other.scopes  # one part has all of them
        self.events += other.events

    def _tables(self, other: "Changes") -> Iterator[tuple[dict[Any, Before], dict[Any, Before]]]:
        yield self.findings, other.findings
        yield self.occurrences, other.occurrences
        yield self.absent_findings, other.absent_findings
        yield self.absent_occurrences, other.absent_occurrences

    def include_absent(self) -> None:
        """Move absent findings and occurrences to the others: an undo of this import restores both."""
        tables: tuple[tuple[dict[Any, Before], dict[Any, Before]], ...] = (
            (self.findings, self.absent_findings),
            (self.occurrences, self.absent_occurrences),
        )
        for reported, absent in tables:
            for key, before in absent.items():
                reported[key] = merged(before, reported.get(key, {}))
        self.absent_findings, self.absent_occurrences = {}, {}

    @property
    def fixed(self) -> set[int]:
        """The findings that the import has closed."""
        return {number for number, before in self.absent_findings.items() if before and "status" in before}

    def pass_on(self, later: "Changes") -> set[int]:
        """Move what ``later`` changed again into ``later``; return the ids of these findings.

        What is only absent in the report of ``later`` stays to be restored.
        """
        both = self.findings.keys() & (later.findings.keys() | later.absent_findings.keys())
        for mine, laters in self._tables(later):
            for key in mine.keys() & laters.keys():
                laters[key] = merged(laters[key], mine.pop(key))
        _pass_on_absent(self.findings, later.absent_findings)
        _pass_on_absent(self.occurrences, later.absent_occurrences)
        return both


_DECODER = msgspec.msgpack.Decoder(Changes)


def merged(later: Before, earlier: Before) -> Before:
    """Return the values before two changes of a row; those before the earlier change count."""
    if earlier is None or later is None:
        return None
    return {**later, **earlier}


def _pass_on_absent(earlier: dict[Any, Before], absent: dict[Any, Before]) -> None:
    """Move only those values to ``absent`` that both replaced; nothing where the row is gone without both."""
    for key in earlier.keys() & absent.keys():
        before, later = earlier[key], absent[key]
        if before is None or later is None:
            del absent[key]
            continue
        if before.get("status") == FIXED or before.get("gone_at") is not None:
            later = {name: value for name, value in later.items() if name not in _GONE_COLUMNS}
        shared = before.keys() & later.keys()
        earlier[key] = {name: value for name, value in before.items() if name not in shared}
        if "locations_count" in later:  # the location shown before it
            shared |= before.keys() & {"location", "evidence"}
        absent[key] = later | {name: before[name] for name in shared}
        for table in (earlier, absent):
            if not table[key]:
                del table[key]


class Journal:
    """The changes of one import, stored part by part while it is applied."""

    def __init__(self, run: ImportRun) -> None:
        self._run = run

    def record(self, changes: Changes) -> None:
        """Store one part, unless nothing changed."""
        if changes == Changes():
            return
        ImportChange.objects.create(run=self._run, content=changes.to_bytes())

    def record_reported(
        self,
        plan: ReportedPlan,
        findings: Iterable[StoredFinding],
        occurrences: Iterable[StoredOccurrence],
        *,
        added: Sequence[int],
        events: list[int],
    ) -> None:
        """Store what ``plan`` replaces in these findings and occurrences, and the ids that it added."""
        before = {finding.id: finding for finding in findings}
        stored = {occurrence.id: occurrence for occurrence in occurrences}
        changes = Changes(added=_ranges(added), events=events, incomplete=plan.incomplete)
        changes.findings = {number: {} for number in before}
        for finding in plan.changed:
            changes.findings[finding.id] = _replaced(before[finding.id], finding._asdict())
        for last_seen, number in plan.seen_again:
            changes.findings[number] = _replaced(before[number], {"last_seen": last_seen})
        for change in plan.occurrences:
            occurrence = stored[change.id]
            is_gone = occurrence.gone_at is None and change.gone_at is not None
            table = changes.absent_occurrences if is_gone else changes.occurrences
            key = (occurrence.finding_id, occurrence.location_digest)
            table[key] = _replaced(occurrence, _values(change))
        for number, new in plan.new_occurrences:
            changes.occurrences[number, new.location_digest] = None
        self.record(changes)

    def record_scan(self, scan: Scan, suppressed: Iterable[str]) -> None:
        """Store what the report proves to be gone, if it does, and if what it suppresses can be named."""
        named = list(islice(suppressed, _MAX_SUPPRESSED + 1))
        if scan.absent_at is not None and len(named) <= _MAX_SUPPRESSED:
            self.record(Changes(scan=RecordedScan.of(scan.scope, scan.absent_at, named)))

    def record_scopes(
        self, before: Mapping[ScopeKey, CoverageScope], runs: Mapping[ScopeKey, CoverageScope]
    ) -> None:
        """Store the scopes that the import is about to change or add, and the runs that change them."""
        scopes = {key: scope_values(before[key]) if key in before else None for key in runs}
        self.record(Changes(scopes=scopes, runs={key: scope_values(run) for key, run in runs.items()}))


def _values(change: OccurrenceChange) -> dict[str, Any]:
    """Return what ``change`` writes: without evidence and category, those stay as they are."""
    unchanged = {name for name in ("evidence", "category") if getattr(change, name) is None}
    return {name: value for name, value in change._asdict().items() if name not in unchanged}


def _replaced(stored: StoredFinding | StoredOccurrence, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of ``stored`` that have another value in ``values``."""
    return {name: old for name, new in values.items() if (old := getattr(stored, name)) != new}


def scope_values(scope: CoverageScope) -> dict[str, Any]:
    """Return the columns of a scope that an import changes."""
    return {name: getattr(scope, name) for name in _SCOPE_COLUMNS}


def _ranges(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return increasing ids as ranges of consecutive ones."""
    if not ids:
        return []
    gaps = [(last, first) for last, first in pairwise(ids) if first != last + 1]
    firsts = [ids[0], *(first for _, first in gaps)]
    lasts = [*(last for last, _ in gaps), ids[-1]]
    return list(zip(firsts, lasts, strict=True))
