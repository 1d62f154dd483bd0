"""The proxy of scanners: one website at one address, few requests, and nothing else."""

import http.client
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from foundation.outbound import proxy
from foundation.outbound.proxy import Limits, WebsiteProxy
from tests.faults.certificate import write_certificate
from tests.faults.server import FaultServer, answer, send
from tests.faults.server import http as response

HOST = "shop.localhost"
pytestmark = pytest.mark.once


@pytest.fixture
def through(settings, tmp_path, monkeypatch):
    """Return a function that opens a proxy to a server of the test, over http or https."""
    settings.ALLOW_PRIVATE_HOSTS = True

    @contextmanager
    def open_proxy(
        server, *, scheme="http", requests=100, size=10**6, a_second=1000.0, allows=lambda _: True
    ):
        settings.LOCALHOST_WEBSITES = {HOST: server.port}
        if scheme == "https":
            monkeypatch.setattr(WebsiteProxy, "port", lambda _, s: server.port if s == "https" else None)
        limits = Limits(requests=requests, bytes=size, a_second=a_second)
        with WebsiteProxy(HOST, "127.0.0.1", limits, folder=tmp_path, allows=allows) as opened:
            opened.own_port = opened.listen()
            yield opened

    return open_proxy


def connect(opened):
    return http.client.HTTPConnection("127.0.0.1", opened.own_port, timeout=20)


def ask(opened, url, *, method="GET", headers=None, body=None):
    """Return the response to one request for a whole address."""
    connection = connect(opened)
    try:
        connection.request(method, url, body=body, headers=headers or {})
        found = connection.getresponse()
        return found.status, found.read(), found.headers
    finally:
        connection.close()


def tunnel(opened, server, host=HOST):
    """Return a connection of https through the proxy."""
    connection = http.client.HTTPSConnection(
        "127.0.0.1",
        opened.own_port,
        timeout=20,
        context=ssl._create_unverified_context(),
    )
    connection.set_tunnel(host, server.port)
    return connection


def test_requests_and_responses_pass_unchanged(through):
    page = answer(
        200, b"hello", headers=[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Connection", "close")]
    )
    with FaultServer(page) as server, through(server) as opened:
        port = server.port
        url = f"http://{HOST}:{port}/a?b=c"
        found = ask(opened, url, method="POST", body=b"x=y", headers={"X-Own": "z"})
    assert (found[0], found[1], found[2].get_all("Set-Cookie")) == (200, b"hello", ["a=1", "b=2"])
    received = server.received[0]
    assert received.head.startswith(b"POST /a?b=c HTTP/1.1")
    assert (received.body, received.header("x-own")) == (b"x=y", "z")
    assert received.header("host") == f"{HOST}:{port}"
    assert (opened.requests, opened.answers, opened.problem) == (1, 1, "ended")


def test_https_is_read_in_between_so_it_has_the_same_limits(through, tmp_path):
    tls = write_certificate(tmp_path)[1]
    page, statuses = answer(200, b"hello"), []
    with FaultServer(page, tls=tls) as server, through(server, scheme="https", requests=2) as opened:
        connection = tunnel(opened, server)
        for path in ("/a", "/b", "/c"):
            connection.request("GET", path, headers={"Host": f"{HOST}:{server.port}"})
            found = connection.getresponse()
            statuses.append((found.status, found.read()[:5]))
        connection.close()
        assert (statuses[:2], statuses[2][0]) == ([(200, b"hello")] * 2, 503)
        assert opened.problem == "too_many_requests"
    assert [one.head.split()[1] for one in server.received] == [b"/a", b"/b"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{trap}/",
        "http://localhost:{trap}/",
        "http://" + HOST + ":{trap}/",
        "http://" + HOST + "/",
        "http://other.localhost:{port}/",
        "http://" + HOST + ".:{port}/",
        "http://" + HOST + "@127.0.0.1:{trap}/",
        "https://" + HOST + ":{port}/",
        "ftp://" + HOST + ":{port}/",
        "//" + HOST + ":{port}/",
        "/latest/meta-data/",
        "http://" + HOST + ":x/",
    ],
)
def test_nothing_but_the_website_is_reached(through, url):
    with FaultServer(answer(200)) as trap, FaultServer(answer(200)) as server, through(server) as opened:
        headers = {"Host": f"{HOST}:{server.port}"}
        status, *_ = ask(opened, url.format(trap=trap.port, port=server.port), headers=headers)
        assert (status, opened.requests, trap.connections, server.connections) == (403, 0, 0, 0)


@pytest.mark.parametrize(
    "target", ["127.0.0.1:{trap}", HOST + ":{trap}", "other.localhost:{port}", HOST, HOST + ":"]
)
def test_no_tunnel_leads_elsewhere(through, tmp_path, target):
    tls = write_certificate(tmp_path)[1]
    with FaultServer(answer(200)) as trap, FaultServer(answer(200), tls=tls) as server:
        with through(server, scheme="https") as opened:
            status, *_ = ask(opened, target.format(trap=trap.port, port=server.port), method="CONNECT")
        assert (status, trap.connections, server.connections) == (403, 0, 0)


def test_a_tunnel_serves_no_other_name_at_the_same_address(through, tmp_path):
    tls = write_certificate(tmp_path)[1]
    with FaultServer(answer(200), tls=tls) as server, through(server, scheme="https") as opened:
        connection = tunnel(opened, server)
        connection.request("GET", "/", headers={"Host": "neighbour.example.com"})
        assert connection.getresponse().status == 403
        connection.close()
    assert server.connections == 0


def test_at_most_four_connections_at_once_and_no_more_than_the_pace(through):
    def slow(server, connection):
        server.receive(connection)
        open_now.append(1)
        most.append(len(open_now))
        server.wait(0.2)
        open_now.pop()
        connection.sendall(response(200))

    open_now, most = [], []
    with FaultServer(slow) as server, through(server, a_second=40.0) as opened:
        began = time.monotonic()
        with ThreadPoolExecutor(10) as pool:
            url = f"http://{HOST}:{server.port}/"
            assert {found[0] for found in pool.map(lambda _: ask(opened, url), range(10))} == {200}
        assert time.monotonic() - began >= 9 / 40
    assert max(most) <= proxy.MAX_CONNECTIONS
    assert opened.requests == 10


def test_a_website_that_asks_for_less_gets_half_and_at_the_third_time_the_end(through, monkeypatch):
    pauses = []
    monkeypatch.setattr(proxy.time, "sleep", pauses.append)
    busy = answer(429, headers=[("Retry-After", "7")])
    with FaultServer(answer(200), busy) as server, through(server, a_second=5.0) as opened:
        url = f"http://{HOST}:{server.port}/"
        assert [ask(opened, url)[0] for _ in range(5)] == [200, 429, 429, 429, 503]
        assert opened.problem == "blocked"
    assert len(server.received) == 4
    assert pauses[0] == 0
    assert pauses[1] <= 0.2
    assert all(6 < pause <= 7.4 for pause in pauses[2:])
    assert opened._pause == 0.2 * 2**3


def test_a_wait_of_thousands_of_digits_counts_as_asking_for_less(through, monkeypatch):
    monkeypatch.setattr(proxy.time, "sleep", lambda _: None)
    busy = answer(429, headers=[("Retry-After", "9" * 5000)])
    with FaultServer(busy) as server, through(server) as opened:
        url = f"http://{HOST}:{server.port}/"
        assert [ask(opened, url)[0] for _ in range(4)] == [429, 429, 429, 503]
        assert opened.problem == "blocked"


def test_half_of_many_refusals_make_a_refused_scan(through):
    with FaultServer(*[answer(200)] * 12, answer(403)) as server, through(server) as opened:
        url = f"http://{HOST}:{server.port}/"
        for _ in range(23):
            ask(opened, url)
        assert not opened.is_refused
        ask(opened, url)
        assert opened.is_refused


def test_too_many_bytes_end_the_run_and_one_long_response_is_cut(through, monkeypatch):
    monkeypatch.setattr(proxy, "_MAX_RESPONSE", 1000)
    with FaultServer(answer(200, b"x" * 5000)) as server, through(server, size=1500) as opened:
        url = f"http://{HOST}:{server.port}/"
        assert [len(ask(opened, url)[1]) for _ in range(2)] == [1000, 1000]
        assert (ask(opened, url)[0], opened.problem) == (503, "too_much_traffic")
    assert server.connections == 2


def test_a_path_that_robots_txt_forbids_is_not_requested(through):
    with FaultServer(answer(200)) as server, through(server, allows=lambda path: path == "/a?b") as opened:
        base = f"http://{HOST}:{server.port}"
        assert [ask(opened, base + path)[0] for path in ("/", "/a?b")] == [403, 200]
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "broken",
    [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", b""],
    ids=["no", "half", "none"],
)
def test_a_broken_website_is_a_502(through, broken):
    with FaultServer(send(broken)) as server, through(server) as opened:
        assert ask(opened, f"http://{HOST}:{server.port}/")[0] == 502


@pytest.mark.parametrize(
    "head",
    [
        "POST {url} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST {url} HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST {url} HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
        "POST {url} HTTP/1.1\r\nContent-Length: 1\u00b2\r\n\r\n",
        f"POST {{url}} HTTP/1.1\r\nContent-Length: {'9' * 5_000}\r\n\r\n",
        "POST {url} HTTP/1.1\r\nContent-Length: \r\n\r\n",
    ],
)
def test_bodies_that_cannot_be_measured_are_refused(through, head):
    with FaultServer(answer(200)) as server, through(server) as opened:
        with socket.create_connection(("127.0.0.1", opened.own_port), 10) as plain:
            plain.sendall(head.format(url=f"http://{HOST}:{server.port}/").encode("latin-1"))
            assert plain.recv(100).startswith(b"HTTP/1.1 413")
        assert server.connections == 0
