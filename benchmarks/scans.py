"""Quick scans of websites on loopback by a worker with two processes, at the pace of production.

Each website is one page by http; the engines are those of ``deploy/engines.toml``, without DNS, which asks no
website. The pace alone needs a fifth of a second for each connection: the floor. A website with https needs
about twice as many connections, and one on the internet takes longer to answer.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

from benchmarks import databases
from benchmarks.command_line import Table, run
from benchmarks.http_load import LOOPBACK

PROCESSES = 2
WEBSITES_A_ROUND = 4
GOAL_A_DAY = 1_000
MOST_SECONDS = 10
_PAGE = b"<!doctype html><title>Shop</title><p>Welcome to the shop.</p><a href='/about'>About us</a>"
_DAY_SECONDS = 86_400


class _Website(BaseHTTPRequestHandler):
    connections = count(1)
    last = 0

    def setup(self) -> None:
        type(self).last = next(self.connections)
        super().setup()

    def do_GET(self) -> None:
        is_home = self.path == "/"
        self.send_response(200 if is_home else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(_PAGE) if is_home else 0))
        self.end_headers()
        if is_home:
            self.wfile.write(_PAGE)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield a table of the scans of four websites for each round; ``scale`` has no effect."""
    hosts = [f"shop{number}.localhost" for number in range(WEBSITES_A_ROUND * rounds)]
    with _serve() as port:
        websites = ",".join(f"{host}:{port}" for host in hosts)
        os.environ |= {"CRAWLER_ENABLED": "true", "SUPPORT_URL": "https://support.example.com/"}
        os.environ |= {"ALLOW_PRIVATE_HOSTS": "true", "LOCALHOST_WEBSITES": websites}
        with databases.temporary(backend, "scans", scale):
            yield _scan(hosts, backend)


@contextmanager
def _serve() -> Iterator[int]:
    with ThreadingHTTPServer((LOOPBACK, 0), _Website) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def _scan(hosts: list[str], backend: str) -> Table:
    from benchmarks import product  # imports models: only after Django is set up

    product.make_tables()
    product.queue_scans(hosts)
    command = [sys.executable, "manage.py", "crawl", "--once"]
    workers = [
        subprocess.Popen(command, cwd=databases.ROOT, stderr=subprocess.DEVNULL)  # noqa: S603 - our own program
        for _ in range(PROCESSES)
    ]
    for worker in workers:
        worker.wait()
    seconds, all_seconds = product.seconds_of_scans()
    floor = _Website.last / len(hosts) / 5
    table = Table(
        f"Quick scans on {backend}",
        f"{len(hosts)} websites on loopback, {PROCESSES} processes, five connections a second to each.",
    )
    row = "a worker"
    table.add(row, "websites a day", len(hosts) / all_seconds * _DAY_SECONDS, "number", at_least=GOAL_A_DAY)
    table.add(row, "a scan", seconds, "s", at_most=MOST_SECONDS)
    table.add(row, "connections of a scan", _Website.last / len(hosts), "number", at_most=20)
    table.add(row, "times the floor of the pace", seconds / floor, "times")
    return table


if __name__ == "__main__":
    run(tables, __doc__, backends=("sqlite",))
