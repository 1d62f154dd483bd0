"""A report's rows as problems of one website, with their places: the bookkeeping before the database."""

import hashlib
import itertools
import sqlite3
import weakref
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import cast

import msgspec

from dashboard_api import limits
from dashboard_api.importing.locations import Elsewhere, place_on
from dashboard_api.importing.scopes import Scope, target_of
from dashboard_api.limits import MAX_KEPT_REJECTS, MAX_STORED_EVIDENCE_BYTES
from dashboard_api.scanners.report import Check, Reject, ReportedFinding, ScanReport
from dashboard_api.scanners.text import within_bytes


@dataclass(slots=True, kw_only=True)
class Place:
    """Where a problem was seen, and what each row about it showed."""

    location: str
    first_seen: datetime
    last_seen: datetime
    shown: dict[str, None] = field(default_factory=dict)  # in their order
    length: int = 0

    def show(self, evidence: str) -> None:
        """What one more row shows; of what is too long to be kept, so much that this shows."""
        if evidence and self.length <= MAX_STORED_EVIDENCE_BYTES and evidence not in self.shown:
            self.shown[evidence] = None
            self.length += len(evidence)

    @property
    def evidence(self) -> str:
        """What the rows showed, without repetition."""
        return within_bytes("\n\n".join(self.shown), MAX_STORED_EVIDENCE_BYTES) if self.shown else ""


@dataclass(slots=True, kw_only=True)
class Problem:
    """The worst that the report told about a problem, and its places by the digests of their locations.

    Where it ``is_widespread``, these are only the first; where it ``is_sampled``, the report has not all.
    """

    told: ReportedFinding
    first_seen: datetime  # by this scan, anywhere
    last_seen: datetime
    places: dict[str, Place] = field(default_factory=dict)
    is_widespread: bool = False
    is_sampled: bool = False

    @property
    def first_place(self) -> Place:
        """The place that stands beside the finding."""
        return next(iter(self.places.values()))

    def add(self, location: str, *, seen_at: datetime, evidence: str) -> None:
        """One more row: another place, or more about one that is known."""
        self.first_seen = min(self.first_seen, seen_at)
        self.last_seen = max(self.last_seen, seen_at)
        digest = hashlib.sha256(location.encode()).hexdigest()
        place = self.places.get(digest)
        if place is None:
            if len(self.places) == limits.MAX_PLACES_AT_ONCE:
                self.is_widespread = True
                return
            place = self.places[digest] = Place(location=location, first_seen=seen_at, last_seen=seen_at)
        place.first_seen = min(place.first_seen, seen_at)
        place.last_seen = max(place.last_seen, seen_at)
        place.show(evidence)


@dataclass(slots=True, kw_only=True)
class Pile:
    """Rows that are counted, of which the first are kept with their reasons."""

    count: int = 0
    first: list[Reject] = field(default_factory=list)

    def add(self, row: int, reason: str) -> None:
        """One more."""
        self.count += 1
        if self.count <= MAX_KEPT_REJECTS:
            self.first.append(Reject(row=row, reason=reason))


class SortedRows:
    """Every row of a report in one of four piles; what tells of problems lies on disk, not in memory.

    ``findings`` are rows that told of a problem first, ``occurrences`` those that told more of one;
    ``unreadable`` rows and rows of other hosts are rejected. ``scope`` is where the report looked.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.findings = self.occurrences = self.coverage = self.unreadable = 0
        self.rejected, self.failed, self.suppressed = Pile(), Pile(), Pile()
        self._disk = sqlite3.connect("", isolation_level=None)  # a temporary file
        weakref.finalize(self, self._disk.close)
        self._disk.executescript(_TABLES)

    def add(self, key: str, location: str, row: ReportedFinding, aliases: Sequence[str] = ()) -> None:
        """Add a row about the problem with this fingerprint (``aliases``: its older ones) at this place."""
        found = self._disk.execute(_ADD_PROBLEM, [key]).fetchone()
        if found:
            self._disk.executemany(_ADD_ALIAS, [(*found, alias) for alias in aliases])
        self.findings += bool(found)
        self.occurrences += not found
        (number,) = found or self._disk.execute(_FIND_PROBLEM, [key]).fetchone()
        self._disk.execute(_ADD_ROW, [number, location, msgspec.msgpack.encode(row)])

    def suppress(self, keys: Iterable[str]) -> None:
        """Add fingerprints of problems that the report suppresses: they are not findings of it, nor gone."""
        self._disk.executemany("INSERT OR IGNORE INTO suppressed VALUES (?)", [(key,) for key in keys])

    def see(self, location: str) -> None:
        """A place where nothing was found, or could be checked."""
        self._disk.execute("INSERT OR IGNORE INTO place VALUES (?)", [location])

    def recognise(self, known: Callable[[Sequence[str]], Container[str]]) -> None:
        """Rename problems that are ``known`` only by an alias to that alias; several may become one.

        An alias that is the fingerprint of another problem in the report is not used.
        """
        candidates: dict[tuple[int, str], list[str]] = {}
        for number, key, alias in self._disk.execute(_ALIASES):
            candidates.setdefault((number, key), []).append(alias)
        fingerprints = {each for (_, key), aliases in candidates.items() for each in (key, *aliases)}
        there = known(sorted(fingerprints))
        for (number, key), aliases in candidates.items():
            alias = next((alias for alias in aliases if alias in there), None)
            if alias is not None and key not in there:
                self._rename(number, alias)

    def _rename(self, number: int, key: str) -> None:
        found = self._disk.execute(_FIND_PROBLEM, [key]).fetchone()
        if found is None:
            self._disk.execute("UPDATE problem SET fingerprint = ? WHERE number = ?", [key, number])
            return
        self._disk.execute("UPDATE report_row SET problem = ? WHERE problem = ?", [*found, number])
        self._disk.execute("DELETE FROM problem WHERE number = ?", [number])
        self.findings -= 1
        self.occurrences += 1

    def pairs(self) -> set[tuple[str, str]]:
        """Return the rule and location of every problem."""
        rows = self._disk.execute("SELECT location, row FROM report_row")
        return {(_decode(row).rule, location) for location, row in rows}

    def places_by_target(self) -> Counter[str]:
        """Return the number of places seen at each target."""
        return Counter(target_of(location) for (location,) in self._disk.execute(_LIST_PLACES))

    @property
    def places_seen(self) -> int:
        """How many there are, those where a problem was seen included."""
        count: int = self._disk.execute(_COUNT_PLACES).fetchone()[0]
        return count

    def __contains__(self, key: str) -> bool:
        """Whether the report names the problem of this fingerprint, as a finding or as suppressed."""
        return self._disk.execute(_IS_NAMED, [key, key]).fetchone() is not None

    def problems(self, seen_at: Callable[[datetime | None], datetime]) -> Iterator[tuple[str, Problem]]:
        """All of them with their fingerprints, in the order in which the report told of them.

        ``seen_at`` turns the time that a row tells, if any, into the one that counts.
        """
        rows = self._disk.execute(_PROBLEMS)
        for key, group in itertools.groupby(rows, key=itemgetter(0)):
            yield key, _problem((told[1:] for told in group), seen_at)

    def places(self, key: str, seen_at: Callable[[datetime | None], datetime]) -> Iterator[tuple[str, Place]]:
        """Every place of the problem of this fingerprint, by the digests of their locations."""
        rows = self._disk.execute(_PLACES, [key])
        for _, group in itertools.groupby(rows, key=itemgetter(0)):
            yield from _problem(group, seen_at).places.items()


def _problem(rows: Iterable[tuple[str, bytes]], seen_at: Callable[[datetime | None], datetime]) -> Problem:
    """What rows about one problem tell of it, each with its place; there is one at least."""
    problem: Problem | None = None
    for location, data in rows:
        row = _decode(data)
        seen = seen_at(row.seen_at)
        problem = problem or Problem(told=row, first_seen=seen, last_seen=seen)
        if row.severity > problem.told.severity:  # in whatever order the rows come
            problem.told = row
        problem.is_sampled = problem.is_sampled or row.is_sampled
        problem.add(location, seen_at=seen, evidence=row.evidence)
        if row.first_seen_at is not None:
            problem.add(location, seen_at=seen_at(row.first_seen_at), evidence="")
    return cast("Problem", problem)


_TABLES = """
PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -16000;
CREATE TABLE problem (number INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE);
CREATE TABLE alias (problem INTEGER, fingerprint TEXT);
CREATE TABLE report_row (problem INTEGER, location TEXT, row BLOB);
CREATE INDEX report_row_of ON report_row (problem);
CREATE TABLE place (location TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE suppressed (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
BEGIN;
"""
_LIST_PLACES = "SELECT location FROM place UNION SELECT location FROM report_row"
_COUNT_PLACES = f"SELECT COUNT(*) FROM ({_LIST_PLACES})"  # noqa: S608  # a statement of ours
_ADD_PROBLEM = "INSERT INTO problem (fingerprint) VALUES (?) ON CONFLICT DO NOTHING RETURNING number"
_ADD_ALIAS = "INSERT INTO alias VALUES (?, ?)"
_ALIASES = """
SELECT number, problem.fingerprint, alias.fingerprint FROM alias JOIN problem ON number = alias.problem
WHERE alias.fingerprint NOT IN (SELECT fingerprint FROM problem)
ORDER BY number, alias.rowid
"""
_FIND_PROBLEM = "SELECT number FROM problem WHERE fingerprint = ?"
_IS_NAMED = f"{_FIND_PROBLEM} UNION ALL SELECT 1 FROM suppressed WHERE fingerprint = ?"  # noqa: S608  # statements of ours
_ADD_ROW = "INSERT INTO report_row VALUES (?, ?, ?)"
_PROBLEMS = """
SELECT fingerprint, location, row FROM problem CROSS JOIN report_row ON report_row.problem = problem.number
ORDER BY problem.number, report_row.rowid
"""
_PLACES = """
SELECT location, row FROM report_row WHERE problem = (SELECT number FROM problem WHERE fingerprint = ?)
ORDER BY location, rowid
"""
_decode = msgspec.msgpack.Decoder(ReportedFinding).decode


def sort_rows(report: ScanReport, site: str, *, base_url: str | None) -> SortedRows:
    """Sort ``report`` for the website ``site``, row by row: those about places elsewhere are rejected."""
    scope = Scope(category=report.category, checks=report.checks, rule_separators=report.rule_separators)
    rows = SortedRows(scope)
    for row in report:
        if isinstance(row, Reject):
            rows.unreadable += 1
            rows.rejected.add(row.row, row.reason)
            continue
        try:
            location = place_on(site, row.location, base_url=base_url)
        except Elsewhere as error:
            rows.rejected.add(row.row, str(error))
            continue
        scope.targets.add(target_of(location))
        if isinstance(row, ReportedFinding):
            if scope.checks is not None:
                scope.checks.add(row.rule)
            aliases = [fingerprint(report.source, alias) for alias in row.aliases]
            rows.add(fingerprint(report.source, row.identity), location, row, aliases)
        else:
            _count_check(rows, row, location, report.source)
    return rows


def _count_check(rows: SortedRows, check: Check, location: str, source: str) -> None:
    rows.see(location)
    rows.coverage += 1
    if check.error:
        rows.failed.add(check.row, f"reports a failed check: {check.error}")
        rows.scope.add_failure(target_of(location), check.rules)
    elif rows.scope.checks is not None:
        rows.scope.checks.update(check.rules)
    if check.suppressed:
        rows.suppressed.add(check.row, f"is suppressed in the report: {check.suppressed}")
        rows.suppress(fingerprint(source, identity) for identity in check.identities)


def fingerprint(source: str, identity: tuple[str, ...]) -> str:
    """What recognises the same problem of a website in the source's next report.

    No two identities join to the same text: a part that was cleaned holds no NUL, so that stands for "|".
    """
    parts = (part.replace("|", "\0") for part in (source, *identity))
    return hashlib.sha256("|".join(parts).encode()).hexdigest()
