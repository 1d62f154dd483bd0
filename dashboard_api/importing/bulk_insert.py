"""Statements that write thousands of findings and occurrences, in the fastest way of each database.

PostgreSQL's triggers see a whole statement. SQLite's see one row at a time: while there is a row in
``dashboard_api_bulkload`` they do nothing, and this module updates the counts and the search index for all
new findings at once. No transaction can be committed with such a row. Decision record 0023.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from dashboard_api.backends import backend_of, sqlite
from dashboard_api.importing.plan import NewFinding, NewOccurrence, OccurrenceChange
from dashboard_api.queries.search import sqlite_entries

# The columns from which the entries of the search index are made.
_SEARCHED = attrgetter(
    *("website_id", "status", "severity", "source_id", "kind", "problem", "host"),
    *("title", "location", "rule", "cve", "description", "other_locations"),
)
Row = TypeVar("Row", NewFinding, NewOccurrence)


@lru_cache(maxsize=1024)  # the findings of a report share a few times
def stored_time(time: datetime | None) -> Any:
    """Return ``time`` as the database takes it."""
    return connection.ops.adapt_datetimefield_value(time)


def ids_of(website_id: int, source_id: int, fingerprints: Iterable[str]) -> list[int]:
    """Return the ids of the stored findings with these fingerprints."""
    with connection.cursor() as cursor:
        reported = json.dumps(list(fingerprints))
        cursor.execute(backend_of(connection).KNOWN_FINDINGS, [reported, website_id, source_id])
        return [number for (number,) in cursor.fetchall()]


def add_findings(new: Sequence[tuple[NewFinding, Sequence[NewOccurrence]]]) -> Sequence[int]:
    """Insert findings with their occurrences, and return the ids of the findings.

    Counts and search index include them afterwards.
    """
    if not new:
        return []
    insert = {"sqlite": _insert_on_sqlite, "postgresql": _insert_on_postgresql}[connection.vendor]
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        ids = insert(cursor, [_stored(finding) for finding, _ in new])
        _insert_occurrences(
            cursor, [(number, each) for number, (_, own) in zip(ids, new, strict=True) for each in own]
        )
    return ids


def add_occurrences(new: Sequence[tuple[int, NewOccurrence]]) -> None:
    """Insert occurrences of stored findings, by the findings' ids."""
    if new:
        with transaction.atomic(savepoint=False), connection.cursor() as cursor:
            _insert_occurrences(cursor, new)


def change_last_seen(changes: Sequence[tuple[datetime, int]]) -> None:
    """Update the time of findings, by their ids, where nothing else changes."""
    rows = [(stored_time(last_seen), number) for last_seen, number in changes]
    _update_rows(backend_of(connection).SEE_AGAIN, rows)


def change_occurrences(changes: Sequence[OccurrenceChange]) -> None:
    """Update stored occurrences."""
    rows = [(*map(stored_time, change[:3]), *change[3:]) for change in changes]
    _update_rows(backend_of(connection).SEE_PLACES, rows)


def _update_rows(statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(statement, rows)
        else:
            cursor.execute(statement, [list(column) for column in zip(*rows, strict=True)])


def _insert_on_sqlite(cursor: CursorWrapper, findings: Sequence[NewFinding]) -> Sequence[int]:
    """Insert while the triggers do nothing, do their work for all findings, and return the ids."""
    cursor.execute("SELECT MAX(seq) FROM sqlite_sequence WHERE name = 'dashboard_api_finding'")
    first = (cursor.fetchone()[0] or 0) + 1  # SQLite has one writer at a time
    ids = range(first, first + len(findings))
    cursor.execute("INSERT INTO dashboard_api_bulkload (unfinished) VALUES (0)")
    _insert_findings(cursor, ids, findings)
    cursor.execute("DELETE FROM dashboard_api_bulkload")
    for statement in sqlite.ADD_COUNTS:
        cursor.execute(statement, {"first": ids[0], "last": ids[-1]})
    cursor.executemany(
        "INSERT INTO dashboard_api_search (rowid, entries) VALUES (%s, %s)",
        [(number, sqlite_entries(*_SEARCHED(row))) for number, row in zip(ids, findings, strict=True)],
    )
    for website in {finding.website_id for finding in findings}:
        cursor.execute(sqlite.BUMP_WEBSITE, [website])
    return ids


def _insert_on_postgresql(cursor: CursorWrapper, findings: Sequence[NewFinding]) -> Sequence[int]:
    """Insert with ids from the table's sequence, and return them; the triggers see all findings at once."""
    cursor.execute(
        "WITH own AS MATERIALIZED (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS sequence) "
        "SELECT nextval(sequence) FROM own, generate_series(1, %s)",
        ["dashboard_api_finding", len(findings)],
    )
    ids = [number for (number,) in cursor.fetchall()]
    _insert_findings(cursor, ids, findings)
    return ids


def _insert_findings(cursor: CursorWrapper, ids: Iterable[int], findings: Iterable[NewFinding]) -> None:
    rows = [(number, *finding) for number, finding in zip(ids, findings, strict=True)]
    insert_rows(cursor, "dashboard_api_finding", ("id", *NewFinding._fields), rows)


def _insert_occurrences(cursor: CursorWrapper, occurrences: Sequence[tuple[int, NewOccurrence]]) -> None:
    rows = [(finding, *_stored(occurrence)) for finding, occurrence in occurrences]
    insert_rows(cursor, "dashboard_api_occurrence", ("finding_id", *NewOccurrence._fields), rows)


def _stored(row: Row) -> Row:
    return row._replace(first_seen=stored_time(row.first_seen), last_seen=stored_time(row.last_seen))


def insert_rows(
    cursor: CursorWrapper, table: str, columns: Iterable[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert ``rows``, each with a value for every one of ``columns``."""
    names = [f'"{column}"' for column in columns]
    into = f"{table} ({', '.join(names)})"
    if connection.vendor == "sqlite":
        values = ", ".join(["%s"] * len(names))
        cursor.executemany(f"INSERT INTO {into} VALUES ({values})", rows)  # noqa: S608  # our own names
        return
    with connection.wrap_database_errors, cursor.copy(f"COPY {into} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
