"""CPU time of a signed call on a deployed server, compared with a bare view.

gunicorn with 2 processes of 4 threads serves 8 open connections. The CPU time includes the server and
PostgreSQL's processes for its connections, by the scheduler's clock; the rows of the table alternate in one
run. Only the row "the same response again" uses the response cache.
"""

import http.client
import json
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any

import psycopg

import es1
from benchmarks import databases, dataset
from benchmarks.command_line import BACKENDS, PairedCosts, Table, compare, run
from benchmarks.http_load import LOOPBACK, Burst, LoadProcess, Responses
from benchmarks.servers import THREADS, WORKERS, Server, cpu_seconds, run_server

_CLIENT_PROCESSES = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"


class PostgresProcesses:
    """PostgreSQL's processes for the connections to one database, listed through another database."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._catalog = psycopg.connect(f"{databases.POSTGRESQL}/postgres", autocommit=True)

    def cpu_seconds(self) -> float:
        """Return the CPU time of these processes so far."""
        return cpu_seconds(pid for (pid,) in self._catalog.execute(_CLIENT_PROCESSES, [self._database]))


class UnexpectedStatus(Exception):
    """A measured call had a status other than 200, so the figures are meaningless."""


class Meter:
    """Meter of the CPU time and the response times of bursts."""

    def __init__(self, server: Server, load: LoadProcess, database: PostgresProcesses | None) -> None:
        self._server, self._load, self._database = server, load, database
        self.responses: dict[str, list[Responses]] = defaultdict(list)

    def measure(self, bursts: Mapping[str, Burst], *, rounds: int) -> PairedCosts:
        """Return the CPU seconds per call of each burst; raise UnexpectedStatus."""
        contenders: dict[str, Callable[[], float]] = {
            name: lambda name=name, burst=burst: self._cost(name, burst) for name, burst in bursts.items()
        }
        compare(contenders, rounds=1)  # every thread connects to the database
        self.responses.clear()
        return compare(contenders, rounds=rounds)

    def _cost(self, name: str, burst: Burst) -> float:
        before = self._cpu_seconds()
        responses = self._load.send(burst)
        after = self._cpu_seconds()
        if set(responses.statuses) != {"200"}:
            raise UnexpectedStatus(f"{name}: {responses.statuses}")
        self.responses[name].append(responses)
        return (after - before) / responses.count

    def _cpu_seconds(self) -> float:
        return self._server.cpu_seconds() + (self._database.cpu_seconds() if self._database else 0)

    def p50_ms(self, name: str) -> float:
        """Return the median of the bursts' medians."""
        return median(responses.p50_ms for responses in self.responses[name])

    def p99_ms(self, name: str) -> float:
        """Return the median of the bursts' 99th percentiles."""
        return median(responses.p99_ms for responses in self.responses[name])


PATH = "/v1/site/dashboard"
BARE, REPEATED = "a bare view of the same bytes", "the same response again"
FIRST = "a response, its website's cells kept"
COMMON = "search: a common word"
GOALS = {"sqlite": {FIRST: 5, REPEATED: 1.8}, "postgresql": {FIRST: 10, REPEATED: 3}}
DURABILITY = {
    "sqlite": "synchronous FULL for findings, NORMAL for nonces",
    "postgresql": "synchronous_commit as the server sets it",
}
PAGES, COUNT = 10, 200


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield one table for the backend."""
    name = dataset.prepare(backend, scale)
    with run_server(databases.environment(backend, name)) as server, LoadProcess() as load:
        bursts = _bursts(server.port)
        _store_response(bursts[REPEATED])
        meter = Meter(server, load, PostgresProcesses(name) if backend == "postgresql" else None)
        costs = meter.measure(bursts, rounds=rounds)
    table = Table(
        f"Requests on {backend}",
        f"{dataset.measured_size(dataset.USUAL, scale):,} findings of the website in "
        f"{dataset.FINDINGS * scale:,.0f}; gunicorn gthread {WORKERS} x {THREADS}; {DURABILITY[backend]}.",
    )
    for row in bursts:
        table.add(row, "CPU", costs.cost(row) * 1e3, "ms")
        table.add(row, "times bare", costs.ratio(row, BARE), "times", at_most=GOALS[backend].get(row))
        table.add(row, "p50", meter.p50_ms(row), "ms")
        table.add(row, "p99", meter.p99_ms(row), "ms")
    yield table


def _bursts(port: int) -> dict[str, Burst]:
    from benchmarks import product  # imports models: only after Django is set up

    def signed(*bodies: dict[str, Any], path: str = PATH, uncached: bool = True) -> Burst:
        return Burst(
            port=port, path=path, bodies=list(bodies), secret=dataset.SECRET, count=COUNT, uncached=uncached
        )

    unfiltered = product.body_about(dataset.USUAL)
    pages = [product.body_about(dataset.USUAL, page=page) for page in range(1, PAGES + 1)]
    return {
        BARE: signed(unfiltered, path="/benchmark/bare"),
        FIRST: signed(*pages),
        REPEATED: signed(unfiltered, uncached=False),
        COMMON: signed(product.body_about(dataset.USUAL, query=dataset.COMMON)),
    }


def _store_response(burst: Burst) -> None:
    """Store the product's response to a burst's first call for the bare view."""
    from benchmarks.urls import RESPONSE_FILE  # imports models

    body = json.dumps(burst.bodies[0]).encode()
    headers = es1.sign(
        burst.secret, method="POST", path=PATH, body=body, now=int(time.time()), nonce=secrets.token_urlsafe()
    )
    connection = http.client.HTTPConnection(LOOPBACK, burst.port, timeout=60)
    connection.request("POST", PATH, body, headers | {"Content-Type": "application/json"})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    if response.status != http.HTTPStatus.OK:
        raise UnexpectedStatus(f"{response.status}: {content[:300]!r}")
    RESPONSE_FILE.write_bytes(content)


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
