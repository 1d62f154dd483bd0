"""Pages while scans run: the slowest of a hundred, quiet and next to a worker, and their ratio.

gunicorn serves the demo's data. Meanwhile a worker, as each layout of deploy/ has one, scans websites on
loopback with the built-in engine, one after the other without a pause. Bursts without and with a worker
alternate, so that both meet the same machine.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from django.conf import settings
from django.db import connections

from benchmarks import databases
from benchmarks.command_line import BACKENDS, run
from benchmarks.demo_database import create_demo
from benchmarks.figures import Table
from benchmarks.http_load import Burst, LoadProcess, Responses
from benchmarks.scans import queue_scans, serving
from benchmarks.servers import run_server

NAME = "threat_dashboard_scanning"
PAGE = "/sites/shop.example.com/"
WORKERS, JOBS, REQUESTS = 1, 1_000, 200


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:  # noqa: ARG001  # one size of data
    """Yield one table."""
    environment = create_demo(backend, NAME, password="only-for-benchmarks-0123456789")  # noqa: S106
    cookie = _cookie()
    with serving() as port:
        hosts = [f"job-{number}.localhost" for number in range(JOBS)]
        queue_scans(hosts)
        connections.close_all()
        websites = ",".join(f"{host}:{port}" for host in hosts)
        crawling = environment | {
            "CRAWLER_ENABLED": "true",
            "ALLOW_PRIVATE_HOSTS": "true",
            "LOCALHOST_WEBSITES": websites,
        }
        with run_server(environment) as server, LoadProcess() as load:
            burst = Burst(
                port=server.port, path=PAGE, cookie=cookie, count=REQUESTS, seconds=30, connections=2
            )
            load.send(burst)
            quiet, busy = [], []
            for _ in range(rounds):
                quiet.append(load.send(burst))
                with _workers(crawling):
                    busy.append(load.send(burst))
    yield _table(backend, quiet, busy)
    databases.discard(backend, NAME)


def _table(backend: str, quiet: list[Responses], busy: list[Responses]) -> Table:
    table = Table(
        f"Pages while scans run, {backend}",
        f"{len(quiet)} bursts of {REQUESTS} pages, without and with {WORKERS} worker; medians.",
    )
    for name, bursts in (("quiet", quiet), ("scanning", busy)):
        table.add(name, "p50", median(each.p50_ms for each in bursts), "ms")
        table.add(name, "p99", median(each.p99_ms for each in bursts), "ms")
        failed = sum(count for each in bursts for status, count in each.statuses.items() if status != "200")
        table.add(name, "failed", failed, "number", at_most=0)
    ratio = median(each.p99_ms for each in busy) / median(each.p99_ms for each in quiet)
    table.add("scanning", "times quiet", ratio, "times", at_most=2)
    return table


def _cookie() -> str:
    # imports models: only after Django is set up
    from django.contrib.auth import get_user_model
    from django.test import Client

    browser = Client()
    browser.force_login(get_user_model().objects.get(username="owner"))
    return f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"


@contextmanager
def _workers(environment: dict[str, str]) -> Iterator[None]:
    """Run workers until the block ends; the first scans have begun when it begins."""
    command = [sys.executable, "manage.py", "crawl"]
    processes = [
        subprocess.Popen(  # noqa: S603  # our own interpreter
            command, cwd=databases.ROOT, env=os.environ | environment, stderr=subprocess.DEVNULL
        )
        for _ in range(WORKERS)
    ]
    time.sleep(5)
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait()


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
