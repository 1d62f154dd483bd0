"""Reports imported as the product does it, and their rows inserted as barely as a table allows."""

import tempfile
from collections.abc import Callable, Iterator
from itertools import count, islice

from django.core.management import call_command
from django.db import connection, connections, transaction
from django.utils import timezone

from benchmarks import reports, writing
from benchmarks.rows import Row
from benchmarks.statements import Clock
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
    """The product's own, and the bare one, in a database that is still empty."""
    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    writing.make_bare_table()


class Subject:
    """One format; each of its reports is about a website that had none before."""

    def __init__(self, format_name: str, found: Iterator[Row], *, rows: int) -> None:
        self._format, self._found, self._rows = format_name, found, rows
        self._clock = Clock(with_client=True)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed when forgotten

    def bare(self) -> float:
        """CPU seconds of a row of a new report, in a table without indexes, by the product's own writer."""
        self._report_anew()
        new = list(self._as_stored())

        def insert() -> None:
            with transaction.atomic(), connection.cursor() as cursor:
                bulk_insert.insert_rows(cursor, writing.BARE, NewFinding._fields, new)

        return self._cost(insert)

    def imported(self) -> float:
        """CPU seconds of a row of that report, by its import; again, when it was imported before."""
        self._file.seek(0)
        return self._cost(self._import)

    def _report_anew(self) -> None:
        self._website = Website.objects.create(host=f"import{next(_NUMBERS)}.example.com")
        found = [reports.on(self._website.host, row) for row in islice(self._found, self._rows)]
        self._file.seek(0)
        self._file.truncate()
        self._file.write(reports.REPORTS[self._format](found))

    def _as_stored(self) -> Iterator[NewFinding]:
        """Yield a finding for every row of the report that names one."""
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
        (result,) = import_file(
            self._file, self._website, ImportOptions(), file_name="report", by="benchmark"
        )
        assert (result.rows, result.rejected) == (self._rows, 0)  # noqa: S101  # else it measures nothing

    def _cost(self, write: Callable[[], object]) -> float:
        before = self._clock()
        write()
        return (self._clock() - before) / self._rows
