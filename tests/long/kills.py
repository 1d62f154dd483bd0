"""Killed processes of a server lose no nonce."""

import os
import random
import signal
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import databases
from benchmarks.servers import Server, children_of, run_server
from tests.long.signed_calls import NO_RESPONSE, Call, nonce_of, send, signed_call

CLIENTS = 8
BETWEEN_KILLS = 0.3  # seconds
PAGE_BYTES = 4096  # of SQLite
REFUSED_AGAIN = {"401 replayed_nonce", "401 stale_timestamp"}


def kills(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong after ``rounds`` calls during which processes of the server were killed.

    Controls: a store that forgets nonces too early, and a file with a page of zeros, must be noticed.
    """
    calls = [body] * rounds
    with run_server(environment) as server:
        with _killing(server) as killed, ThreadPoolExecutor(CLIENTS) as clients:

            def ask(body: dict[str, Any]) -> tuple[Call, str]:
                call = signed_call(body)
                return call, send(server.port, call)

            sent = list(clients.map(ask, calls))
        answered = [call for call, status in sent if status == "200"]
        yield from _unexpected(Counter(status for _, status in sent), {"200", NO_RESPONSE})
        with ThreadPoolExecutor(CLIENTS) as clients:
            again = Counter(clients.map(lambda call: send(server.port, call), answered))
        yield from _unexpected(again, REFUSED_AGAIN)
        yield from _not_on_record(answered)
        send(server.port, call := signed_call(body))
        _prune(later=timedelta(hours=1))
        if not any(_not_on_record(answered)):
            yield "the control, calls that have no nonce, was not noticed"
        if not any(_unexpected(Counter([send(server.port, call)]), REFUSED_AGAIN)):
            yield "the control, a store that forgets, was not noticed"
    files = _files(environment)
    yield from filter(None, map(_broken, files))
    yield from (
        f"the control, zeros in {file}, was not noticed" for file in files if not _broken_with_zeros(file)
    )
    print(f"{rounds} calls, {len(killed)} processes killed, {len(answered)} answered and all repeated")


@contextmanager
def _killing(server: Server) -> Iterator[list[int]]:
    """Kill a random process of the server again and again in the block; yield those killed so far."""
    done, killed = threading.Event(), []

    def kill() -> None:
        while True:
            if processes := children_of(server.process):
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(process := random.choice(processes), signal.SIGKILL)
                    killed.append(process)
            if done.wait(BETWEEN_KILLS):
                return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        done.set()
        thread.join()


def _not_on_record(answered: list[Call]) -> Iterator[str]:
    if missing := len(answered) - _on_record(answered):
        yield f"{missing} answered calls are not on record"


def _on_record(answered: list[Call]) -> int:
    """Return how many of the calls are on record, each in the row of its nonce."""
    from dashboard_api.models import Nonce  # only after Django is set up

    nonces = [nonce_of(call) for call in answered]
    parts = [nonces[start : start + 500] for start in range(0, len(nonces), 500)]
    return sum(Nonce.objects.filter(nonce__in=part).exclude(request_id="").count() for part in parts)


def _unexpected(seen: Counter[str], expected: set[str]) -> Iterator[str]:
    yield from (f"{count} x {status}" for status, count in seen.items() if status not in expected)


def _files(environment: dict[str, str]) -> list[Path]:
    """Return the files of SQLite; none on PostgreSQL."""
    if not environment["DATABASE_URL"].startswith("sqlite:///"):
        return []
    name = environment["DATABASE_URL"].removeprefix("sqlite:///").removesuffix(".sqlite3")
    return list(databases.FOLDER.glob(f"{name.rpartition('/')[2]}*.sqlite3"))


def _broken(file: Path) -> str:
    """Return what SQLite says about a file that is not whole; empty: it is whole."""
    with closing(sqlite3.connect(file)) as connection:
        try:
            (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
        except sqlite3.DatabaseError as error:
            answer = str(error)
    return "" if answer == "ok" else f"{file}: {answer}"


def _broken_with_zeros(file: Path) -> str:
    """Return what SQLite says about a copy whose last page is zeros."""
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(file)) as connection:
        connection.execute("VACUUM INTO ?", (copy := f"{folder}/{file.name}",))
        data = Path(copy).read_bytes()
        Path(copy).write_bytes(data[:-PAGE_BYTES] + bytes(PAGE_BYTES))
        return _broken(Path(copy))


def _prune(*, later: timedelta = timedelta()) -> int:
    """Prune the nonces that are expired, or will be later, and return how many remain."""
    from dashboard_api.models import Nonce  # only after Django is set up

    now = datetime.now(UTC) + later
    while Nonce.objects.prune(now=now, batch=1_000):
        pass
    return Nonce.objects.count()
