"""CPU of one signed call by the way in which the web processes connect to PostgreSQL.

The same first answers from servers that differ in nothing else, by turns. Counted are the servers' processes
and all of PostgreSQL's, with those that have ended.
"""

import importlib.util
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from benchmarks import dataset, records, rows
from benchmarks.command_line import NotHere, run
from benchmarks.figures import Table
from benchmarks.load import Loader
from benchmarks.metering import Cluster, Meter
from benchmarks.requests import first_answers
from benchmarks.servers import THREADS, WORKERS, serving

ENGINE = "postgresql"
SHIPPED = "kept open, checked by its first statement"
_POOL: dict[str, Any] = {
    "CONN_MAX_AGE": 0,
    "OPTIONS": {"pool": {"min_size": THREADS, "max_size": THREADS}},
}
WAYS: dict[str, dict[str, Any]] = {
    SHIPPED: {},
    "pool, checked before use": _POOL,
    "pool, unchecked": _POOL | {"CONN_HEALTH_CHECKS": False},
    "a new one for each call": {"CONN_MAX_AGE": 0},
}
COUNT = 100


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """Every way beside the one that the project ships."""
    if importlib.util.find_spec("psycopg_pool") is None:
        raise NotHere("psycopg-pool is not installed; make bench installs it.")
    name = dataset.prepare(engine, scale)
    with ExitStack() as stack:
        servers = {way: stack.enter_context(serving(_environment(name, way))) for way in WAYS}
        loader = stack.enter_context(Loader())
        meter = Meter([*servers.values()], loader, Cluster())
        bursts = {way: first_answers(server.port, count=COUNT) for way, server in servers.items()}
        costs = meter.measure(bursts, rounds=rounds)
    table = Table(
        "Connections to PostgreSQL",
        f"{rows.measured_size(rows.LARGEST, scale):,} findings of the website; gunicorn gthread "
        f"{WORKERS} x {THREADS}; a pool has {THREADS} connections for each process.",
    )
    for way in WAYS:
        table.add(way, "CPU", costs.cost(way) * 1e3, "ms")
        table.add(way, "times the first", costs.ratio(way, SHIPPED), "times")
        table.add(way, "p50", meter.p50_ms(way), "ms")
        table.add(way, "p99", meter.p99_ms(way), "ms")
    yield table


def _environment(database: str, way: str) -> dict[str, str]:
    return records.environment(ENGINE, database) | {"BENCHMARK_CONNECTIONS": json.dumps(WAYS[way])}


if __name__ == "__main__":
    run(tables, __doc__, engines=[ENGINE])
