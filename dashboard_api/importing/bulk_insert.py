"""New findings by the thousand, in the quickest way that each database has: what differs is here.

PostgreSQL's triggers see a statement as a whole. SQLite's see row after row: they stand aside while there
is a row in ``dashboard_api_bulkload``, and what they do for each finding is done here for all together. No
transaction can be committed with such a row. Decision record 0023.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from dashboard_api.backends import engine_of, sqlite
from dashboard_api.queries.search import sqlite_entries


class NewFinding(NamedTuple):
    """An open finding as its columns store it."""

    website_id: int
    source_id: int
    fingerprint: str
    severity: int
    severity_raw: str
    kind: str
    status: str
    title: str
    description: str
    remediation: str
    references: str  # JSON, like cwe and cve
    cwe: str
    cve: str
    rule: str
    location: str
    other_locations: str
    locations_count: int
    evidence: str
    first_seen: Any  # as ``stored_moment`` gives it
    last_seen: Any


class NewOccurrence(NamedTuple):
    """A place where a new finding was seen, as its columns store it."""

    location: str
    location_digest: str
    evidence: str
    first_seen: Any
    last_seen: Any
    category: str = ""


class Sighting(NamedTuple):
    """The changes of a report to a known place, as the columns store them; None: unchanged."""

    first_seen: Any
    last_seen: Any
    gone_at: Any
    evidence: str | None
    category: str | None
    id: int


@lru_cache(maxsize=1024)
def stored_moment(moment: datetime) -> Any:
    """As the database takes it; most findings of a report share a few."""
    return connection.ops.adapt_datetimefield_value(moment)


def known(website_id: int, source_id: int, fingerprints: Iterable[str]) -> list[int]:
    """The ids of the findings that are there already."""
    with connection.cursor() as cursor:
        told = json.dumps(list(fingerprints))
        cursor.execute(engine_of(connection).KNOWN_FINDINGS, [told, website_id, source_id])
        return [number for (number,) in cursor.fetchall()]


def add(new: Sequence[tuple[NewFinding, Sequence[NewOccurrence]]]) -> None:
    """Insert findings that are not there yet, with their places; all that is kept beside them is true."""
    if not new:
        return
    add_findings = {"sqlite": _add_on_sqlite, "postgresql": _add_on_postgresql}[connection.vendor]
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        ids = add_findings(cursor, [finding for finding, _ in new])
        places = [(number, *place) for number, (_, places) in zip(ids, new, strict=True) for place in places]
        _write_places(cursor, places)


def add_places(new: Iterable[tuple[int, NewOccurrence]]) -> None:
    """Insert places of known findings, by the findings' ids."""
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        _write_places(cursor, [(number, *place) for number, place in new])


def see_again(seen: Sequence[tuple[Any, int]]) -> None:
    """Findings of which a report tells nothing new: when it saw them, and their ids."""
    _change_rows(engine_of(connection).SEE_AGAIN, seen)


def see_places(seen: Sequence[Sighting]) -> None:
    """What a report tells of known places."""
    _change_rows(engine_of(connection).SEE_PLACES, seen)


def _change_rows(statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(statement, rows)
        elif rows:
            cursor.execute(statement, [list(column) for column in zip(*rows, strict=True)])


def _add_on_sqlite(cursor: CursorWrapper, findings: Sequence[NewFinding]) -> Sequence[int]:
    """While the triggers stand aside; then what they do for each is done for all. The findings' ids."""
    cursor.execute("SELECT MAX(seq) FROM sqlite_sequence WHERE name = 'dashboard_api_finding'")
    first = (cursor.fetchone()[0] or 0) + 1  # who writes is alone
    ids = range(first, first + len(findings))
    cursor.execute("INSERT INTO dashboard_api_bulkload (unfinished) VALUES (0)")
    _write_findings(cursor, ids, findings)
    cursor.execute("DELETE FROM dashboard_api_bulkload")
    for statement in sqlite.ADD_COUNTS:
        cursor.execute(statement, {"first": ids[0], "last": ids[-1]})
    cursor.executemany(
        "INSERT INTO dashboard_api_search (rowid, entries) VALUES (%s, %s)",
        list(zip(ids, map(_entries, findings), strict=True)),
    )
    for website in {finding.website_id for finding in findings}:
        cursor.execute(sqlite.BUMP_WEBSITE, [website])
    return ids


def _add_on_postgresql(cursor: CursorWrapper, findings: Sequence[NewFinding]) -> Sequence[int]:
    """The triggers see all of them at once. The findings' ids."""
    cursor.execute(
        "WITH own AS MATERIALIZED (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS sequence) "
        "SELECT nextval(sequence) FROM own, generate_series(1, %s)",
        ["dashboard_api_finding", len(findings)],
    )
    ids = [number for (number,) in cursor.fetchall()]
    _write_findings(cursor, ids, findings)
    return ids


def _write_findings(cursor: CursorWrapper, ids: Iterable[int], findings: Iterable[NewFinding]) -> None:
    rows = [(number, *finding) for number, finding in zip(ids, findings, strict=True)]
    write(cursor, "dashboard_api_finding", ("id", *NewFinding._fields), rows)


def _write_places(cursor: CursorWrapper, places: Sequence[tuple[Any, ...]]) -> None:
    write(cursor, "dashboard_api_occurrence", ("finding_id", *NewOccurrence._fields), places)


def write(cursor: CursorWrapper, table: str, columns: Iterable[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert ``rows``, each a value for every one of ``columns``."""
    names = [f'"{column}"' for column in columns]
    into = f"{table} ({', '.join(names)})"
    if connection.vendor == "sqlite":
        values = ", ".join(["%s"] * len(names))
        cursor.executemany(f"INSERT INTO {into} VALUES ({values})", rows)  # noqa: S608  # names of ours
        return
    with connection.wrap_database_errors, cursor.copy(f"COPY {into} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _entries(finding: NewFinding) -> str:
    return sqlite_entries(
        finding.website_id,
        finding.status,
        finding.severity,
        finding.source_id,
        finding.kind,
        finding.title,
        finding.location,
        finding.rule,
        finding.cve,
        finding.description,
        finding.other_locations,
    )
