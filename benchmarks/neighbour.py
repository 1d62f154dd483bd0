"""Concurrent pages, and the cost of one member's 16 reloading tabs to another account's signed calls.

The demo's data, served by gunicorn with the shipped gunicorn.conf.py, 2 processes of 4 threads, by one
service for pages and calls, and by two, one for each. Tabs reload as soon as they are answered. Ratios are of
medians, or of 95th percentiles, taken by turns in one run.
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
from django.core.management import call_command
from django.db import connections

import es1
from benchmarks import records
from benchmarks.command_line import ENGINES, run
from benchmarks.figures import Table
from benchmarks.load import LOOPBACK
from benchmarks.servers import THREADS, WORKERS, serving

PAGE, CALL = "/sites/shop.example.com/", "/v1/site/dashboard"
AT_ONCE = 4 * WORKERS * THREADS
TABS, CALLS = 16, 60
NAME = "threat_dashboard_neighbour"


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The session that loads pages, and the credentials with which another account signs."""

    cookie: str
    fields: dict[str, str]
    secret: str


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:  # noqa: ARG001  # one size of data
    """One table for each way of serving."""
    with seeded(engine) as data:
        shipped = records.environment(engine, NAME) | {"DJANGO_SETTINGS_MODULE": "config.settings"}
        with serving(shipped) as one:
            yield _measured(f"One service, {engine}", data, one.port, one.port, rounds)
        with serving(shipped) as pages, serving(shipped | {"ENABLE_PORTAL": "false"}) as calls:
            yield _measured(f"One for pages, one for calls, {engine}", data, pages.port, calls.port, rounds)


@contextmanager
def seeded(engine: str) -> Iterator[Data]:
    """Seed the demo's data into a separate database; yield a session and another account's credentials."""
    records.create(engine, NAME)
    records.use(engine, NAME)
    # Models can be imported only where Django is set up.
    from django.contrib.auth import get_user_model
    from django.test import Client

    from config.demo.seeding import seed
    from portal.models import Website

    for alias in settings.DATABASES:
        call_command("migrate", database=alias, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    seed("only-for-benchmarks-0123456789")
    browser = Client()
    browser.force_login(get_user_model().objects.get(username="owner"))
    own = Website.objects.get(host=PAGE.split("/")[2])
    other = Website.objects.exclude(account=own.account).select_related("account").first() or own
    connections.close_all()
    yield Data(
        cookie=f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}",
        fields={"host": other.host, "link_id": other.link_id, "portal_account_ref": other.account.ref},
        secret=other.account.reveal_secret(),
    )
    records.discard(engine, NAME)


def _measured(title: str, data: Data, pages: int, calls: int, rounds: int) -> Table:
    table = Table(title, f"{AT_ONCE} pages at once; {CALLS} signed calls, quiet and with {TABS} tabs.")
    view = _viewer(data, pages)
    view()
    bursts = [_burst(view) for _ in range(rounds)]
    quiet: list[tuple[int, float]] = []
    busy: list[tuple[int, float]] = []
    for _ in range(rounds):
        quiet += _calls(data, calls)
        with _reloading(view):
            busy += _calls(data, calls)
    failed = sum(status != 200 for burst in bursts for status, _ in burst)
    table.add("pages at once", "failed", failed, "number", at_most=0)
    table.add("pages at once", "slowest", median(max(took for _, took in burst) for burst in bursts), "s")
    refused = sum(status != 200 for status, _ in quiet + busy)
    table.add("a neighbour's call", "failed", refused, "number", at_most=0)
    table.add("a neighbour's call", "p95 quiet", _p95(quiet) * 1e3, "ms")
    table.add("a neighbour's call", "p95 with tabs", _p95(busy) * 1e3, "ms")
    table.add("a neighbour's call", "times quiet", _p95(busy) / _p95(quiet), "times", at_most=2)
    return table


def _viewer(data: Data, port: int) -> Callable[[], tuple[int, float]]:
    def view() -> tuple[int, float]:
        return _asked(port, "GET", PAGE, None, {"Cookie": data.cookie})

    return view


def _burst(view: Callable[[], tuple[int, float]]) -> list[tuple[int, float]]:
    together = threading.Barrier(AT_ONCE)

    def one(_: int) -> tuple[int, float]:
        together.wait()
        return view()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(one, range(AT_ONCE)))


@contextmanager
def _reloading(view: Callable[[], tuple[int, float]]) -> Iterator[None]:
    over = threading.Event()

    def tab() -> None:
        while not over.is_set():
            view()

    with ThreadPoolExecutor(TABS) as threads:
        for _ in range(TABS):
            threads.submit(tab)
        time.sleep(1)
        yield
        over.set()


def _calls(data: Data, port: int) -> list[tuple[int, float]]:
    body = json.dumps(data.fields).encode()
    answers = []
    for _ in range(CALLS):
        nonce = os.urandom(16).hex()
        headers = es1.sign(
            data.secret, method="POST", path=CALL, body=body, now=int(time.time()), nonce=nonce
        )
        answers.append(_asked(port, "POST", CALL, body, headers | {"Content-Type": "application/json"}))
    return answers


def _asked(
    port: int, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> tuple[int, float]:
    """Return status and seconds of one answer, over a new connection."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, time.perf_counter() - began


def _p95(answers: list[tuple[int, float]]) -> float:
    return quantiles([took for _, took in answers], n=20, method="inclusive")[18]


if __name__ == "__main__":
    run(tables, __doc__, engines=ENGINES)
