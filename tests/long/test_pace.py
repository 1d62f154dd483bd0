"""A standard scan with all installed scanners, as the website sees it: SSLyze takes two minutes."""

import socket
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from dashboard_api.crawler import queue, wall
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.worker import Worker
from tests import factories
from tests.faults.certificate import write_certificate

pytestmark = [pytest.mark.long, pytest.mark.django_db]
HOST = "shop.localhost"
PAGE = b"<title>Shop</title><a href=/a>A</a><a href=/b?c=1>B</a><form action=/d><input name=e></form>"


class Website(ThreadingHTTPServer):
    """A website that speaks TLS and plain HTTP at one port, and notes connections and requests."""

    request_queue_size = 64

    def __init__(self, tls):
        super().__init__(("127.0.0.1", 0), Page)
        self.tls, self.connections, self.requests = tls, [], []

    def get_request(self):
        self.connections.append(time.monotonic())
        return super().get_request()

    def finish_request(self, request, client_address):
        if request.recv(1, socket.MSG_PEEK) != b"\x16":
            super().finish_request(request, client_address)
            return
        with self.tls.wrap_socket(request.dup(), server_side=True) as encrypted:
            super().finish_request(encrypted, client_address)

    def handle_error(self, *_):
        """Scanners break handshakes off."""


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(time.monotonic())
        self.send_response(200 if self.path in ("/", "/a", "/b?c=1") else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    do_POST = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_):
        """Print no access log."""


def busiest(times):
    """Return the largest number of times within one second."""
    return max(sum(first <= at < first + 1 for at in times) for first in times)


def test_a_scan_opens_at_most_five_connections_a_second(settings, tmp_path):
    if wall.problem_here():
        pytest.skip(wall.problem_here())
    settings.CRAWLER_WALL = settings.ALLOW_PRIVATE_HOSTS = True
    tls: ssl.SSLContext = write_certificate(tmp_path, key=rsa.generate_private_key(65537, 2048))[1]
    with Website(tls) as website:
        Thread(target=website.serve_forever, daemon=True).start()
        port = website.server_address[1]
        settings.LOCALHOST_WEBSITES = {HOST: port}
        engines = [
            msgspec.structs.replace(
                engine, command=[word.replace("$host:443", f"$host:{port}") for word in engine.command]
            )
            for engine in read_engines(Path(settings.BASE_DIR) / "deploy/engines.toml")
            if engine.program()
        ]
        queue.add(factories.make_scannable(HOST), by="ada", profile="standard")
        job = Worker("worker", engines, lambda: False).run_one()
        website.shutdown()
    for run in job.runs.order_by("pk"):
        print(run.engine, run.state, run.reason, f"{(run.ended_at - run.started_at).total_seconds():.0f} s")
        assert run.state == "ok", run.log
    print(len(website.connections), "connections,", len(website.requests), "requests")
    print("in the busiest second", busiest(website.connections), busiest(website.requests))
    assert busiest(website.connections) <= 5
    assert busiest(website.requests) <= 5
