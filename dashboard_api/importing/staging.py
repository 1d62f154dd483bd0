"""The rows of a report, checked against one website and grouped into findings, in a temporary database."""

import hashlib
import itertools
import sqlite3
import weakref
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter

import msgspec

from dashboard_api import limits
from dashboard_api.importing.locations import OutsideWebsite, UnclearLocation, normalise_location
from dashboard_api.importing.scopes import Scope, target_of
from dashboard_api.limits import MAX_STORED_EVIDENCE_BYTES, MAX_STORED_REJECTS
from dashboard_api.scanners.redaction import redact_addresses
from dashboard_api.scanners.report import Budget, Check, Reject, ReportedFinding, ScanReport, Severity
from dashboard_api.scanners.text import within_bytes

_BATCH = 1_000  # rows written to the temporary database at once
FAILED_CHECK = "reports a failed check: "
_MAX_REMEMBERED = 10_000  # findings with texts that are not written again

TimeOf = Callable[[datetime | None], datetime]  # the time that counts for a row, given the row's own time


@dataclass(slots=True, kw_only=True)
class ReportedOccurrence:
    """A location of a reported finding, with times and evidence from its rows."""

    location: str
    first_seen: datetime
    last_seen: datetime
    texts: dict[str, None] = field(default_factory=dict)  # distinct evidence, in the report's order
    length: int = 0  # characters of ``texts``

    def add_evidence(self, text: str) -> None:
        """Add the evidence of one more row, unless it is a repetition or the limit is reached."""
        if text and self.length <= MAX_STORED_EVIDENCE_BYTES and text not in self.texts:
            self.texts[text] = None
            self.length += len(text)

    @property
    def evidence(self) -> str:
        """The evidence of all rows, cut to the stored length."""
        return within_bytes("\n\n".join(self.texts), MAX_STORED_EVIDENCE_BYTES) if self.texts else ""


@dataclass(slots=True, kw_only=True)
class GroupedFinding:
    """The rows of a report that share a fingerprint: the most severe row and the occurrences.

    ``occurrences`` maps digests of locations to the first ``limits.MAX_OCCURRENCES`` occurrences;
    ``locations_count`` counts all of them. If ``is_sampled``, the report does not list every location.
    """

    row: ReportedFinding
    first_seen: datetime
    last_seen: datetime
    occurrences: dict[str, ReportedOccurrence] = field(default_factory=dict)
    locations_count: int = 0
    is_sampled: bool = False

    @property
    def first_occurrence(self) -> ReportedOccurrence:
        """The occurrence that the finding shows."""
        return next(iter(self.occurrences.values()))

    @property
    def is_cut(self) -> bool:
        """Whether the report has more locations than ``occurrences``."""
        return self.locations_count > len(self.occurrences)

    def add(self, location: str, *, seen_at: datetime, evidence: str) -> bool:
        """Add one row; return whether there was room for its location."""
        self.first_seen = min(self.first_seen, seen_at)
        self.last_seen = max(self.last_seen, seen_at)
        digest = hashlib.sha256(location.encode()).hexdigest()
        occurrence = self.occurrences.get(digest)
        if occurrence is None:
            if len(self.occurrences) == limits.MAX_OCCURRENCES:
                return False
            occurrence = ReportedOccurrence(location=location, first_seen=seen_at, last_seen=seen_at)
            self.occurrences[digest] = occurrence
        else:
            occurrence.first_seen = min(occurrence.first_seen, seen_at)
            occurrence.last_seen = max(occurrence.last_seen, seen_at)
        occurrence.add_evidence(evidence)
        return True


@dataclass(slots=True, kw_only=True)
class RowList:
    """A count of rows, and the first rows with the reasons why they are here."""

    count: int = 0
    first: list[Reject] = field(default_factory=list)

    def add(self, row: int, reason: str) -> None:
        """Add one row."""
        self.count += 1
        if self.count <= MAX_STORED_REJECTS:
            self.first.append(Reject(row=row, reason=redact_addresses(reason)))


class StagedReport:
    """All rows of a report, sorted into findings, coverage and rejects.

    Rows are in a temporary SQLite database, which uses the disk only for long reports. So memory does not
    grow with the report. ``scope`` is what the report covers.
    """

    def __init__(self, scope: Scope, budget: Budget | None = None) -> None:
        self.scope, self._budget = scope, budget or Budget()
        self.coverage = 0  # rows about what was checked
        self.unreadable = 0  # rows that cannot be read, or have an unclear location
        self.unidentified = 0  # unreadable rows that may be about any finding
        self.unknown_severities = 0  # unreadable rows without a known severity
        self.unclear_severities: Counter[Severity] = Counter()  # finding rows at unclear locations
        self.rejected, self.failed, self.suppressed = RowList(), RowList(), RowList()
        self._rows: list[tuple[str, str, bytes]] = []
        self._aliases: list[tuple[str, str]] = []
        self._worst: dict[str, Severity] = {}  # highest severity by fingerprint, of the last findings
        # Only one thread uses it, but the garbage collector may close it in another one.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._database.close)
        self._database.executescript(_TABLES)

    def add(self, fingerprint: str, location: str, row: ReportedFinding, aliases: Iterable[str] = ()) -> None:
        """Add a row about a finding; ``aliases`` are older fingerprints of the same finding."""
        worst = self._worst.get(fingerprint)
        if worst is None or row.severity > worst:  # a finding keeps the texts of its first worst row
            if len(self._worst) == _MAX_REMEMBERED:
                self._worst.clear()
            self._worst[fingerprint] = row.severity
        else:
            row = msgspec.structs.replace(row, description="", remediation="", references=())
        data = msgspec.msgpack.encode(row)
        self._budget.spend(staged=len(data))
        self._rows.append((fingerprint, location, data))
        self._aliases += [(fingerprint, alias) for alias in aliases]
        if len(self._rows) == _BATCH:
            self._write_rows()

    def suppress(self, fingerprints: Iterable[str]) -> None:
        """Add findings that the report suppresses: they are neither part of it nor gone."""
        self._database.executemany(
            "INSERT OR IGNORE INTO suppressed VALUES (?)", [(fingerprint,) for fingerprint in fingerprints]
        )

    def keep(self, fingerprints: Sequence[str]) -> None:
        """Add findings that the report has at an unclear location: they and their locations are not gone."""
        self.suppress(fingerprints)
        self._database.executemany(
            "INSERT OR IGNORE INTO kept VALUES (?)", [(each,) for each in fingerprints]
        )

    def suppressed_fingerprints(self) -> Iterator[str]:
        """Yield the fingerprints that the report suppresses, or has at an unclear location."""
        for (fingerprint,) in self._database.execute("SELECT fingerprint FROM suppressed"):
            yield fingerprint

    def add_checked_location(self, location: str) -> None:
        """Add a location of a coverage row."""
        self._database.execute("INSERT OR IGNORE INTO checked VALUES (?)", [location])

    def finish(self) -> None:
        """Write the last rows, and create the index for reading."""
        self._write_rows()
        self._database.execute("CREATE INDEX report_row_of ON report_row (fingerprint)")

    def use_stored_aliases(self, find_stored: Callable[[Sequence[str]], Container[str]]) -> None:
        """Replace fingerprints that are not stored by a stored alias; this may merge findings.

        Aliases that are fingerprints of other findings in the report are ignored.
        """
        aliases_of: dict[str, list[str]] = {}
        for fingerprint, alias in self._database.execute(_ALIASES):
            aliases_of.setdefault(fingerprint, []).append(alias)
        candidates = {each for fingerprint, aliases in aliases_of.items() for each in (fingerprint, *aliases)}
        stored = find_stored(sorted(candidates))
        for fingerprint, aliases in aliases_of.items():
            alias = next((alias for alias in aliases if alias in stored), None)
            if alias is not None and fingerprint not in stored:
                self._database.execute(_REPLACE_FINGERPRINT, [alias, fingerprint])

    @property
    def findings(self) -> int:
        """The number of findings in the report."""
        return self._count("SELECT COUNT(DISTINCT fingerprint) FROM report_row")

    @property
    def finding_rows(self) -> int:
        """The number of rows about findings."""
        return self._count("SELECT COUNT(*) FROM report_row")

    @property
    def locations_count(self) -> int:
        """The number of locations in the report, with or without a finding."""
        return self._count(f"SELECT COUNT(*) FROM ({_LOCATIONS})")  # noqa: S608  # our own statement

    def locations_by_target(self) -> Counter[str]:
        """Return the number of locations at each target."""
        return Counter(target_of(location) for (location,) in self._database.execute(_LOCATIONS))

    def rules_and_locations(self) -> set[tuple[tuple[str, ...], str]]:
        """Return the ids of the rule, the newest first, and the location of each row about a finding."""
        ids_and_locations = set()
        for location, data in self._database.execute("SELECT location, row FROM report_row"):
            row = _decode(data)
            ids = dict.fromkeys([row.rule, *(alias[0] for alias in row.aliases)])
            ids_and_locations.add((tuple(ids), location))
        return ids_and_locations

    def __contains__(self, fingerprint: str) -> bool:
        """Return whether the report has this finding, suppressed or not."""
        return self._database.execute(_CONTAINS, [fingerprint, fingerprint]).fetchone() is not None

    def grouped_findings(self, time_of: TimeOf) -> Iterator[tuple[str, GroupedFinding]]:
        """Yield the findings with their fingerprints, in the order of the report."""
        self._database.execute("DELETE FROM finding")
        self._database.execute(_NUMBER_FINDINGS)
        rows = self._database.execute(_GROUPED)
        for fingerprint, group in itertools.groupby(rows, key=itemgetter(0)):
            yield fingerprint, self._grouped(fingerprint, group, time_of)

    def _grouped(
        self, fingerprint: str, rows: Iterable[tuple[str, str, bytes]], time_of: TimeOf
    ) -> GroupedFinding:
        finding: GroupedFinding | None = None
        has_room = True
        for _, location, data in rows:
            row = _decode(data)
            seen_at = time_of(row.seen_at)
            if finding is None:
                finding = GroupedFinding(row=row, first_seen=seen_at, last_seen=seen_at)
            elif row.severity > finding.row.severity:
                finding.row = row
            finding.is_sampled = finding.is_sampled or row.is_sampled
            was_added = finding.add(location, seen_at=seen_at, evidence=row.evidence)
            has_room = has_room and was_added
            if row.first_seen_at is not None:
                finding.add(location, seen_at=time_of(row.first_seen_at), evidence="")
        assert finding is not None  # noqa: S101  # groupby yields no empty group
        # At an unclear location, the report may have it at any of its locations.
        finding.is_sampled |= bool(self.unreadable and self._count(_IS_KEPT, fingerprint))
        finding.locations_count = (
            len(finding.occurrences) if has_room else self._count(_COUNT_LOCATIONS, fingerprint)
        )
        return finding

    def _write_rows(self) -> None:
        self._database.executemany("INSERT INTO report_row VALUES (?, ?, ?)", self._rows)
        self._database.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?)", self._aliases)
        self._rows.clear()
        self._aliases.clear()

    def _count(self, statement: str, *parameters: str) -> int:
        count: int = self._database.execute(statement, parameters).fetchone()[0]
        return count


# One transaction, which never ends: the database is deleted with the object.
_TABLES = """
PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -16000;
CREATE TABLE report_row (fingerprint TEXT, location TEXT, row BLOB);
CREATE TABLE finding (number INTEGER PRIMARY KEY, fingerprint TEXT);
CREATE TABLE alias (fingerprint TEXT, alias TEXT, UNIQUE (fingerprint, alias));
CREATE TABLE checked (location TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE suppressed (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE kept (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
BEGIN;
"""
_LOCATIONS = "SELECT location FROM checked UNION SELECT location FROM report_row"
_COUNT_LOCATIONS = "SELECT COUNT(DISTINCT location) FROM report_row WHERE fingerprint = ?"
_IS_KEPT = "SELECT COUNT(*) FROM kept WHERE fingerprint = ?"
_ALIASES = """
SELECT fingerprint, alias FROM alias WHERE alias NOT IN (SELECT fingerprint FROM report_row) ORDER BY rowid
"""
_REPLACE_FINGERPRINT = "UPDATE report_row SET fingerprint = ? WHERE fingerprint = ?"
_CONTAINS = """
SELECT 1 FROM report_row WHERE fingerprint = ?
UNION ALL SELECT 1 FROM suppressed WHERE fingerprint = ? LIMIT 1
"""
# Numbers in the order of the first rows.
_NUMBER_FINDINGS = """
INSERT INTO finding (fingerprint) SELECT fingerprint FROM report_row GROUP BY fingerprint ORDER BY MIN(rowid)
"""
# CROSS JOIN makes SQLite read the findings first, in order.
_GROUPED = """
SELECT fingerprint, location, row FROM finding CROSS JOIN report_row USING (fingerprint)
ORDER BY number, report_row.rowid
"""
_decode = msgspec.msgpack.Decoder(ReportedFinding).decode


def stage(report: ScanReport, site: str, *, base_url: str | None) -> StagedReport:
    """Read ``report`` row by row, and reject the rows about locations outside the website ``site``."""
    scope = Scope(
        category=report.category,
        checks=report.checks,
        ports=report.ports,
        rule_separators=report.rule_separators,
    )
    staged = StagedReport(scope, report.budget)
    for row in report:
        if isinstance(row, Reject):
            # It may be about any finding, of any severity.
            staged.unreadable += 1
            staged.unidentified += 1
            staged.unknown_severities += 1
            staged.rejected.add(row.row, row.reason)
            continue
        try:
            location = redact_addresses(normalise_location(site, row.location, base_url=base_url))
        except OutsideWebsite as error:
            staged.rejected.add(row.row, str(error))
            if isinstance(error, UnclearLocation):
                _keep_open(staged, row, report.source)
            continue
        scope.add_target(target_of(location))
        if isinstance(row, ReportedFinding):
            if scope.checks is not None:
                scope.checks.add(row.rule)
            aliases = [fingerprint_of(report.source, alias) for alias in row.aliases]
            staged.add(fingerprint_of(report.source, row.identity), location, row, aliases)
        else:
            _stage_check(staged, row, location, report.source)
    if report.hosts_are_names:
        scope.targets = scope.targets.without_names()
    staged.finish()
    return staged


def _keep_open(staged: StagedReport, row: ReportedFinding | Check, source: str) -> None:
    """Keep findings open that a row at an unclear location may be about; all if it is a failed check."""
    staged.unreadable += 1
    if isinstance(row, ReportedFinding):
        staged.unclear_severities[row.severity] += 1
        staged.keep([fingerprint_of(source, identity) for identity in (row.identity, *row.aliases)])
    elif row.error:
        staged.unidentified += 1
    else:
        staged.keep([fingerprint_of(source, identity) for identity in row.identities])


def _stage_check(staged: StagedReport, check: Check, location: str, source: str) -> None:
    staged.coverage += 1
    if check.error:
        staged.failed.add(check.row, f"{FAILED_CHECK}{check.error}")
        if check.fails_only_here:
            staged.scope.add_failed_location(location)
        else:
            staged.scope.add_failure(target_of(location), check.rules)
    else:
        staged.add_checked_location(location)
        if staged.scope.checks is not None:
            staged.scope.checks.update(check.rules)
    if check.skipped:
        staged.scope.add_failure(target_of(location), check.skipped)
    if check.suppressed:
        staged.suppressed.add(check.row, f"is suppressed in the report: {check.suppressed}")
        staged.suppress(fingerprint_of(source, identity) for identity in check.identities)


def fingerprint_of(source: str, identity: Iterable[str]) -> str:
    """Return the digest that identifies a finding of a website in every report of ``source``.

    NUL replaces "|" within a part, so different identities never join to the same text: they contain no NUL.
    """
    parts = "|".join([part.replace("|", "\0") for part in (source, *identity)])
    return hashlib.sha256(parts.encode()).hexdigest()
