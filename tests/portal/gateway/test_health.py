"""The circuit breaker and the budget for retries."""

import itertools

import pytest

from portal.gateway import client
from portal.gateway import health as health_module
from portal.gateway.errors import ServiceDown
from portal.gateway.health import Health
from portal.gateway.target import Service
from signed_api.errors import Unreachable
from signed_api.transport import Exchange
from tests.faults.server import FaultServer, answer
from tests.portal.gateway.test_client import GOOD, ask, fetch_dashboard

DOWN = answer(500, b"")


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(health_module, "time", clock)
    return clock


def fail(health, times):
    for _ in range(times):
        health.check()
        health.record(failed=True)


def test_after_five_failures_in_a_row_nothing_is_sent(monkeypatch):
    monkeypatch.setattr("signed_api.client.PAUSE_SECONDS", 0)
    with FaultServer(answer(503, b""), answer(503, b""), answer(200, GOOD), answer(503, b"")) as server:
        with pytest.raises(Unreachable):
            ask(server)
        assert ask(server).ok
        for _ in range(3):
            with pytest.raises(Unreachable):
                ask(server)
        assert server.connections == 3 + 5
        with pytest.raises(ServiceDown):
            ask(server)
        assert server.connections == 3 + 5


def test_a_service_that_answers_500_or_refuses_is_not_down():
    with FaultServer(DOWN) as server:
        for _ in range(7):
            with pytest.raises(Unreachable, match="500"):
                ask(server)
        assert server.connections == 7


def test_one_probe_is_sent_every_ten_seconds_until_one_succeeds(clock):
    health = Health()
    fail(health, 5)
    with pytest.raises(ServiceDown):
        health.check()
    clock.now += 10
    health.check()  # the probe
    with pytest.raises(ServiceDown):
        health.check()
    health.record(failed=True)
    clock.now += 9
    with pytest.raises(ServiceDown):
        health.check()
    clock.now += 1
    health.check()
    assert not health.take_retry()
    health.record(failed=False)
    health.check()
    assert health.take_retry()


def test_a_probe_without_an_outcome_is_followed_by_another(clock):
    health = Health()
    fail(health, 5)
    clock.now += 10
    health.check()
    clock.now += 10
    health.check()


CALLS = 10_000


@pytest.fixture
def attempts_of(monkeypatch, clock):
    """Return a function that counts the attempts of many calls to a service with these statuses in turn."""
    monkeypatch.setattr("signed_api.client.PAUSE_SECONDS", 0)

    def attempts_of(*statuses):
        name = "-".join(map(str, statuses))  # each has a health of its own
        service = Service(base_url=f"https://{name}.example.com", timeout_seconds=10)
        coming, sent = itertools.cycle(statuses), itertools.count()

        def attempt(url, body, **_):
            next(sent)
            return Exchange(
                url=url, sent_headers={}, sent_body=body, status=next(coming), headers={}, body=GOOD
            )

        monkeypatch.setattr(client, "attempt", attempt)
        for _ in range(CALLS):
            try:
                fetch_dashboard(service)
            except (Unreachable, ServiceDown):
                continue
        return next(sent)

    return attempts_of


def test_at_most_a_tenth_of_many_calls_is_repeated(attempts_of):
    assert CALLS < attempts_of(503, 200) <= CALLS * 1.1 + health_module.MAX_SAVED_RETRIES


def test_while_the_service_is_down_no_call_is_repeated(attempts_of, clock):
    assert attempts_of(503) == health_module.MAX_FAILURES
    assert attempts_of(503) == 0
    clock.now += health_module.PROBE_SECONDS
    assert attempts_of(503) == 1
