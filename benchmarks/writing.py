"""The two measured ways of writing findings."""

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.db.models import Field

from benchmarks import loading, reports, rows
from dashboard_api.importing import bulk_insert
from dashboard_api.importing.ingest import ImportOptions
from dashboard_api.importing.service import import_file
from dashboard_api.models import Finding, Website

BATCH = 1_000
BARE = "benchmark_bare"
WEBSITE = rows.LARGE


def make_bare_table() -> None:
    """A finding's columns and primary key as Django makes them: no index, foreign key, trigger or check."""
    columns = ", ".join(map(_column, Finding._meta.concrete_fields))  # noqa: SLF001  # Django's public model API
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {BARE} ({columns})")


def _column(field: "Field[Any, Any]") -> str:
    null = "" if field.null else " NOT NULL"
    key = " PRIMARY KEY" if field.primary_key else ""
    suffix = field.db_type_suffix(connection) or ""
    return f'"{field.column}" {field.db_type(connection)}{null}{key} {suffix}'


def batches() -> Iterator[list[rows.Row]]:
    """New findings of one website, without end."""
    while True:
        found = (_of_website(row) for row in rows.rows(0.05, now=datetime.now(UTC)))
        while batch := list(islice(found, BATCH)):
            yield batch


def _of_website(row: rows.Row) -> rows.Row:
    """As a scan finds it: now, and open."""
    return replace(
        row,
        website=WEBSITE,
        source=1,
        fingerprint=secrets.token_hex(8),
        status="open",
        location=row.location.replace(rows.host(row.website), rows.host(WEBSITE)),
        first_seen=row.last_seen,
        fixed_at=None,
    )


def bare(batch: list[rows.Row]) -> Callable[[], None]:
    """All of ``batch`` in one transaction, into nothing but a table, by the product's own writer."""
    values = [tuple(row) for row in loading.values_of(batch)]

    def insert() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            bulk_insert.insert_rows(cursor, BARE, loading.columns(), values)

    return insert


def importing(batch: list[rows.Row]) -> Callable[[], object]:
    """The product's import of a file that reports ``batch``."""
    website = Website.objects.get(host=rows.host(WEBSITE))
    file = BytesIO(b"".join(reports.finding_lines(batch)))
    return lambda: import_file(file, website, ImportOptions(), file_name="report", by="benchmark")


def write_for(seconds: float, found: Iterator[list[rows.Row]]) -> int:
    """How many findings were imported until the time was over."""
    end = time.monotonic() + seconds
    stored = 0
    while time.monotonic() < end:
        importing(next(found))()
        stored += BATCH
    return stored
