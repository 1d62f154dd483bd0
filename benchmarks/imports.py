"""CPU time of imports by format, compared with a bare insert of the same rows; memory of a long import.

Each report is the first of its website, and each row is a different finding (sslyze reports five kinds, so
its report has many servers). A second import of the same report stands for the next scan.
The bare insert writes parsed rows into a table without indexes, with the product's own bulk insert.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice

from benchmarks import databases, reports
from benchmarks.command_line import BACKENDS, Table, compare, run

ROWS = 5_000  # the limit of one SARIF file
LONG_ROWS = 1_000_000
MAX_MEMORY_MB = 300
LONG_HOST = "long.example.com"
# Run the command from a small process: the peak memory of a child includes its parent's memory at the fork.
_MEASURE = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
BARE, FIRST, AGAIN = "bare insert", "import", "import again"


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield a table of rows per CPU second by format, and one of a long report."""
    with databases.temporary(backend, "imports", scale):
        yield _by_format(backend, round(ROWS * scale), rounds)
        yield _long(backend, round(LONG_ROWS * scale))


def _by_format(backend: str, rows: int, rounds: int) -> Table:
    from benchmarks import product  # imports models: only after Django is set up

    product.make_tables()
    findings = reports.findings()
    bursts: dict[str, Callable[[], float]] = {}
    for format_name in reports.REPORTS:
        subject = product.Subject(format_name, findings, rows=rows)
        ways = {BARE: subject.insert_bare, FIRST: subject.import_report, AGAIN: subject.import_report}
        bursts |= {f"{format_name}, {way}": burst for way, burst in ways.items()}
    costs = compare(bursts, rounds=rounds)
    table = Table(
        f"Imports on {backend}", f"Reports of {rows:,} rows; rows per CPU second of client and database."
    )
    for format_name in reports.REPORTS:
        bare, *imports = (f"{format_name}, {way}" for way in (BARE, FIRST, AGAIN))
        table.add(format_name, BARE, 1 / costs.cost(bare), "per second")
        for way, cost in zip((FIRST, AGAIN), imports, strict=True):
            table.add(format_name, way, 1 / costs.cost(cost), "per second")
            table.add(format_name, f"{way}, share", costs.ratio(bare, cost), "times")
    return table


def _long(backend: str, rows: int) -> Table:
    from dashboard_api.models import Website

    Website.objects.create(host=LONG_HOST)
    with tempfile.NamedTemporaryFile(dir=databases.FOLDER) as file:
        findings = (reports.move_to(LONG_HOST, row) for row in islice(reports.findings(), rows))
        file.writelines(reports.finding_lines(findings))
        file.flush()
        size = file.tell()
        command = [sys.executable, "manage.py", "import_report", file.name, "--host", LONG_HOST]
        child = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", _MEASURE, *command], cwd=databases.ROOT, check=True, stdout=subprocess.PIPE
        )
    seconds, kilobytes = json.loads(child.stdout)
    table = Table(
        f"A long report on {backend}",
        f"JSON lines of {size / 1e6:,.0f} MB, all findings new; CPU and memory of manage.py import_report.",
    )
    row = f"{rows:,} rows"
    table.add(row, "per CPU second", rows / seconds, "per second")
    table.add(row, "peak memory", kilobytes / 1e3, "MB", at_most=MAX_MEMORY_MB)
    return table


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
