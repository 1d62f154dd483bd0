import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import es1
from benchmarks.http_load import Burst, LoadProcess, messages, send

SECRET = "es1_test_0123456789abcdef"


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((dict(self.headers), body))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.requests = []
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def make_burst(server=None, **fields):
    defaults = {"path": "/v1/site/dashboard", "bodies": [{"page": 1}, {"page": 2}], "secret": SECRET}
    return Burst(port=server.server_port if server else 1, **(defaults | fields))


def test_messages_are_signed_each_with_its_own_nonce():
    sent = messages(make_burst(count=5), now=1_767_225_600)
    nonces = set()
    for message in sent:
        head, _, body = message.partition(b"\r\n\r\n")
        lines = (line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        verified = es1.verify(
            [SECRET],
            {name.lower(): value for name, value in lines},
            method="POST",
            path="/v1/site/dashboard",
            body=body,
            now=1_767_225_600,
            window=300,
        )
        nonces.add(verified.nonce)
    assert len(nonces) == 5


def test_messages_take_the_bodies_in_turn():
    sent = messages(make_burst(count=5), now=1_767_225_600)
    assert [json.loads(message.partition(b"\r\n\r\n")[2])["page"] for message in sent] == [1, 2, 1, 2, 1]


def test_send_counts_the_responses_and_stops_at_its_count(server):
    responses = asyncio.run(send(make_burst(server, count=50)))
    assert responses.statuses == {"200": 50}
    assert responses.count == len(server.requests) == 50
    assert 0 < responses.p50_ms <= responses.p95_ms <= responses.p99_ms


def test_send_stops_when_its_time_is_over(server):
    responses = asyncio.run(send(make_burst(server, count=100_000, seconds=0.2)))
    assert 0 < responses.count < 100_000


def test_load_process_sends_several_bursts(server):
    with LoadProcess() as load:
        assert load.send(make_burst(server, count=10)).statuses == {"200": 10}
        assert load.send(make_burst(server, count=3)).statuses == {"200": 3}
