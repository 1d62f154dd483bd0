import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from portal.gateway import DashboardRequest, Service, TooManyCalls, fetch_dashboard
from portal.gateway.bulkhead import calls
from tests.faults.server import FaultServer, http
from tests.portal.gateway.test_client import GOOD, SITE, call


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
        calls = [threads.submit(fetch_dashboard, service, SITE, DashboardRequest()) for _ in range(2)]
        for _ in calls:
            assert blocked.arrived.acquire(timeout=60)
        with pytest.raises(TooManyCalls):
            fetch_dashboard(service, SITE, DashboardRequest())
        assert server.connections == 2
        blocked.may_respond.set()
        assert [call.result().ok for call in calls] == [True, True]
        assert fetch_dashboard(service, SITE, DashboardRequest()).ok


def test_a_failed_call_releases_its_place():
    with FaultServer(lambda *_: None) as server:
        for _ in range(5):
            with pytest.raises(Exception, match="lost"):
                call(server)
    with calls.place(1):
        pass
