"""What it costs to import a report, by format, beside a bare insert of its rows; and a long one's memory.

Each report is about a website that had none before, and each row of it about a problem of its own (sslyze
knows five, of many servers). It is imported, and then imported again, as a next scan that found the same.
The bare insert writes what was already read into a table without indexes, by the product's own writer.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice

from benchmarks import records, reports
from benchmarks.command_line import ENGINES, run
from benchmarks.figures import Table
from benchmarks.pairing import paired

ROWS = 5_000  # as many as are read of one SARIF file
LONG_ROWS = 1_000_000
MEMORY = 300  # MB
LONG_HOST = "long.example.com"
# Run a command from a small process: a child's peak begins with the memory of its parent.
_MEASURE = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
BARE, FIRST, AGAIN = "bare insert", "import", "import again"


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """Rows a second of CPU by format; then one long report."""
    if engine == "postgresql":
        records.check_postgresql()
    name = records.database_name("imports", scale)
    records.create(engine, name)
    records.use(engine, name)
    try:
        yield _by_format(engine, round(ROWS * scale), rounds)
        yield _long(engine, round(LONG_ROWS * scale))
    finally:
        records.discard(engine, name)


def _by_format(engine: str, rows: int, rounds: int) -> Table:
    from benchmarks import importing  # models can be imported only where Django is set up

    importing.make_tables()
    found = reports.findings()
    bursts: dict[str, Callable[[], float]] = {}
    for format_name in reports.REPORTS:
        subject = importing.Subject(format_name, found, rows=rows)
        ways = {BARE: subject.bare, FIRST: subject.imported, AGAIN: subject.imported}
        bursts |= {f"{format_name}, {way}": burst for way, burst in ways.items()}
    costs = paired(bursts, rounds=rounds)
    table = Table(
        f"Imports on {engine}", f"Reports of {rows:,} rows; rows a second of CPU of client and database."
    )
    for format_name in reports.REPORTS:
        bare, *imports = (f"{format_name}, {way}" for way in (BARE, FIRST, AGAIN))
        table.add(format_name, BARE, 1 / costs.cost(bare), "per second")
        for way, cost in zip((FIRST, AGAIN), imports, strict=True):
            table.add(format_name, way, 1 / costs.cost(cost), "per second")
            table.add(format_name, f"{way}, share", costs.ratio(bare, cost), "times")
    return table


def _long(engine: str, rows: int) -> Table:
    from dashboard_api.models import Website

    Website.objects.create(host=LONG_HOST)
    with tempfile.NamedTemporaryFile(dir=records.FOLDER) as file:
        found = (reports.on(LONG_HOST, row) for row in islice(reports.findings(), rows))
        file.writelines(reports.finding_lines(found))
        file.flush()
        size = file.tell()
        command = [sys.executable, "manage.py", "import_report", file.name, "--host", LONG_HOST]
        measured = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", _MEASURE, *command], cwd=records.ROOT, check=True, stdout=subprocess.PIPE
        )
    seconds, kilobytes = json.loads(measured.stdout)
    table = Table(
        f"A long report on {engine}",
        f"JSON lines of {size / 1e6:,.0f} MB, each a new finding; CPU and memory of manage.py import_report.",
    )
    row = f"{rows:,} rows"
    table.add(row, "per CPU second", rows / seconds, "per second")
    table.add(row, "peak memory", kilobytes / 1e3, "MB", at_most=MEMORY)
    return table


if __name__ == "__main__":
    run(tables, __doc__, engines=ENGINES)
