"""CPU of one signed call on the server as it is deployed, compared with a bare view.

gunicorn's 2 processes x 4 threads answer 8 open connections. The cost is that of the server's processes, and
of PostgreSQL's for their connections, by the scheduler's clock; the rows of the table take turns in one run.
Except in the row that says so, no response comes from the cache.
"""

import http.client
import json
import secrets
import time
from collections.abc import Iterator
from typing import Any

import es1
from benchmarks import dataset, records, rows
from benchmarks.command_line import ENGINES, run
from benchmarks.figures import Table
from benchmarks.load import LOOPBACK, Burst, Loader
from benchmarks.metering import Backends, Meter, Refused
from benchmarks.servers import THREADS, WORKERS, serving

PATH = "/v1/site/dashboard"
BARE, FIRST, REPEATED = "a bare view of the same bytes", "a first answer", "the same answer again"
COMMON = "search: a common word"
GOALS = {"sqlite": {FIRST: 5, REPEATED: 1.8}, "postgresql": {FIRST: 10, REPEATED: 3}}
WRITES = {
    "sqlite": "synchronous FULL for records, NORMAL for nonces",
    "postgresql": "synchronous_commit as the server has it",
}
PAGES, COUNT = 10, 200


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """One table for the engine."""
    name = dataset.prepare(engine, scale)
    with serving(records.environment(engine, name)) as server, Loader() as loader:
        bursts = _bursts(server.port, count=COUNT)
        _keep_answer(bursts[REPEATED])
        meter = Meter([server], loader, Backends(name) if engine == "postgresql" else None)
        costs = meter.measure(bursts, rounds=rounds)
    table = Table(
        f"Requests on {engine}",
        f"{rows.measured_size(rows.LARGEST, scale):,} findings of the website in "
        f"{rows.FINDINGS * scale:,.0f}; gunicorn gthread {WORKERS} x {THREADS}; {WRITES[engine]}.",
    )
    for row in bursts:
        table.add(row, "CPU", costs.cost(row) * 1e3, "ms")
        table.add(row, "times bare", costs.ratio(row, BARE), "times", at_most=GOALS[engine].get(row))
        table.add(row, "p50", meter.p50_ms(row), "ms")
        table.add(row, "p99", meter.p99_ms(row), "ms")
    yield table


def first_answers(port: int, *, count: int) -> Burst:
    """Calls that ask for one page of the largest website after the other."""
    from benchmarks import questions  # models can be imported only where Django is set up

    bodies = [questions.about(rows.LARGEST, page=page) for page in range(1, PAGES + 1)]
    return Burst(port=port, path=PATH, bodies=bodies, secret=rows.SECRET, count=count, uncached=True)


def _bursts(port: int, *, count: int) -> dict[str, Burst]:
    from benchmarks import questions  # models can be imported only where Django is set up

    def signed(*bodies: dict[str, Any], path: str = PATH, uncached: bool = True) -> Burst:
        return Burst(
            port=port, path=path, bodies=list(bodies), secret=rows.SECRET, count=count, uncached=uncached
        )

    unfiltered = questions.about(rows.LARGEST)
    return {
        BARE: signed(unfiltered, path="/benchmark/bare"),
        FIRST: first_answers(port, count=count),
        REPEATED: signed(unfiltered, uncached=False),
        COMMON: signed(questions.about(rows.LARGEST, query=rows.COMMON)),
    }


def _keep_answer(burst: Burst) -> None:
    """Let the bare view answer the bytes that the product does."""
    from benchmarks.baselines import ANSWER

    body = json.dumps(burst.bodies[0]).encode()
    headers = es1.sign(
        burst.secret, method="POST", path=PATH, body=body, now=int(time.time()), nonce=secrets.token_urlsafe()
    )
    connection = http.client.HTTPConnection(LOOPBACK, burst.port, timeout=60)
    connection.request("POST", PATH, body, headers | {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    if response.status != http.HTTPStatus.OK:
        raise Refused(f"{response.status}: {answer[:300]!r}")
    ANSWER.write_bytes(answer)


if __name__ == "__main__":
    run(tables, __doc__, engines=ENGINES)
