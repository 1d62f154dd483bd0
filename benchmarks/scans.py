"""Scans while their workers are killed and paused: each is stored once, none is lost, none twice.

Workers run real engine processes against a website on loopback. One worker after the other is killed (-9),
or paused past its lease and resumed. Leases are ended by hand, instead of after a minute.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks import databases
from benchmarks.command_line import BACKENDS, run
from benchmarks.figures import Table

JOBS = 1_000
WORKERS = 4
BETWEEN_FAULTS = 4  # scans that end, so that a slow machine gets on, too
PATIENCE = 20.0  # seconds without an end, after which there is another fault
PAUSE_SECONDS = 1.0
_ENGINE = """
import json, sys
host, address, report = sys.argv[1:]
rows = [{"scan": "findings/1", "source": "stub"}]
rows += [{"finding": "rule", "title": "A problem", "severity": "low", "location": f"http://{host}/"}]
open(report, "w").write("\\n".join(map(json.dumps, [*rows, {"complete": True}])))
"""


class _HomePage(BaseHTTPRequestHandler):
    """Answers every request with the same page."""

    def do_GET(self) -> None:
        """Answer with a page."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def environment(engine: str, hosts: list[str], port: int) -> dict[str, str]:
    """Return the environment of workers that run this code as their only engine, on websites at ``port``."""
    command = [sys.executable, "-c", engine, "$host", "$address", "$report"]
    file = databases.FOLDER / "engines.toml"
    file.write_text(f'[[engine]]\nname = "stub"\ncommand = {json.dumps(command)}\n')
    return os.environ | {
        "CRAWLER_ENABLED": "true",
        "CRAWLER_ENGINES": str(file),
        "ALLOW_PRIVATE_HOSTS": "true",
        "LOCALHOST_WEBSITES": ",".join(f"{host}:{port}" for host in hosts),
    }


def start_worker(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a worker."""
    return subprocess.Popen(  # our own interpreter
        [sys.executable, "manage.py", "crawl"],
        cwd=databases.ROOT,
        env=environment,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def queue_scans(hosts: list[str]) -> None:
    """Add websites that an account has proven, and a scan of each."""
    from django.utils import timezone

    from dashboard_api.models import Account, OwnershipClaim, ScanJob
    from dashboard_api.models import Website as WebsiteRow

    now = timezone.now()
    account = Account.objects.create(ref="benchmark")
    for host in hosts:
        website = WebsiteRow.objects.create(
            host=host, verified_at=now, verified_by="benchmark", verification_method="manual"
        )
        OwnershipClaim.objects.confirm_by_hand(account, host, by="benchmark", now=now)
        ScanJob.objects.create(website=website, by="benchmark")


@contextmanager
def serving() -> Iterator[int]:
    """Serve the website on loopback until the end of the block, and yield its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _HomePage) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield a table of the ends of all scans; ``rounds`` seeds the faults."""
    random.seed(rounds)
    with databases.temporary(backend, "scans", scale):
        yield _table(backend, max(20, round(JOBS * scale)))


def _table(backend: str, jobs: int) -> Table:
    from django.core.management import call_command
    from django.db.models import Count

    from dashboard_api.models import ImportRun, ScanJob

    call_command("migrate", verbosity=0)
    hosts = [f"job-{number}.localhost" for number in range(jobs)]
    queue_scans(hosts)
    with serving() as port:
        began = time.monotonic()
        kills, pauses = _Workers(hosts, port).run()
        seconds = time.monotonic() - began
    imports = ImportRun.objects.filter(state="ok").order_by().values("website").annotate(count=Count("pk"))
    stored = [row["count"] for row in imports]
    killed_twice = ScanJob.objects.filter(state="failed", reason="worker_lost").count()
    table = Table(
        f"Scans on {backend}",
        f"{jobs:,} scans, {WORKERS} workers, {kills} killed, {pauses} paused past the lease.",
    )
    table.add("stored once", "scans", sum(count == 1 for count in stored), "scans")
    table.add("stored twice", "scans", sum(count > 1 for count in stored), "scans", at_most=0)
    table.add("lost", "scans", jobs - len(stored) - killed_twice, "scans", at_most=0)
    table.add("failed after two lost workers", "scans", killed_twice, "scans")
    table.add("all", "per second", jobs / seconds, "per second")
    return table


class _Workers:
    """Four workers, of which one after the other is killed or paused."""

    def __init__(self, hosts: list[str], port: int) -> None:
        self._environment = environment(_ENGINE, hosts, port)
        self._running = [start_worker(self._environment) for _ in range(WORKERS)]

    def run(self) -> tuple[int, int]:
        """Work until no scan waits or runs; return the numbers of killed and of paused workers."""
        from django.db import OperationalError

        from dashboard_api.models import ScanJob

        kills = pauses = 0
        while ScanJob.objects.unended().exists():
            _wait_for_ends(BETWEEN_FAULTS)
            index = random.randrange(WORKERS)
            worker = self._running[index]
            if random.random() < 0.7:
                worker.kill()
                worker.wait()
                self._end_leases(worker)
                self._running[index] = start_worker(self._environment)
                kills += 1
            else:
                worker.send_signal(signal.SIGSTOP)
                try:
                    self._end_leases(worker)
                    time.sleep(PAUSE_SECONDS)
                    pauses += 1
                except OperationalError:  # on SQLite, it was paused while it wrote: nothing else can
                    pass
                finally:
                    worker.send_signal(signal.SIGCONT)
        for worker in self._running:
            worker.terminate()
            worker.wait()
        return kills, pauses

    @staticmethod
    def _end_leases(worker: subprocess.Popen[bytes]) -> None:
        from django.utils import timezone

        from dashboard_api.models import ScanJob

        past = timezone.now() - timedelta(seconds=1)
        ScanJob.objects.filter(state="running", worker__contains=f"-{worker.pid}-").update(lease_until=past)


def _wait_for_ends(count: int) -> None:
    """Wait until so many more scans have ended, or all have."""
    from dashboard_api.models import ScanJob

    unended = ScanJob.objects.unended()
    goal, ends = max(0, unended.count() - count), time.monotonic() + PATIENCE
    while unended.count() > goal and time.monotonic() < ends:
        time.sleep(0.2)


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
