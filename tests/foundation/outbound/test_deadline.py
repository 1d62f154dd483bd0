import time
from contextlib import closing
from http.client import HTTPException
from urllib.parse import urlsplit

import pytest

from foundation.outbound.deadline import ConnectFailed, Deadline, DeadlinePassed, TimedHTTPConnection
from tests.faults.server import TOO_LATE, FaultServer, answer, closed_port, drip, http, say_nothing, send


def call(url, *, seconds):
    address = urlsplit(url)
    with closing(
        TimedHTTPConnection(address.hostname, address.port, deadline=Deadline(seconds))
    ) as connection:
        connection.request("GET", "/", preload_content=False)
        return connection.getresponse().read()


def test_a_call_within_its_deadline_returns_the_body():
    with FaultServer(answer(200, b"{}")) as server:
        assert call(server.base_url, seconds=5) == b"{}"


HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"


@pytest.mark.parametrize("before", [HINTS, HINTS * 3, b"HTTP/1.1 100 Continue\r\n\r\n" + HINTS])
def test_hints_before_a_response_are_not_the_response(before):
    with FaultServer(send(before + http(200, b"{}"))) as server:
        assert call(server.base_url, seconds=5) == b"{}"


def test_a_peer_that_only_sends_hints_is_left():
    with FaultServer(send(HINTS * 1_000)) as server, pytest.raises(HTTPException, match="1xx"):
        call(server.base_url, seconds=5)


@pytest.mark.parametrize("script", [say_nothing, drip(b"", b"HTTP/1.1 200 OK\r\n" * 50)])
def test_a_slow_peer_ends_the_call_at_its_deadline(script):
    started = time.monotonic()
    with FaultServer(script) as server, pytest.raises(DeadlinePassed):
        call(server.base_url, seconds=0.5)
    assert time.monotonic() - started < TOO_LATE


def test_a_refused_connection_is_distinguished_from_a_slow_one():
    with pytest.raises(ConnectFailed, match="refused"):
        call(f"http://127.0.0.1:{closed_port()}", seconds=2)


def test_a_pause_is_allowed_only_within_the_deadline():
    deadline = Deadline(1)
    assert deadline.allows(0.1)
    assert not deadline.allows(2)


def test_no_time_is_left_after_the_deadline():
    deadline = Deadline(0)
    assert not deadline.allows(0)
    with pytest.raises(DeadlinePassed):
        deadline.remaining()
