"""Rows become findings in the product's own tables, with an account that may ask for them."""

import functools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import chain, islice
from typing import Any

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models import Count, Max
from django.db.models.functions import TruncDate

from benchmarks import rows
from dashboard_api import models as api

BATCH = 10_000
ROWS_OF_STATEMENT = 500


def fill(scale: float, *, now: datetime) -> None:
    """Everything that is measured, in a database that is still empty."""
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    _make_account_and_websites(now)
    load(rows.rows(scale, now=now))
    _make_import_runs()
    settle()


def _make_account_and_websites(now: datetime) -> None:
    """One account that links the measured websites, what engines checked of them, and a few notes."""
    account = api.Account.objects.create(ref=rows.ACCOUNT)
    api.Secret.objects.issue(account, by="benchmark", secret=rows.SECRET)
    api.Entitlement.objects.create(
        account=account,
        starts_on=now.date(),
        ends_on=now.date() + timedelta(days=365),
        sites_limit=rows.WEBSITES,
    )
    sources = [
        api.Source.objects.create(slug=f"engine-{number}", name=f"Engine {number}")
        for number in range(1, rows.SOURCES + 1)
    ]
    for number in range(1, rows.WEBSITES + 1):
        website = api.Website.objects.create(host=rows.host(number))
        if number > len(rows.MEASURED):
            continue
        website.verify(method=api.Website.Method.DNS, by="benchmark", at=now)
        api.SiteLink.objects.link(account, website, by="benchmark")
        for source in sources:
            api.Coverage.objects.create(
                website=website, source=source, state="ok", last_run_at=now, completed_at=now
            )
        for _ in range(3):
            api.AnalystNote.objects.create(
                website=website, author="Ada", body="Please **update** first.", is_internal=False
            )


def _make_import_runs() -> None:
    """An import for each day on which a measured website had findings, as of daily scans."""
    counts = dict.fromkeys(("occurrences", "coverage", "rejected", "updated", "reopened", "fixed"), 0)
    source = api.Source.objects.earliest("pk")
    for website in api.Website.objects.filter(pk__in=rows.MEASURED):
        days = website.findings.order_by().values_list(TruncDate("first_seen"))
        api.ImportRun.objects.bulk_create(
            api.ImportRun(
                website=website,
                source=source,
                imported_at=datetime.combine(day, time.max, tzinfo=UTC),
                scanned_at=datetime.combine(day, time.max, tzinfo=UTC),
                state="ok",
                rows=found,
                findings=found,
                new=found,
                newest_finding_id=newest,
                newest_event_id=0,
                **counts,
            )
            for day, found, newest in days.annotate(found=Count("*"), newest=Max("pk"))
        )


def load(findings: Iterable[rows.Row]) -> None:
    """Insert the findings, batch by batch, through the database's own triggers."""
    values = values_of(findings)
    while batch := list(islice(values, BATCH)):
        with transaction.atomic():
            insert("dashboard_api_finding", batch)


def values_of(findings: Iterable[rows.Row]) -> Iterator[list[Any]]:
    """Rows as the driver takes them, a value for each of ``columns()``."""
    constants = columns()
    return (_values(row, constants) for row in findings)


@functools.cache
def columns() -> dict[str, Any]:
    """The stored columns of a finding, and what each holds where a row says nothing of it."""
    fields = api.Finding._meta.concrete_fields  # noqa: SLF001  # Django's public model API
    stored = [field for field in fields if not field.generated and not field.primary_key]
    constants = {field.column: field.get_db_prep_save(field.get_default(), connection) for field in stored}
    return constants | {"locations_count": 1}


def _values(row: rows.Row, constants: dict[str, Any]) -> list[Any]:
    told = {
        "website_id": row.website,
        "source_id": row.source,
        "fingerprint": row.fingerprint,
        "severity": row.severity,
        "kind": row.kind,
        "status": row.status,
        "title": row.title,
        "description": row.description,
        "remediation": row.remediation,
        "rule": row.rule,
        "problem": api.problem_key(f"engine-{row.source}", row.rule, row.title),
        "location": row.location,
        "first_seen": _written(row.first_seen),
        "last_seen": _written(row.last_seen),
        "fixed_at": row.fixed_at and _written(row.fixed_at),
    }
    return [told.get(column, constant) for column, constant in constants.items()]


def _written(moment: datetime) -> str:
    """As SQLite stores it and PostgreSQL reads it, where the session's time zone is UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"


def insert(table: str, batch: list[list[Any]]) -> None:
    """The quickest way that the database has to take many rows."""
    if connection.vendor == "sqlite":
        insert_by_statement(table, batch)
        return
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({_names()}) FROM STDIN") as copy:
        for values in batch:
            copy.write_row(values)


def insert_by_statement(table: str, batch: list[list[Any]]) -> None:
    """INSERT of many rows at once, as an ORM sends it."""
    row = f"({', '.join(['%s'] * len(columns()))})"
    with connection.cursor() as cursor:
        while part := batch[:ROWS_OF_STATEMENT]:
            rows_of_part = ", ".join([row] * len(part))
            statement = f"INSERT INTO {table} ({_names()}) VALUES {rows_of_part}"  # noqa: S608
            cursor.execute(statement, list(chain.from_iterable(part)))
            batch = batch[ROWS_OF_STATEMENT:]


def _names() -> str:
    return ", ".join(f'"{column}"' for column in columns())


def settle() -> None:
    """Leave the database as a running service would: measured by the planner, and without a backlog."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("ANALYZE")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            cursor.execute("VACUUM ANALYZE")
