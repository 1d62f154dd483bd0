"""Races for nonces, backups under load, and the order of writes to the disk."""

import multiprocessing
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from django.db import connections

from benchmarks import databases
from benchmarks.command_line import Unavailable
from benchmarks.servers import Server, children_of, run_server
from tests.long.signed_calls import Pace, send, signed_call

PROCESSES = 16
BACKUP_PACE = 50  # calls a second
BETWEEN_BACKUPS = 1.0  # seconds, at least
RESTORED = "threat_dashboard_restored"


def races(*_: object, rounds: int) -> Iterator[str]:
    """Yield what was wrong in ``rounds`` rounds in which 16 processes claim one nonce.

    Control: memory of each process's own must let all of them win.
    """
    connections.close_all()
    context = multiprocessing.get_context("fork")
    together, start = context.Barrier(PROCESSES), f"race-{time.time_ns()}"
    with context.Pool(PROCESSES, _join_race, (together, start)) as pool:
        results = pool.map(_race, [rounds] * PROCESSES, chunksize=1)
    wins = [sum(won for won, _ in round_) for round_ in zip(*results, strict=True)]
    controls = [sum(won for _, won in round_) for round_ in zip(*results, strict=True)]
    yield from (f"round {number}: {won} winners" for number, won in enumerate(wins, 1) if won != 1)
    if set(controls) != {PROCESSES}:
        yield "the control, memory of each process's own, was not noticed"
    print(
        f"{rounds} rounds of {PROCESSES} processes, {wins.count(1)} with one winner; control: {controls[0]}"
    )


_racing: dict[str, Any] = {}


def _join_race(together: Any, start: str) -> None:
    _racing.update(together=together, start=start)


def _race(rounds: int) -> list[tuple[bool, bool]]:
    """Return for each round whether this process won the nonce in the store, and in its own memory."""
    from dashboard_api.models import CallFacts, Nonce, NonceClaim

    at, own, won = datetime.now(UTC), set[str](), []
    facts = CallFacts(at, 1, None, "site/dashboard", "0" * 16, "192.0.2.1")
    for number in range(rounds):
        nonce = f"{_racing['start']}-{number}"
        _racing["together"].wait(60)
        claim = Nonce.objects.claim(1, nonce, expires_at=at + timedelta(minutes=6), facts=facts)
        won.append((claim is NonceClaim.ACCEPTED, nonce not in own))
        own.add(nonce)
    return won


def backups(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong with ``rounds`` backups under load, each restored into an empty database.

    Each must hold the nonce of every call that was answered before it began. Control: the backup before it
    must lack some of them.
    """
    with tempfile.TemporaryDirectory() as parent, run_server(environment) as server:
        pace, before, answered, noticed = Pace(server.port, body, BACKUP_PACE), set[str](), 0, 0
        with pace.going_on():
            for number in range(1, rounds + 1):
                time.sleep(BETWEEN_BACKUPS)
                due = set(pace.answered)
                _manage(environment, "backup", parent)
                nonces, fault = _restored(environment, max(Path(parent).iterdir()))
                answered = len(due)
                noticed += bool(due - before)
                before = nonces
                if fault or due - nonces:
                    yield f"backup {number}: {fault or 'whole'}, lacks {len(due - nonces)} answered calls"
    databases.discard(_backend_of(environment), RESTORED)
    if noticed != rounds:
        yield f"the control, an older backup, was noticed {noticed} times of {rounds}"
    yield from (f"a call got {status}" for status in set(pace.others))
    print(f"{rounds} backups at up to {BACKUP_PACE} calls a second, {answered} calls before the last one")


def _restored(environment: dict[str, str], backup: Path) -> tuple[set[str], str]:
    """Restore a backup into an empty database; return its nonces, and what is wrong with it."""
    backend = _backend_of(environment)
    databases.create(backend, RESTORED)
    there = environment | {"DATABASE_URL": databases.environment(backend, RESTORED)["DATABASE_URL"]}
    _manage(there, "restore", str(backup))
    query = "SELECT nonce FROM dashboard_api_nonce"
    if backend == "postgresql":
        with psycopg.connect(there["DATABASE_URL"]) as connection:
            return {nonce for (nonce,) in connection.execute(query)}, ""
    faults = []
    for file in (databases.sqlite_file(RESTORED), databases.sqlite_file(f"{RESTORED}.short-lived")):
        with closing(sqlite3.connect(file)) as connection:
            faults += [answer for (answer,) in connection.execute("PRAGMA integrity_check")]
            nonces = (
                {nonce for (nonce,) in connection.execute(query)} if "short-lived" in file.name else set()
            )
    return nonces, "; ".join(fault for fault in faults if fault != "ok")


def power(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong with the order of writes in ``rounds`` calls, as strace sees it.

    With SQLITE_SYNCHRONOUS=FULL, no call may be answered between a write of its nonce and the fdatasync of
    the same file. Control: NORMAL must fail that check. PostgreSQL must wait for its log.
    """
    if _backend_of(environment) == "postgresql":
        with psycopg.connect(environment["DATABASE_URL"]) as connection:
            for name in ("fsync", "synchronous_commit", "full_page_writes"):
                if (row := connection.execute(f"SHOW {name}").fetchone()) != ("on",):
                    yield f"{name} is {row}"
        return
    if shutil.which("strace") is None:
        raise Unavailable("no strace")
    safe = {mode: _safe_responses(environment | {"SQLITE_SYNCHRONOUS": mode}, body, rounds) for mode in MODES}
    print(f"{rounds} calls; written through before the answer: {safe}")
    if safe["FULL"] != rounds:
        yield f"FULL: {rounds - safe['FULL']} calls were answered before their nonce was on the disk"
    if safe["NORMAL"] == rounds:
        yield "the control, NORMAL, was not noticed"


MODES = ("FULL", "NORMAL")
_WRITE = re.compile(r"(pwrite64|fdatasync)\(\d+<[^>]*short-lived\.sqlite3-wal>")
_RESPONSE = re.compile(r'sendto\(.*"HTTP/1\.1 200')


def _safe_responses(environment: dict[str, str], body: dict[str, Any], rounds: int) -> int:
    """Return the number of responses of 200 whose last write to the nonces' log was followed by a sync."""
    with run_server(environment) as server:
        send(server.port, signed_call(body))  # connects and prepares
        with _traced(server) as trace:
            for _ in range(rounds):
                send(server.port, signed_call(body))
    safe, last = 0, ""
    for line in trace.read_text().splitlines():
        if found := _WRITE.search(line):
            last = found[1]
        elif _RESPONSE.search(line):
            safe, last = safe + (last == "fdatasync"), ""
    trace.unlink()
    return safe


@contextmanager
def _traced(server: Server) -> Iterator[Path]:
    """Write the system calls of the server's workers to the file that is yielded."""
    trace = databases.FOLDER / f"trace-{server.port}.txt"
    workers = [f"--attach={worker}" for worker in children_of(server.process)]
    calls = "--trace=pwrite64,fdatasync,sendto"
    command = ["strace", "-f", "-y", "-s", "16", calls, "--output", str(trace), *workers]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr
        for line in strace.stderr:
            if "attached" in line:
                break
            if "not permitted" in line:
                raise Unavailable("strace is not allowed here")
        try:
            yield trace
        finally:
            strace.terminate()


def _backend_of(environment: dict[str, str]) -> str:
    """Return "sqlite" or "postgresql"."""
    return "sqlite" if environment["DATABASE_URL"].startswith("sqlite:") else "postgresql"


def _manage(environment: dict[str, str], *arguments: str) -> str:
    """Return the standard output of a command of the product; raises CalledProcessError."""
    command = [sys.executable, str(databases.ROOT / "manage.py"), *arguments]
    done = subprocess.run(
        command, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout
