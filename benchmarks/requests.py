"""CPU time of a signed call on a deployed server, compared with a bare view.

gunicorn with 2 processes of 4 threads serves 8 open connections. The CPU time is that of the server and of
PostgreSQL's processes for its connections, by the clock of the scheduler; the rows of the table alternate in
one run. Only the row "the same response again" is served from the response cache.
"""

import http.client
import json
import secrets
import time
from collections.abc import Iterator
from typing import Any

import es1
from benchmarks import databases, dataset, rows
from benchmarks.command_line import BACKENDS, run
from benchmarks.figures import Table
from benchmarks.http_load import LOOPBACK, Burst, LoadProcess
from benchmarks.request_costs import Meter, PostgresProcesses, UnexpectedStatus
from benchmarks.servers import THREADS, WORKERS, run_server

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
        f"{rows.measured_size(rows.USUAL, scale):,} findings of the website in "
        f"{rows.FINDINGS * scale:,.0f}; gunicorn gthread {WORKERS} x {THREADS}; {DURABILITY[backend]}.",
    )
    for row in bursts:
        table.add(row, "CPU", costs.cost(row) * 1e3, "ms")
        table.add(row, "times bare", costs.ratio(row, BARE), "times", at_most=GOALS[backend].get(row))
        table.add(row, "p50", meter.p50_ms(row), "ms")
        table.add(row, "p99", meter.p99_ms(row), "ms")
    yield table


def _bursts(port: int) -> dict[str, Burst]:
    from benchmarks import calls  # imports models: only after Django is set up

    def signed(*bodies: dict[str, Any], path: str = PATH, uncached: bool = True) -> Burst:
        return Burst(
            port=port, path=path, bodies=list(bodies), secret=rows.SECRET, count=COUNT, uncached=uncached
        )

    unfiltered = calls.body_about(rows.USUAL)
    pages = [calls.body_about(rows.USUAL, page=page) for page in range(1, PAGES + 1)]
    return {
        BARE: signed(unfiltered, path="/benchmark/bare"),
        FIRST: signed(*pages),
        REPEATED: signed(unfiltered, uncached=False),
        COMMON: signed(calls.body_about(rows.USUAL, query=rows.COMMON)),
    }


def _store_response(burst: Burst) -> None:
    """Store the product's response to a burst's first call for the bare view."""
    from benchmarks.baselines import RESPONSE_FILE

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
