"""Runs in which something that calls need is replaced or away, while they come in at an even pace."""

import http.client
import json
import shutil
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from benchmarks import cluster, databases
from benchmarks.command_line import Unavailable
from benchmarks.http_load import LOOPBACK
from benchmarks.servers import free_port, run_server
from benchmarks.signed_calls import Pace, in_threads, send, signed_call
from benchmarks.storage_runs import backend_of, manage

PACE, CLIENTS = 50, 8
WAITING = 2  # clients of a service that lets them wait; more than its threads would queue
COPY = "threat_dashboard_outages"
REVOKED_WITHIN = 1.0  # seconds
ANSWERED_WITHIN = 6.0
BACK_WITHIN = 5.0
SETTLING = 2.5  # seconds, for calls under way and for how long readiness is remembered
PROBES = ("/livez", "/readyz", "/accounts/login/")
REFUSED = "503 unavailable"
LOCK = "LOCK TABLE dashboard_api_nonce IN ACCESS EXCLUSIVE MODE"


def secrets(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong while a secret was replaced ``rounds`` times by the product's commands.

    Every call is answered, with the old secret until the new one is there. The old one is answered until it
    is revoked, and refused within a second afterwards, by each process. Control: one that was not revoked.
    """
    from dashboard_api.models import Secret  # only after Django is set up

    with _copied(environment) as environment, run_server(environment) as server:
        pace, account = Pace(server.port, [body], PACE, clients=CLIENTS), body["portal_account_ref"]
        old_id = Secret.objects.get(account__ref=account).pk  # the same in the copy
        with pace.going_on():
            for number in range(1, rounds + 1):
                old, issued = pace.secret, json.loads(manage(environment, "issue_secret", account, "--json"))
                pace.secret = issued["secret"]
                if (status := send(server.port, signed_call(body, secret=old))) != "200":
                    yield f"round {number}: {status} before it was revoked"
                manage(environment, "revoke_secret", account, str(old_id))
                old_id = issued["id"]
                time.sleep(REVOKED_WITHIN)
                yield from _still_taken(f"round {number}", server.port, body, old)
            if not any(_still_taken("control", server.port, body, pace.secret)):
                yield "the control, a secret that was not revoked, was not noticed"
        yield from (f"a call got {status}" for status in set(pace.others))
    print(
        f"{rounds} secrets replaced, {len(pace.answered)} calls at up to {PACE} a second answered meanwhile"
    )


def _still_taken(where: str, port: int, body: dict[str, Any], secret: str) -> Iterator[str]:
    seen = {send(port, signed_call(body, secret=secret)) for _ in range(4 * CLIENTS)}
    if seen != {"401 invalid_signature"}:
        yield f"{where}: {seen} after it was revoked"


def lock(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong while calls could not write for ``rounds`` seconds.

    On SQLite the locks of its files are held, on PostgreSQL one of the table of nonces.
    """
    with _copied(environment) as environment, run_server(environment) as server:
        yield from _while_away("the lock", server.port, body, _locked(environment), rounds, ready=None)


def database(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong while PostgreSQL was away for ``rounds`` seconds."""
    with run_server(environment) as server:
        yield from _while_away("PostgreSQL", server.port, body, cluster.stopped(), rounds, ready=503)


def redis(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong while Redis was away for ``rounds`` seconds; calls do not need it."""
    if shutil.which("redis-server") is None:
        raise Unavailable("no redis-server")
    port = free_port()
    with ExitStack() as stack:
        process = stack.enter_context(_redis_server(port))
        url = {"REDIS_URL": f"redis://{LOOPBACK}:{port}/0"}
        server = stack.enter_context(run_server(environment | url))

        @contextmanager
        def away() -> Iterator[None]:
            process.kill()
            process.wait()
            yield
            stack.enter_context(_redis_server(port))

        yield from _while_away("Redis", server.port, body, away(), rounds, ready=200)


def _while_away(
    what: str,
    port: int,
    body: dict[str, Any],
    away: AbstractContextManager[None],
    seconds: int,
    *,
    ready: int | None,
) -> Iterator[str]:
    """Yield what was wrong with calls and probes while something was away.

    ``ready`` is what readiness must say meanwhile: with 200, calls must be answered, otherwise refused.
    Control: answers must be noticed where calls must be refused, and refusals where they must not.
    """
    if not (settings.STATIC_ROOT / "staticfiles.json").exists():  # other runs may be starting servers with it
        call_command("collectstatic", interactive=False, verbosity=0)
    pace, probing = Pace(port, [body], PACE, clients=WAITING), _Probing(port)
    with pace.going_on(), probing.going_on():
        time.sleep(SETTLING)
        before, answered_before = list(pace.others), len(pace.answered)
        probes_before = probing.taken()
        with away:
            time.sleep(SETTLING)
            answered = len(pace.answered)
            probing.taken()
            time.sleep(seconds - SETTLING)
            meanwhile, probes = pace.others[len(before) :], probing.taken()
            answered = len(pace.answered) - answered
        time.sleep(BACK_WITHIN)
        recovered, late = len(pace.answered), len(pace.others)
        probing.taken()
        time.sleep(SETTLING)
        later, afterwards = pace.others[late:], probing.taken()
        recovered = len(pace.answered) - recovered
    yield from (f"a call before got {status}" for status in set(before))
    yield from _wrong_calls(f"without {what}", answered, meanwhile, ready)
    opposite = (0, [REFUSED]) if ready == 200 else (answered_before, before)
    if not any(_wrong_calls("control", *opposite, ready)):
        yield "the control, other answers, was not noticed"
    if ready == 503 and not any(_wrong_probes("control", probes_before, ready)):
        yield "the control, the probes of before, was not noticed"
    if pace.slowest > ANSWERED_WITHIN:
        yield f"a call took {pace.slowest:.1f} s"
    if later or not recovered:
        yield f"{BACK_WITHIN:.0f} s later: {recovered} calls answered, others {dict(Counter(later))}"
    yield from _wrong_probes(f"without {what}", probes, ready)
    yield from _wrong_probes("afterwards", afterwards, 200)
    print(f"{what} away for {seconds} s at up to {PACE} calls a second: {answered} calls answered meanwhile,")
    print(f"{dict(Counter(meanwhile))}, none in more than {pace.slowest:.1f} s; {probes}")


def _wrong_calls(when: str, answered: int, others: list[str], ready: int | None) -> Iterator[str]:
    if set(others) - {REFUSED} or bool(answered) != (ready == 200):
        yield f"{when}: {answered} calls answered, others {dict(Counter(others))}"


def _wrong_probes(when: str, seen: dict[str, dict[int, int]], ready: int | None) -> Iterator[str]:
    allowed = {"/livez": {200}, "/readyz": {ready} if ready else {200, 503}, "/accounts/login/": {200, 503}}
    for path, expected in allowed.items():
        if not seen[path] or not set(seen[path]) <= expected:
            yield f"{when}: {path} {seen[path]}"


class _Probing:
    """A thread that asks each of PROBES four times a second, and counts the statuses; 0: no response."""

    def __init__(self, port: int) -> None:
        self._seen: Counter[tuple[str, int]] = Counter()
        self._port = port

    def taken(self) -> dict[str, dict[int, int]]:
        """Return the number of each status by path since the last time."""
        seen, self._seen = self._seen, Counter()
        return {path: {status: seen[path, status] for at, status in seen if at == path} for path in PROBES}

    @contextmanager
    def going_on(self) -> Iterator[None]:
        with in_threads(self._probe, PROBES):
            yield

    def _probe(self, done: threading.Event, path: str) -> None:
        while not done.wait(0.25):
            connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=30)
            try:
                connection.request("GET", path)
                status = connection.getresponse().status
            except (OSError, http.client.HTTPException):
                status = 0
            finally:
                connection.close()
            self._seen.update([(path, status)])


@contextmanager
def _locked(environment: dict[str, str]) -> Iterator[None]:
    if backend_of(environment) == "postgresql":
        with psycopg.connect(environment["DATABASE_URL"]) as connection:
            connection.execute(LOCK)
            yield
            connection.rollback()
        return
    with ExitStack() as stack:
        for name in (COPY, f"{COPY}.short-lived"):
            file = stack.enter_context(
                closing(sqlite3.connect(databases.sqlite_file(name), timeout=30, isolation_level=None))
            )
            file.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def _copied(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Use a copy of the database, which the run may change."""
    backend = backend_of(environment)
    connections.close_all()
    name = environment["DATABASE_URL"].rpartition("/")[2].partition(".")[0]
    databases.copy(backend, name, to=COPY)
    yield environment | databases.environment(backend, COPY)
    databases.discard(backend, COPY)


@contextmanager
def _redis_server(port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = ["redis-server", "--port", str(port), "--bind", LOOPBACK, "--save", ""]
    with subprocess.Popen(command, cwd=databases.FOLDER, stdout=subprocess.DEVNULL) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.terminate()
