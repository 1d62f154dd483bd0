"""Long runs against a deployed server that kill it, repeat its calls, or last for hours.

``replays`` sends many copies of one call at once to two servers of one database: exactly one copy may be
answered. ``kills`` kills processes of the server with SIGKILL while calls are answered, and repeats each
answered call afterwards: every repetition must be refused. ``records`` sends mixed calls meanwhile, and
compares each response with its record and the log, and the use of the account with the records; ``backends``
does the same on a PostgreSQL server of its own, whose processes are killed. ``soak`` sends calls at an even
pace for hours and kills a process each minute. ``races`` lets 16 processes claim one nonce at once.
``backups`` takes backups under load and restores each. ``reseal`` replaces the master key of 1,000 secrets
under load, and ``secrets`` one account's secret. ``lock`` holds a writer's lock, ``database`` stops a
PostgreSQL server of its own, and ``redis`` a Redis, each for 30 seconds under load. ``power`` looks at the
order of writes to the disk. Each prints what it saw, and exits with 1 if something was wrong.
"""

import argparse
import os
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import databases, dataset, outage_runs, record_runs, rows, storage_runs
from benchmarks.cluster import own_cluster
from benchmarks.command_line import BACKENDS, Unavailable
from benchmarks.machine import children_of, memory_mb
from benchmarks.servers import killing, run_server
from benchmarks.signed_calls import NO_RESPONSE, Call, nonce_of, send, signed_call

SCALE = 0.001  # 2,000 findings
COPIES, CLIENTS = 200, 8
PACE = 20  # calls a second while soaking
PAGE_BYTES = 4096  # of SQLite
REFUSED_AGAIN = {"401 replayed_nonce", "401 stale_timestamp"}
NONCE_SECONDS = 360  # from the call to its end; a clock that is ahead adds up to 300


def replays(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong in ``rounds`` rounds of copies of one call at two servers.

    Control: a store that forgets nonces too early, so that another copy is answered, must be noticed.
    """
    with run_server(environment) as one, run_server(environment) as two:
        ports = [one.port, two.port] * (COPIES // 2)
        with ThreadPoolExecutor(COPIES) as clients:
            for number in range(rounds):
                call, together = signed_call(body), threading.Barrier(COPIES)

                def copy(port: int, call: Call = call, together: threading.Barrier = together) -> str:
                    together.wait(60)
                    return send(port, call)

                seen = Counter(clients.map(copy, ports))
                yield from _wrong_copies(f"round {number + 1}", seen, COPIES)
        _prune(later=timedelta(hours=1))
        if not any(_wrong_copies("control", seen + Counter([send(two.port, call)]), COPIES + 1)):
            yield "the control, a store that forgets, was not noticed"
    print(f"{rounds} rounds of {COPIES} copies at two servers")


def _wrong_copies(where: str, seen: Counter[str], copies: int) -> Iterator[str]:
    if seen != {"200": 1, "401 replayed_nonce": copies - 1}:
        yield f"{where}: {dict(seen)}"


def kills(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong after ``rounds`` calls during which processes of the server were killed.

    Controls: a store that forgets nonces too early, and a file with a page of zeros, must be noticed.
    """
    calls = [body] * rounds
    with run_server(environment) as server:
        with killing(server) as killed, ThreadPoolExecutor(CLIENTS) as clients:

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


def soak(environment: dict[str, str], body: dict[str, Any], *, rounds: int) -> Iterator[str]:
    """Yield what was wrong in ``rounds`` minutes of calls at an even pace, with a killed process a minute.

    Controls: figures that are wrong, each in one way, must be noticed.
    """
    seen: Counter[str] = Counter()
    memory, files, stored = [], [], []
    with run_server(environment) as server, ThreadPoolExecutor(CLIENTS) as clients:
        for _ in range(rounds):
            began = time.monotonic()
            os.kill(random.choice(children_of(server.process)), signal.SIGKILL)
            for number in range(60 * PACE):
                time.sleep(max(0, began + number / PACE - time.monotonic()))
                clients.submit(lambda: seen.update([send(server.port, signed_call(body))]))
            workers = children_of(server.process)
            memory.append(sum(map(memory_mb, workers)))
            files.append(sum(_open_files(process) for process in workers))
            stored.append(_prune())
    yield from _wrong_soak(seen, memory, files, stored)
    leaking = [memory[0]] * 2 + [2 * memory[0]] * 2
    for what, broken in {
        "a 500": (seen + Counter(["500 internal_error"]), memory, files, stored),
        "lost calls": (seen + Counter({NO_RESPONSE: rounds * CLIENTS + 1}), memory, files, stored),
        "memory that grows": (seen, leaking, files, stored),
        "files that stay open": (seen, memory, leaking, stored),
        "nonces that stay": (seen, memory, files, [*stored, PACE * 3600]),
    }.items():
        if not any(_wrong_soak(*broken)):
            yield f"the control, {what}, was not noticed"
    print(f"{rounds} minutes, {seen['200']} calls answered, at most {max(stored)} nonces stored")
    print(f"memory {min(memory)} to {max(memory)} MB, open files {min(files)} to {max(files)}")


def _wrong_soak(seen: Counter[str], memory: list[int], files: list[int], stored: list[int]) -> Iterator[str]:
    """Yield what is wrong with the statuses, and with the figures of each minute."""
    yield from _unexpected(seen, {"200", NO_RESPONSE})
    if seen[NO_RESPONSE] > len(stored) * CLIENTS:
        yield f"{seen[NO_RESPONSE]} calls without a response, more than were open when a process was killed"
    if max(stored) > (most := PACE * NONCE_SECONDS * 1.2):
        yield f"{max(stored)} nonces are stored, more than {most:.0f}"
    yield from (
        f"{what} grew: {sizes}" for what, sizes in (("memory", memory), ("files", files)) if _grew(sizes)
    )


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


def _open_files(process: int) -> int:
    """Return the number of files that a process has open; 0 if it has ended."""
    try:
        return len(list(Path(f"/proc/{process}/fd").iterdir()))
    except OSError:
        return 0


def _grew(sizes: list[int]) -> bool:
    """Return whether the second half is beyond the first one by more than a quarter."""
    middle = len(sizes) // 2
    return middle > 0 and max(sizes[middle:]) > 1.25 * max(sizes[:middle])


def _prune(*, later: timedelta = timedelta()) -> int:
    """Prune the nonces that are expired, or will be later, and return how many remain."""
    from dashboard_api.models import Nonce  # only after Django is set up

    now = datetime.now(UTC) + later
    while Nonce.objects.prune(now=now, batch=1_000):
        pass
    return Nonce.objects.count()


RUNS: dict[str, tuple[Callable[..., Iterator[str]], int]] = {
    "replays": (replays, 100),
    "kills": (kills, 10_000),
    "records": (record_runs.records, 10_000),
    "soak": (soak, 8 * 60),
    "backends": (record_runs.backends, 10_000),
    "reseal": (storage_runs.reseal, 1_000),
    "races": (storage_runs.races, 1_000),
    "backups": (storage_runs.backups, 20),
    "power": (storage_runs.power, 100),
    "secrets": (outage_runs.secrets, 20),
    "lock": (outage_runs.lock, 30),
    "database": (outage_runs.database, 30),
    "redis": (outage_runs.redis, 30),
}


def main() -> int:
    """Do one run as the command line says; return 1 if something was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("--rounds", type=int, help="rounds, calls, minutes, seconds, backups or secrets")
    parser.add_argument("--hours", type=float, help="the hours of soak, instead of its minutes")
    parser.add_argument("--backend", choices=BACKENDS, default="sqlite")
    options = parser.parse_args()
    if options.hours:
        options.rounds = round(options.hours * 60)
    own = options.run in ("backends", "database")
    try:
        with own_cluster() if own else nullcontext():
            wrong = _run(options.run, "postgresql" if own else options.backend, options.rounds)
    except Unavailable as error:
        print(f"Skipped: {error}")
        return 0
    print("\n".join(wrong) or "Nothing was wrong.")
    return int(bool(wrong))


def _run(name: str, backend: str, rounds: int | None) -> list[str]:
    """Return what was wrong in a run on a dataset."""
    environment = databases.environment(backend, dataset.prepare(backend, SCALE))
    from benchmarks import calls  # imports models: only after Django is set up

    run, usual = RUNS[name]
    return list(run(environment, calls.body_about(rows.LARGEST), rounds=rounds or usual))


if __name__ == "__main__":
    sys.exit(main())
