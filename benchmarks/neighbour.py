"""Effect of one member's 16 reloading tabs on another account's signed calls, and of concurrent page loads.

gunicorn serves the demo's data with the shipped gunicorn.conf.py, 2 processes of 4 threads: first one service
for pages and calls, then one for each. A tab reloads as soon as its page has loaded. Ratios are of medians or
95th percentiles of alternating bursts.
"""

import http.client
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles

from django.conf import settings
from django.db import connections

import es1
from benchmarks import databases
from benchmarks.command_line import BACKENDS, run
from benchmarks.demo_database import create_demo
from benchmarks.figures import Table
from benchmarks.http_load import LOOPBACK
from benchmarks.servers import THREADS, WORKERS, run_server

PAGE, CALL = "/sites/shop.example.com/", "/v1/site/dashboard"
CONCURRENT_PAGES = 4 * WORKERS * THREADS
TABS, CALLS = 16, 60
NAME = "threat_dashboard_neighbour"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """The session cookie of a member, and the body and secret of another account's calls."""

    cookie: str
    body: dict[str, str]
    secret: str


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:  # noqa: ARG001  # one size of data
    """Yield one table for one shared service, and one for two services."""
    environment = create_demo(backend, NAME, password="only-for-benchmarks-0123456789")  # noqa: S106
    clients = _read_clients()
    connections.close_all()
    with run_server(environment) as both:
        yield _measure(f"One service, {backend}", clients, both.port, both.port, rounds)
    api_only = environment | {"ENABLE_PORTAL": "false"}
    with run_server(environment) as pages, run_server(api_only) as calls:
        yield _measure(f"One for pages, one for calls, {backend}", clients, pages.port, calls.port, rounds)
    databases.discard(backend, NAME)


def _read_clients() -> Clients:
    # imports models: only after Django is set up
    from django.contrib.auth import get_user_model
    from django.test import Client

    from portal.models import Website

    browser = Client()
    browser.force_login(get_user_model().objects.get(username="owner"))
    own = Website.objects.get(host=PAGE.split("/")[2])
    other = Website.objects.exclude(account=own.account).select_related("account").first() or own
    return Clients(
        cookie=f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}",
        body={"host": other.host, "link_id": other.link_id, "portal_account_ref": other.account.ref},
        secret=other.account.reveal_secret(),
    )


def _measure(title: str, clients: Clients, pages: int, calls: int, rounds: int) -> Table:
    note = f"{CONCURRENT_PAGES} pages at once; {CALLS} signed calls, without and with {TABS} tabs."
    table = Table(title, note)

    def load_page() -> tuple[int, float]:
        return _timed_request(pages, "GET", PAGE, None, {"Cookie": clients.cookie})

    load_page()
    bursts = [_load_pages(load_page) for _ in range(rounds)]
    quiet: list[tuple[int, float]] = []
    busy: list[tuple[int, float]] = []
    for _ in range(rounds):
        quiet += _send_calls(clients, calls)
        with _reloading_tabs(load_page):
            busy += _send_calls(clients, calls)
    failed_pages = sum(status != 200 for burst in bursts for status, _ in burst)
    table.add("pages at once", "failed", failed_pages, "number", at_most=0)
    slowest = median(max(seconds for _, seconds in burst) for burst in bursts)
    table.add("pages at once", "slowest", slowest, "s")
    failed_calls = sum(status != 200 for status, _ in quiet + busy)
    table.add("a neighbour's call", "failed", failed_calls, "number", at_most=0)
    table.add("a neighbour's call", "p95 quiet", _p95(quiet) * 1e3, "ms")
    table.add("a neighbour's call", "p95 with tabs", _p95(busy) * 1e3, "ms")
    table.add("a neighbour's call", "times quiet", _p95(busy) / _p95(quiet), "times", at_most=2)
    return table


def _load_pages(load_page: Callable[[], tuple[int, float]]) -> list[tuple[int, float]]:
    start = threading.Barrier(CONCURRENT_PAGES)

    def load(_: int) -> tuple[int, float]:
        start.wait()
        return load_page()

    with ThreadPoolExecutor(CONCURRENT_PAGES) as threads:
        return list(threads.map(load, range(CONCURRENT_PAGES)))


@contextmanager
def _reloading_tabs(load_page: Callable[[], tuple[int, float]]) -> Iterator[None]:
    stop = threading.Event()

    def reload() -> None:
        while not stop.is_set():
            load_page()

    with ThreadPoolExecutor(TABS) as threads:
        for _ in range(TABS):
            threads.submit(reload)
        time.sleep(1)
        yield
        stop.set()


def _send_calls(clients: Clients, port: int) -> list[tuple[int, float]]:
    body = json.dumps(clients.body).encode()
    responses = []
    for _ in range(CALLS):
        nonce = os.urandom(16).hex()
        headers = es1.sign(
            clients.secret, method="POST", path=CALL, body=body, now=int(time.time()), nonce=nonce
        )
        headers |= {"Content-Type": "application/json"}
        responses.append(_timed_request(port, "POST", CALL, body, headers))
    return responses


def _timed_request(
    port: int, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> tuple[int, float]:
    """Return status and seconds of a request over a new connection."""
    started = time.perf_counter()
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, time.perf_counter() - started


def _p95(responses: list[tuple[int, float]]) -> float:
    return quantiles([seconds for _, seconds in responses], n=20, method="inclusive")[18]


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
