"""Statements that write thousands of findings and occurrences."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from dashboard_api.importing.plan import NewFinding, NewOccurrence, OccurrenceChange
from dashboard_api.models import Finding

Row = TypeVar("Row", NewFinding, NewOccurrence)
_UPDATE_LAST_SEEN = "UPDATE dashboard_api_finding SET last_seen = %s WHERE id = %s"
_UPDATE_OCCURRENCE = """
UPDATE dashboard_api_occurrence
SET first_seen = %s, last_seen = %s, gone_at = %s, evidence = COALESCE(%s, evidence),
    category = COALESCE(%s, category)
WHERE id = %s
"""


@lru_cache(maxsize=1024)  # the findings of a report share a few times
def stored_time(time: datetime | None) -> Any:
    """Convert ``time`` to the parameter that the database driver expects."""
    return connection.ops.adapt_datetimefield_value(time)


def ids_of(website_id: int, source_id: int, fingerprints: Iterable[str]) -> list[int]:
    """Return the ids of the stored findings with these fingerprints."""
    known = Finding.objects.filter(
        website_id=website_id, source_id=source_id, fingerprint__in=list(fingerprints)
    )
    return list(known.order_by().values_list("pk", flat=True))


def add_findings(new: Sequence[tuple[NewFinding, Sequence[NewOccurrence]]]) -> Sequence[int]:
    """Insert findings with their occurrences; return the ids of the findings."""
    if not new:
        return []
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        ids = _next_ids(cursor, len(new))
        rows = []
        all_occurrences = []
        for finding_id, (finding, occurrences) in zip(ids, new, strict=True):
            rows.append((finding_id, *_with_adapted_times(finding)))
            all_occurrences += [(finding_id, each) for each in occurrences]
        insert_rows(cursor, "dashboard_api_finding", ("id", *NewFinding._fields), rows)
        _insert_occurrences(cursor, all_occurrences)
    return ids


def add_occurrences(new: Sequence[tuple[int, NewOccurrence]]) -> None:
    """Insert occurrences of stored findings, given with the findings' ids."""
    if new:
        with transaction.atomic(savepoint=False), connection.cursor() as cursor:
            _insert_occurrences(cursor, new)


def change_last_seen(changes: Sequence[tuple[datetime, int]]) -> None:
    """Update only ``last_seen`` of findings, given as pairs of time and id."""
    rows = [(stored_time(last_seen), finding_id) for last_seen, finding_id in changes]
    _update_rows(_UPDATE_LAST_SEEN, rows)


def change_occurrences(changes: Sequence[OccurrenceChange]) -> None:
    """Update stored occurrences."""
    # The first three columns are times.
    rows = [(*map(stored_time, change[:3]), *change[3:]) for change in changes]
    _update_rows(_UPDATE_OCCURRENCE, rows)


def _update_rows(statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(statement, rows)


def _next_ids(cursor: CursorWrapper, count: int) -> Sequence[int]:
    """Return ids for new findings: the next numbers on SQLite (one writer), the sequence on PostgreSQL."""
    if connection.vendor == "sqlite":
        cursor.execute("SELECT MAX(seq) FROM sqlite_sequence WHERE name = 'dashboard_api_finding'")
        first = (cursor.fetchone()[0] or 0) + 1
        return range(first, first + count)
    # Materialized, so that the name of the sequence is looked up once.
    cursor.execute(
        "WITH own AS MATERIALIZED (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS sequence) "
        "SELECT nextval(sequence) FROM own, generate_series(1, %s)",
        ["dashboard_api_finding", count],
    )
    return [number for (number,) in cursor.fetchall()]


def _insert_occurrences(cursor: CursorWrapper, occurrences: Sequence[tuple[int, NewOccurrence]]) -> None:
    rows = [
        (finding, *_with_adapted_times(occurrence)._replace(gone_at=stored_time(occurrence.gone_at)))
        for finding, occurrence in occurrences
    ]
    insert_rows(cursor, "dashboard_api_occurrence", ("finding_id", *NewOccurrence._fields), rows)


def _with_adapted_times(row: Row) -> Row:
    return row._replace(first_seen=stored_time(row.first_seen), last_seen=stored_time(row.last_seen))


def insert_rows(
    cursor: CursorWrapper, table: str, columns: Iterable[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert ``rows``, which have a value for each column; by COPY on PostgreSQL."""
    names = [f'"{column}"' for column in columns]
    into = f"{table} ({', '.join(names)})"
    if connection.vendor == "sqlite":
        values = ", ".join(["%s"] * len(names))
        cursor.executemany(f"INSERT INTO {into} VALUES ({values})", rows)  # noqa: S608  # our own names
        return
    # ``copy`` is the driver's own method, so Django does not convert its errors.
    with connection.wrap_database_errors, cursor.copy(f"COPY {into} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
