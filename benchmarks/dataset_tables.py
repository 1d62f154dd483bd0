"""The tables of a dataset: an account, its websites, and the generated findings."""

import functools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time
from itertools import chain, islice
from typing import Any

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models import Count, Max
from django.db.models.functions import TruncDate

from benchmarks import rows
from dashboard_api import models as api
from dashboard_api.billing import entitlements

BATCH = 10_000
ROWS_OF_STATEMENT = 500


def fill(scale: float, *, now: datetime) -> None:
    """Fill an empty database with a dataset."""
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    _make_account_and_websites(now)
    _insert_findings(rows.rows(scale, now=now))
    _make_import_runs()
    _settle()


def _make_account_and_websites(now: datetime) -> None:
    """Create an account linked to the measured websites, and their coverage and notes."""
    account = api.Account.objects.create(ref=rows.ACCOUNT)
    api.Secret.objects.issue(account, by="benchmark", secret=rows.SECRET)
    plan = {"starts_on": now.date(), "sites_limit": rows.WEBSITES}
    entitlements.change(account, plan, by="benchmark", now=now)
    sources = [
        api.Source.objects.create(slug=f"scanner-{number}", name=f"Scanner {number}")
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
    """Insert an import for each day on which a measured website had findings, as of daily scans."""
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


def _insert_findings(findings: Iterable[rows.Row]) -> None:
    """Insert findings in batches."""
    values = values_of(findings)
    while batch := list(islice(values, BATCH)):
        with transaction.atomic():
            _insert("dashboard_api_finding", batch)


def values_of(findings: Iterable[rows.Row]) -> Iterator[list[Any]]:
    """Yield each finding as database values, one for each of ``columns()``."""
    constants = columns()
    return (_values(row, constants) for row in findings)


@functools.cache
def columns() -> dict[str, Any]:
    """Return the stored columns of a finding with their default values."""
    fields = api.Finding._meta.concrete_fields  # noqa: SLF001  # Django's public model API
    stored = [field for field in fields if not field.generated and not field.primary_key]
    constants = {field.column: field.get_db_prep_save(field.get_default(), connection) for field in stored}
    return constants | {"locations_count": 1}


def _values(row: rows.Row, constants: dict[str, Any]) -> list[Any]:
    values = {
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
        "host": api.host_of(row.location),
        "words": api.searched_words(row.title, row.location, row.rule, (), row.description, ""),
        "first_seen": _time_text(row.first_seen),
        "last_seen": _time_text(row.last_seen),
        "fixed_at": row.fixed_at and _time_text(row.fixed_at),
    }
    return [values.get(column, constant) for column, constant in constants.items()]


def _time_text(moment: datetime) -> str:
    """Return a time as text that both databases accept, where the time zone of the session is UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"


def _insert(table: str, batch: list[list[Any]]) -> None:
    """Insert rows in the fastest way of the database."""
    if connection.vendor == "sqlite":
        _insert_by_statement(table, batch)
        return
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({_names()}) FROM STDIN") as copy:
        for values in batch:
            copy.write_row(values)


def _insert_by_statement(table: str, batch: list[list[Any]]) -> None:
    """Insert many rows with each statement."""
    row = f"({', '.join(['%s'] * len(columns()))})"
    with connection.cursor() as cursor:
        while part := batch[:ROWS_OF_STATEMENT]:
            rows_of_part = ", ".join([row] * len(part))
            statement = f"INSERT INTO {table} ({_names()}) VALUES {rows_of_part}"  # noqa: S608
            cursor.execute(statement, list(chain.from_iterable(part)))
            batch = batch[ROWS_OF_STATEMENT:]


def _names() -> str:
    return ", ".join(f'"{column}"' for column in columns())


def _settle() -> None:
    """Analyze the tables and finish pending work, as on a database in regular use."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("ANALYZE")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            cursor.execute("VACUUM ANALYZE")
