"""What it costs to spend a nonce: in the table where the product keeps them, and in a Redis with a log.

One call after the other from this process, by turns. The CPU is this thread's and the store's. Redis that
writes its log at once keeps what it has answered, as PostgreSQL does; each second, it may lose the last one.
"""

import secrets
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from shutil import which
from statistics import median

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from benchmarks import dataset
from benchmarks.command_line import ENGINES, NotHere, run
from benchmarks.figures import Table
from benchmarks.load import LOOPBACK
from benchmarks.machine import cpu_seconds_once_idle
from benchmarks.pairing import paired
from benchmarks.servers import free_port
from benchmarks.statements import Clock

SQL = "a row of a table"
WRITTEN = {"Redis, written at once": "always", "Redis, written each second": "everysec"}
COUNT, NOBODY = 200, 0  # no account, and no secret
LONG_AGO = datetime(1970, 1, 2, tzinfo=UTC)  # so that prune finds these nonces, and no other
KEPT = timedelta(minutes=6)


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """The engine's own way beside Redis."""
    if which("redis-server") is None:
        raise NotHere("redis-server is not installed.")
    dataset.prepare(engine, scale)
    from dashboard_api.models import Nonce  # models can be imported only where Django is set up
    from dashboard_api.models.callers import Signer

    nobody = Signer(pk=NOBODY, account_id=NOBODY, sealed="")
    clock = Clock(with_client=True)
    took: dict[str, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        bursts = {
            SQL: _burst(
                lambda: Nonce.objects.claim(
                    nobody, secrets.token_urlsafe(24), expires_at=LONG_AGO, now=datetime.now(UTC)
                ),
                clock,
                took[SQL],
            )
        }
        for way, appendfsync in WRITTEN.items():
            store, process = stack.enter_context(redis_server(appendfsync))
            bursts[way] = _burst(_claim_in(store), _clock_of(process), took[way])
        paired(bursts, rounds=1)
        costs = paired(bursts, rounds=rounds)
    pruning = _pruning(clock)
    table = Table(f"Spending a nonce on {engine}", "One client that waits for each answer.")
    for way in bursts:
        table.add(way, "CPU", costs.cost(way) * 1e3, "ms")
        table.add(way, "times the first", costs.ratio(way, SQL), "times")
        table.add(way, "p50", median(took[way]) * 1e3, "ms")
    table.add("to forget one, by prune", "CPU", pruning * 1e3, "ms")
    yield table


def _pruning(clock: Callable[[], float]) -> float:
    """CPU of forgetting one of the nonces that were claimed."""
    from dashboard_api import policy
    from dashboard_api.models import Nonce

    before, forgotten = clock(), 0
    while batch := Nonce.objects.prune(now=LONG_AGO + KEPT, batch=policy.PRUNE_BATCH):
        forgotten += batch
    return (clock() - before) / forgotten


@contextmanager
def redis_server(appendfsync: str) -> Iterator[tuple["redis.Redis", int]]:
    """A Redis that keeps what it is told, and its process; both gone when the block ends."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = ["redis-server", "--port", str(port), "--bind", LOOPBACK, "--dir", folder, "--save", ""]
        command += ["--appendonly", "yes", "--appendfsync", appendfsync, "--maxmemory-policy", "noeviction"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603  # our own arguments
        patient = Retry(ConstantBackoff(0.05), 100)
        try:
            with redis.Redis(port=port, retry=patient) as store:
                store.ping()
                yield store, process.pid
        finally:
            process.terminate()
            process.wait()


def _claim_in(store: "redis.Redis") -> Callable[[], bool]:
    seconds = int(KEPT.total_seconds())
    return lambda: bool(store.set(f"{NOBODY}:{secrets.token_urlsafe(24)}", 1, nx=True, ex=seconds))


def _clock_of(process: int) -> Callable[[], float]:
    return lambda: cpu_seconds_once_idle([process]) + time.thread_time()


def _burst(claim: Callable[[], bool], clock: Callable[[], float], took: list[float]) -> Callable[[], float]:
    """Many claims by turns with other ways: the CPU of one; how long each took is kept in ``took``."""

    def cost() -> float:
        before = clock()
        for _ in range(COUNT):
            started = time.perf_counter()
            assert claim()  # noqa: S101  # a claim that is refused measures nothing
            took.append(time.perf_counter() - started)
        return (clock() - before) / COUNT

    return cost


if __name__ == "__main__":
    run(tables, __doc__, engines=ENGINES)
