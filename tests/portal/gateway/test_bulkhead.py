import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from portal.gateway.bulkhead import calls
from portal.gateway.errors import TooManyCalls
from portal.gateway.health import health_of
from portal.gateway.target import Service
from tests.faults.server import FaultServer, http
from tests.portal.gateway.test_client import GOOD, ask, fetch_dashboard

SERVICE = Service(base_url="http://127.0.0.1:1", timeout_seconds=40, max_concurrent_calls=2)


class BlockedServer:
    """A script of a server that waits before it responds."""

    def __init__(self):
        self.arrived = threading.Semaphore(0)
        self.may_respond = threading.Event()

    def __call__(self, server, connection):
        server.receive(connection)
        self.arrived.release()
        self.may_respond.wait(60)
        connection.sendall(http(200, GOOD))


def test_a_call_beyond_the_limit_is_refused_at_once_and_not_sent():
    blocked = BlockedServer()
    with FaultServer(blocked) as server, ThreadPoolExecutor(2) as threads:
        service = Service(base_url=server.base_url, timeout_seconds=40, max_concurrent_calls=2)
        calls = [threads.submit(fetch_dashboard, service) for _ in range(2)]
        for _ in calls:
            assert blocked.arrived.acquire(timeout=60)
        with pytest.raises(TooManyCalls):
            fetch_dashboard(service)
        assert server.connections == 2
        blocked.may_respond.set()
        assert [call.result().ok for call in calls] == [True, True]
        assert fetch_dashboard(service).ok


def test_a_call_waits_for_its_turn_while_the_service_works():
    blocked = BlockedServer()
    with FaultServer(blocked) as server, ThreadPoolExecutor(3) as threads:
        service = replace(SERVICE, base_url=server.base_url, patience_seconds=60)
        calls = [threads.submit(fetch_dashboard, service) for _ in range(3)]
        assert all(blocked.arrived.acquire(timeout=60) for _ in range(2))
        assert server.connections == 2
        blocked.may_respond.set()
        assert [call.result().ok for call in calls] == [True] * 3


def test_a_turn_that_does_not_come_in_time_is_a_refusal():
    blocked = BlockedServer()
    with FaultServer(blocked) as server, ThreadPoolExecutor(2) as threads:
        service = replace(SERVICE, base_url=server.base_url, patience_seconds=0.1)
        calls = [threads.submit(fetch_dashboard, service) for _ in range(2)]
        assert all(blocked.arrived.acquire(timeout=60) for _ in calls)
        with pytest.raises(TooManyCalls):
            fetch_dashboard(service)
        blocked.may_respond.set()
        assert [call.result().ok for call in calls] == [True] * 2


def test_no_call_waits_for_its_turn_after_a_failure():
    """Otherwise a service that is down would hold every thread of the portal."""
    blocked = BlockedServer()
    with FaultServer(blocked) as server, ThreadPoolExecutor(2) as threads:
        service = replace(SERVICE, base_url=server.base_url, patience_seconds=60)
        calls = [threads.submit(fetch_dashboard, service) for _ in range(2)]
        assert all(blocked.arrived.acquire(timeout=60) for _ in calls)
        health_of(server.base_url).record(failed=True)
        with pytest.raises(TooManyCalls):
            fetch_dashboard(service)
        blocked.may_respond.set()
        assert [call.result().ok for call in calls] == [True] * 2


def test_a_failed_call_releases_its_place():
    with FaultServer(lambda *_: None) as server:
        for _ in range(5):
            with pytest.raises(Exception, match="lost"):
                ask(server)
    with calls.place(1):
        pass
