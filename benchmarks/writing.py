"""Findings written in every way that is measured."""

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.db.models import Field

from benchmarks import loading, rows
from dashboard_api import bulk
from dashboard_api.ingest import import_report
from dashboard_api.models import Finding, Website
from dashboard_api.scanners.report import ReportedFinding, ScanReport, Severity

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
        fingerprint=secrets.token_hex(32),
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
            bulk.write(cursor, BARE, loading.columns(), values)

    return insert


def bare_by_statement(batch: list[rows.Row]) -> Callable[[], None]:
    """The same by INSERT, as an ORM sends it."""
    values = list(loading.values_of(batch))

    def insert() -> None:
        with transaction.atomic():
            loading.insert_by_statement(BARE, values)

    return insert


def inserting(batch: list[rows.Row]) -> Callable[[], None]:
    """All of ``batch`` in one transaction, as anybody may do it: the triggers keep what they keep."""
    values = list(loading.values_of(batch))

    def insert() -> None:
        with transaction.atomic():
            loading.insert("dashboard_api_finding", values)

    return insert


def adding(batch: list[rows.Row]) -> Callable[[], None]:
    """All of ``batch`` by the writer that the import uses, without places."""
    stored = [dict(zip(loading.columns(), values, strict=True)) for values in loading.values_of(batch)]
    findings = [bulk.NewFinding._make(told[name] for name in bulk.NewFinding._fields) for told in stored]
    new = [(finding, ()) for finding in findings]
    return lambda: bulk.add(new)


def importing(batch: list[rows.Row]) -> Callable[[], object]:
    """All of ``batch`` by the product's import of a report, which also stores every place."""
    website = Website.objects.get(host=rows.host(WEBSITE))
    report = report_of(batch)
    return lambda: import_report(report, website)


def report_of(batch: list[rows.Row]) -> ScanReport:
    """The same findings as a scanner would report them."""
    findings = [
        ReportedFinding.cleaned(
            row=number,
            identity=[row.fingerprint],
            rule=row.rule,
            severity=Severity(row.severity),
            severity_raw="",
            kind=row.kind,
            title=row.title,
            description=row.description,
            remediation=row.remediation,
            location=row.location,
        )
        for number, row in enumerate(batch, 1)
    ]
    return ScanReport(
        source="engine-1",
        source_name="Engine 1",
        told=iter(findings),
    )


def write_for(seconds: float, reports: Iterator[list[rows.Row]]) -> int:
    """How many findings were imported until the time was over."""
    end = time.monotonic() + seconds
    stored = 0
    while time.monotonic() < end:
        importing(next(reports))()
        stored += BATCH
    return stored
