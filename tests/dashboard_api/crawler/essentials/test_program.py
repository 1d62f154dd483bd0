"""The program of the built-in engines, at its real pace: what the website sees of it."""

import json
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread

import pytest

from dashboard_api.crawler.essentials import program
from dashboard_api.crawler.policy import CONNECTIONS_A_SECOND

NAME = "demo-shop.localhost"
PAUSE = 1 / CONNECTIONS_A_SECOND
TOLERANCE = 0.05  # a connection can be accepted late, and the next one in time


@pytest.fixture
def website():
    """A website on loopback; ``accepted`` has the time of each connection."""

    class Website(ThreadingHTTPServer):
        accepted: list[float] = []  # noqa: RUF012 - one website for each test

        def get_request(self):
            self.accepted.append(time.monotonic())
            return super().get_request()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Shop</title><a href=/basket>Basket</a>")

        def log_message(self, *_):
            pass

    with Website(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def scan(kind, website, report, *options):
    port = str(website.server_address[1])
    arguments = [
        kind,
        NAME,
        "127.0.0.1",
        str(report),
        "agent",
        "--private",
        "--website",
        NAME,
        port,
        *options,
    ]
    subprocess.run([sys.executable, program.__file__, *arguments], check=True, timeout=120)
    return [json.loads(line) for line in report.read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("kind", ["website", "files"])
def test_a_website_sees_at_most_five_connections_a_second(kind, website, tmp_path):
    lines = scan(kind, website, tmp_path / "report")
    assert len(lines) > 2
    pauses = [later - before for before, later in pairwise(website.accepted)]
    assert len(pauses) > 3
    assert min(pauses) >= PAUSE - TOLERANCE
    assert sum(pauses) >= (PAUSE - TOLERANCE / len(pauses)) * len(pauses)


def test_without_a_pace_the_same_scan_is_faster(website, tmp_path):
    scan("website", website, tmp_path / "report", "--a-second", "1000")
    assert json.loads((tmp_path / "facts.json").read_text()) == {"certificates": []}  # without https
    assert min(later - before for before, later in pairwise(website.accepted)) < PAUSE
