"""Scans that are cancelled while their scanner runs, which ignores SIGTERM: each ends within 10 seconds.

Two workers, which is what one address allows, run real processes against a website on loopback. Each scan is
cancelled once its scanner ignores SIGTERM.
"""

import shutil
import time
from collections.abc import Iterator
from statistics import median

from benchmarks import databases
from benchmarks.command_line import BACKENDS, run
from benchmarks.figures import Table
from benchmarks.scans import environment, queue_scans, serving, start_worker

JOBS, WORKERS = 100, 2
SECONDS = 10.0
PATIENCE = 120.0  # seconds without a cancellation, after which the other scans count as missed
_ENGINE = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open({folder!r} + "/" + sys.argv[1], "w").close()
while True:
    time.sleep(1)
"""


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:  # noqa: ARG001  # once each
    """Yield a table of the cancelled scans."""
    with databases.temporary(backend, "cancellations", scale):
        yield _table(backend, max(WORKERS, round(JOBS * scale)))


def _table(backend: str, count: int) -> Table:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    hosts = [f"job-{number}.localhost" for number in range(count)]
    queue_scans(hosts)
    with serving() as port:
        seconds, left = _cancel_all(hosts, port)
    table = Table(f"Cancelled scans on {backend}", f"{count} scans, whose scanner ignores SIGTERM.")
    in_time = sum(each <= SECONDS for each in seconds)
    table.add("ended as cancelled within 10 s", "scans", in_time, "scans", at_least=count)
    table.add("processes left", "number", left, "processes", at_most=0)
    if seconds:
        table.add("from the request to the end", "median", median(seconds), "s")
        table.add("from the request to the end", "slowest", max(seconds), "s", at_most=SECONDS)
    return table


def _cancel_all(hosts: list[str], port: int) -> tuple[list[float], int]:
    """Cancel each scan once its scanner runs; return the seconds of those that ended, and processes left."""
    from dashboard_api.crawler.process import marked
    from dashboard_api.models import ScanJob

    folder = databases.FOLDER / "began"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    variables = environment(_ENGINE.format(folder=str(folder)), hosts, port)
    workers = [start_worker(variables) for _ in range(WORKERS)]
    marks, changed = [], time.monotonic()
    while ScanJob.objects.unended().exists() and time.monotonic() - changed < PATIENCE:
        for job in ScanJob.objects.filter(state="running", cancel_requested_at=None):
            if (folder / job.website.host).exists() and job.cancel(by="benchmark"):
                marks.append(f"{job.worker}/{job.pk}-{job.attempt}")
                changed = time.monotonic()
        time.sleep(0.1)
    left = sum(len(marked(mark)) for mark in marks)  # the workers still run: none of this is their end
    for worker in workers:
        worker.terminate()
        worker.wait()
    ended = ScanJob.objects.filter(state="cancelled").values_list("cancel_requested_at", "ended_at")
    return [(end - asked).total_seconds() for asked, end in ended if asked and end], left


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
