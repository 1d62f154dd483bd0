"""The two measured ways of writing findings: a bare insert and an import."""

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

from benchmarks import dataset_tables, reports, rows
from dashboard_api.importing import bulk_insert
from dashboard_api.importing.ingest import ImportOptions
from dashboard_api.importing.service import import_file
from dashboard_api.models import Finding, Website

BATCH = 1_000
BARE = "benchmark_bare"
WEBSITE = rows.LARGE


def make_bare_table() -> None:
    """Create a table like the findings, without indexes, triggers, foreign keys and checks."""
    columns = ", ".join(map(_column, Finding._meta.concrete_fields))  # noqa: SLF001  # Django's public model API
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {BARE} ({columns})")


def _column(field: "Field[Any, Any]") -> str:
    null = "" if field.null else " NOT NULL"
    key = " PRIMARY KEY" if field.primary_key else ""
    suffix = field.db_type_suffix(connection) or ""
    return f'"{field.column}" {field.db_type(connection)}{null}{key} {suffix}'


def batches() -> Iterator[list[rows.Row]]:
    """Yield batches of new findings of one website, without end."""
    while True:
        findings = (_as_scanned_now(row) for row in rows.rows(0.05, now=datetime.now(UTC)))
        while batch := list(islice(findings, BATCH)):
            yield batch


def _as_scanned_now(row: rows.Row) -> rows.Row:
    """Return the finding as a scan of the website reports it now."""
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


def bare_insert(batch: list[rows.Row]) -> Callable[[], None]:
    """Return a function that inserts a batch into the bare table in one transaction."""
    values = [tuple(row) for row in dataset_tables.values_of(batch)]

    def insert() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            bulk_insert.insert_rows(cursor, BARE, dataset_tables.columns(), values)

    return insert


def report_import(batch: list[rows.Row]) -> Callable[[], object]:
    """Return a function that imports a report of a batch."""
    website = Website.objects.get(host=rows.host(WEBSITE))
    file = BytesIO(b"".join(reports.finding_lines(batch)))
    return lambda: import_file(file, website, ImportOptions(), file_name="report", by="benchmark")


def import_for(seconds: float, batches: Iterator[list[rows.Row]]) -> int:
    """Import one batch after another for this time; return the number of findings."""
    end = time.monotonic() + seconds
    stored = 0
    while time.monotonic() < end:
        report_import(next(batches))()
        stored += BATCH
    return stored
