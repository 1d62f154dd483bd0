"""The parts that import the product's models; import this module only after Django is set up."""

import functools
import secrets
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import chain, count, cycle, islice
from statistics import median
from typing import Any

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models import Count, Field, Max
from django.db.models.functions import TruncDate
from django.utils import timezone

from benchmarks import dataset, reports
from benchmarks.dataset import Row
from benchmarks.servers import Clock
from dashboard_api import models as api
from dashboard_api.api.authorization import authorize
from dashboard_api.billing import entitlements
from dashboard_api.contract.requests import read_request
from dashboard_api.crawler import queue
from dashboard_api.importing import bulk_insert
from dashboard_api.importing.plan import NewFinding, plan_reported
from dashboard_api.importing.scopes import Scan, Scope
from dashboard_api.importing.service import ImportOptions, import_file
from dashboard_api.importing.staging import GroupedFinding
from dashboard_api.models import Finding, SiteLink, Source, Website
from dashboard_api.queries.credentials import read_credentials
from dashboard_api.reading.dashboard import build_dashboard
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import ReportedFinding
from signed_api.findings import DASHBOARD

BATCH = 10_000
ROWS_OF_STATEMENT = 500
REPORT_ROWS = 1_000
BARE = "benchmark_bare"
WEBSITE = dataset.LARGE
AS_BENCHMARK = ImportOptions(file_name="report", by="benchmark")
_NUMBERS = count(1)


def fill(scale: float, *, now: datetime) -> None:
    """Fill an empty database with a dataset."""
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    _make_account_and_websites(now)
    _insert_findings(dataset.rows(scale, now=now))
    _make_import_runs()
    _make_answers(now)
    _settle()


def _make_account_and_websites(now: datetime) -> None:
    """Create an account, the measured websites linked to it, and their coverage and notes."""
    account = api.Account.objects.create(ref=dataset.ACCOUNT)
    api.Secret.objects.issue(account, by="benchmark", secret=dataset.SECRET)
    plan = {"starts_on": now.date(), "sites_limit": dataset.WEBSITES}
    entitlements.change(account, plan, by="benchmark", now=now)
    sources = [
        api.Source.objects.create(slug=f"scanner-{number}", name=f"Scanner {number}")
        for number in range(1, dataset.SOURCES + 1)
    ]
    for number in range(1, dataset.WEBSITES + 1):
        website = api.Website.objects.create(host=dataset.host(number))
        if number > len(dataset.MEASURED):
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


def _make_answers(now: datetime) -> None:
    """Let an account with days by severity answer open findings of the large website in all ways."""
    account = api.Account.objects.create(
        ref=dataset.ANSWERING, critical_days=7, high_days=30, medium_days=90, low_days=180
    )
    api.Secret.objects.issue(account, by="benchmark", secret=f"{dataset.SECRET}-2")
    plan = {"starts_on": now.date(), "sites_limit": 1}
    entitlements.change(account, plan, by="benchmark", now=now)
    website = api.Website.objects.get(host=dataset.host(WEBSITE))
    link = api.SiteLink.objects.link(account, website, by="benchmark")
    kinds = [kind for kind in api.Answer.Kind if kind != api.Answer.Kind.WAITING]
    findings = website.findings.filter(status="open").order_by("fingerprint")[: dataset.ANSWERS]
    api.Answer.objects.bulk_create(
        api.Answer(
            account=account,
            website=website,
            finding=finding,
            answer=kind,
            due_on=now.date() + timedelta(days=number % 60 - 20) if kind == "will_fix" else None,
            until=now.date() + timedelta(days=number % 300) if kind == "accepted" else None,
            assignee=f"user-{number % 20}" if kind == "will_fix" else "",
            severity_then=finding.severity,
            at=now,
        )
        for number, (finding, kind) in enumerate(zip(findings, cycle(kinds), strict=False))
    )
    api.SiteLink.objects.filter(pk=link.pk).update(answers_version=1)
    api.FindingEvent.objects.bulk_create(
        api.FindingEvent(finding=finding, website_id=website.pk, event="regressed", at=finding.last_seen)
        for finding in website.findings.filter(status="open")[: dataset.ANSWERS]
    )
    others = api.Finding.objects.exclude(website=website).filter(status="open")[: 10 * dataset.ANSWERS]
    api.FindingEvent.objects.bulk_create(
        api.FindingEvent(finding=each, website_id=each.website_id, event="regressed", at=each.last_seen)
        for each in others
    )


def _make_import_runs() -> None:
    """Insert an import run for each day on which a measured website had findings, as daily scans would."""
    counts = dict.fromkeys(("occurrences", "coverage", "rejected", "updated", "reopened", "fixed"), 0)
    source = api.Source.objects.earliest("pk")
    for website in api.Website.objects.filter(pk__in=dataset.MEASURED):
        days = website.findings.order_by().values_list(TruncDate("first_seen"))
        api.ImportRun.objects.bulk_create(
            api.ImportRun(
                website=website,
                source=source,
                imported_at=datetime.combine(day, datetime.max.time(), tzinfo=UTC),
                scanned_at=datetime.combine(day, datetime.max.time(), tzinfo=UTC),
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


def _insert_findings(findings: Iterable[dataset.Row]) -> None:
    """Insert findings in batches."""
    values = values_of(findings)
    while batch := list(islice(values, BATCH)):
        with transaction.atomic():
            _insert("dashboard_api_finding", batch)


def values_of(findings: Iterable[dataset.Row]) -> Iterator[list[Any]]:
    """Yield each finding as a list of database values in the order of ``columns()``."""
    constants = columns()
    return (_values(row, constants) for row in findings)


@functools.cache
def columns() -> dict[str, Any]:
    """Return the stored columns of a finding with their default values."""
    fields = api.Finding._meta.concrete_fields  # noqa: SLF001  # Django's public model API
    stored = [field for field in fields if not field.generated and not field.primary_key]
    constants = {field.column: field.get_db_prep_save(field.get_default(), connection) for field in stored}
    return constants | {"locations_count": 1}


def _values(row: dataset.Row, constants: dict[str, Any]) -> list[Any]:
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
    """Insert rows in the database's fastest way."""
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


def batches() -> Iterator[list[dataset.Row]]:
    """Yield batches of new findings of one website, without end."""
    while True:
        findings = (_as_scanned_now(row) for row in dataset.rows(0.05, now=datetime.now(UTC)))
        while batch := list(islice(findings, REPORT_ROWS)):
            yield batch


def _as_scanned_now(row: dataset.Row) -> dataset.Row:
    """Return the finding as a scan of the website reports it now."""
    return replace(
        row,
        website=WEBSITE,
        source=1,
        fingerprint=secrets.token_hex(8),
        status="open",
        location=row.location.replace(dataset.host(row.website), dataset.host(WEBSITE)),
        first_seen=row.last_seen,
        fixed_at=None,
    )


def bare_insert(batch: list[dataset.Row]) -> Callable[[], None]:
    """Return a function that inserts a batch into the bare table in one transaction."""
    values = [tuple(row) for row in values_of(batch)]

    def insert() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            bulk_insert.insert_rows(cursor, BARE, columns(), values)

    return insert


def report_import(batch: list[dataset.Row]) -> Callable[[], object]:
    """Return a function that imports a report of a batch."""
    website = Website.objects.get(host=dataset.host(WEBSITE))
    file = BytesIO(b"".join(reports.finding_lines(batch)))
    return lambda: import_file(file, website, AS_BENCHMARK)


def import_for(seconds: float, batches: Iterator[list[dataset.Row]]) -> int:
    """Import one batch after another for this time; return the number of findings."""
    end = time.monotonic() + seconds
    stored = 0
    while time.monotonic() < end:
        report_import(next(batches))()
        stored += REPORT_ROWS
    return stored


def make_tables() -> None:
    """Create the product's tables and the bare table in an empty database."""
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    make_bare_table()


class Subject:
    """Report format to measure; each report is the first of a new website."""

    def __init__(self, format_name: str, findings: Iterator[Row], *, rows: int) -> None:
        self._format, self._findings, self._rows = format_name, findings, rows
        self._clock = Clock(with_client=True)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with its object

    def insert_bare(self) -> float:
        """Write a new report; return the CPU seconds per row of a bare insert of its findings."""
        self._write_new_report()
        new = list(self._planned_findings())

        def insert() -> None:
            with transaction.atomic(), connection.cursor() as cursor:
                bulk_insert.insert_rows(cursor, BARE, NewFinding._fields, new)

        return self._cost(insert)

    def import_report(self) -> float:
        """Return the CPU seconds per row of importing the current report, for the first time or again."""
        self._file.seek(0)
        return self._cost(self._import)

    def _write_new_report(self) -> None:
        self._website = Website.objects.create(host=f"import{next(_NUMBERS)}.example.com")
        findings = [reports.move_to(self._website.host, row) for row in islice(self._findings, self._rows)]
        self._file.seek(0)
        self._file.truncate()
        self._file.write(reports.REPORTS[self._format](findings))

    def _planned_findings(self) -> Iterator[NewFinding]:
        """Yield a new finding for every row of the report that holds one."""
        self._file.seek(0)
        report = read_report(self._file)
        source, _ = Source.objects.get_or_create(slug=report.source, defaults={"name": report.source_name})
        scan = Scan(scope=Scope(), absent_at=None)
        for row in report:
            if isinstance(row, ReportedFinding):
                now = timezone.now()
                group = GroupedFinding(row=row, first_seen=now, last_seen=now, locations_count=1)
                group.add(row.location, seen_at=now, evidence=row.evidence)
                key = f"{row.row:064}"
                ids = {"website_id": self._website.pk, "source_id": source.pk, "source_slug": source.slug}
                ((finding, _),) = plan_reported({key: group}, {}, {}, scan, **ids).new
                stored = bulk_insert.stored_time(now)
                yield finding._replace(first_seen=stored, last_seen=stored)

    def _import(self) -> None:
        (result,) = import_file(self._file, self._website, AS_BENCHMARK)
        assert (result.rows, result.rejected) == (self._rows, 0)  # noqa: S101  # otherwise the figure means nothing

    def _cost(self, write: Callable[[], object]) -> float:
        before = self._clock()
        write()
        return (self._clock() - before) / self._rows


def body_about(website: int, *, account: str = dataset.ACCOUNT, **fields: Any) -> dict[str, Any]:
    """Return the body of a call about a website, with further fields."""
    link = SiteLink.objects.get(account__ref=account, website__host=dataset.host(website))
    return {
        "host": dataset.host(website),
        "link_id": link.link_id,
        "portal_account_ref": account,
    } | fields


def dashboard_call(website: int, *, account: str = dataset.ACCOUNT, **fields: Any) -> Callable[[], object]:
    """Return a function that reads credentials and dashboard as the API does."""
    request = read_request(DASHBOARD, body_about(website, account=account, **fields))
    now = datetime.now(UTC)

    def call() -> object:
        credentials = read_credentials(account, request.link_id, now)
        return build_dashboard(authorize(credentials.link, request, now), request, now)

    return call


def queue_scans(hosts: Iterable[str]) -> None:
    """Queue a quick scan of each host, by staff."""
    now = timezone.now()
    account = api.Account.objects.create(ref="acct_scans")
    for host in hosts:
        website = Website.objects.create(host=host)
        website.verify(method="manual", by="benchmarks", at=now)
        api.OwnershipClaim.objects.confirm_by_hand(account, host, by="benchmarks", now=now)
        queue.add(website, by="benchmarks")


def seconds_of_scans() -> tuple[float, float]:
    """Return the median seconds of a scan, and the seconds from the first begin to the last end."""
    times = api.ScanJob.objects.filter(outcome="complete").values_list("started_at", "ended_at")
    begins, ends = zip(*times, strict=True)
    scans = [(end - begin).total_seconds() for begin, end in times]
    return median(scans), (max(ends) - min(begins)).total_seconds()
