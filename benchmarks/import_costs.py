"""Measured imports of reports, and bare inserts of the same rows as their baseline."""

import tempfile
from collections.abc import Callable, Iterator
from itertools import count, islice

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.utils import timezone

from benchmarks import reports, write_costs
from benchmarks.database_cost import Clock
from benchmarks.rows import Row
from dashboard_api.importing import bulk_insert
from dashboard_api.importing.ingest import ImportOptions
from dashboard_api.importing.plan import NewFinding, plan_reported
from dashboard_api.importing.scopes import Scan, Scope
from dashboard_api.importing.service import import_file
from dashboard_api.importing.staging import GroupedFinding
from dashboard_api.models import Source, Website
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import ReportedFinding

_NUMBERS = count(1)


def make_tables() -> None:
    """Create the product's tables and the bare table in an empty database."""
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    write_costs.make_bare_table()


class Subject:
    """A report format; each of its reports is the first of a new website."""

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
                bulk_insert.insert_rows(cursor, write_costs.BARE, NewFinding._fields, new)

        return self._cost(insert)

    def import_report(self) -> float:
        """Return the CPU seconds per row of importing the present report, for the first time or again."""
        self._file.seek(0)
        return self._cost(self._import)

    def _write_new_report(self) -> None:
        self._website = Website.objects.create(host=f"import{next(_NUMBERS)}.example.com")
        findings = [reports.move_to(self._website.host, row) for row in islice(self._findings, self._rows)]
        self._file.seek(0)
        self._file.truncate()
        self._file.write(reports.REPORTS[self._format](findings))

    def _planned_findings(self) -> Iterator[NewFinding]:
        """Yield a new finding for every row of the report that reports one."""
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
                time = bulk_insert.stored_time(now)
                yield finding._replace(first_seen=time, last_seen=time)

    def _import(self) -> None:
        (result,) = import_file(
            self._file, self._website, ImportOptions(), file_name="report", by="benchmark"
        )
        assert (result.rows, result.rejected) == (self._rows, 0)  # noqa: S101  # otherwise the figure means nothing

    def _cost(self, write: Callable[[], object]) -> float:
        before = self._clock()
        write()
        return (self._clock() - before) / self._rows
