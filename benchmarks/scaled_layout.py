"""Two web processes over one PostgreSQL and one Redis: started by ``benchmarks/scaled_layout.sh``.

Two cores cannot show where the database becomes the limit, so it is computed: with d the CPU of PostgreSQL
and w that of the web for one request, a database of C cores answers at most C / d requests a second, and
for those the web processes need w * C / d cores. docs/scaling.md goes on from these figures.
"""

import argparse
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from statistics import median

import redis

from benchmarks import dataset, records, rows, sizes, steps
from benchmarks.figures import Table, report
from benchmarks.load import Answers, Burst, Loader
from benchmarks.machine import cpu_seconds, own_bytes
from benchmarks.metering import Backends, Cluster, Refused
from benchmarks.requests import PATH, first_answers
from benchmarks.servers import THREADS, Server, serving

ENGINE = "postgresql"
NONCES, COUNT, ROUNDS = 500, 400, 7
CORES = (2, 8, 32)
PLANNED, BUSY = (10, 1_000, 100_000), 0.7  # requests a second; how much of a core a plan uses


def main() -> None:
    """Measure once, on what the script has started."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=0.05, help="1 is 2,000,000 findings")
    parser.add_argument("--json", action="store_true", help="print a list of figures instead of tables")
    arguments = parser.parse_args()
    report(tables(arguments.scale), as_json=arguments.json)


def tables(scale: float) -> Iterator[Table]:
    """Nonces, costs, the capacity that follows from them, and what else a plan needs."""
    name = dataset.prepare(ENGINE, scale)
    environment = records.environment(ENGINE, name)
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(environment, workers=1)) for _ in range(2)]
        loaders = [stack.enter_context(Loader()) for _ in servers]
        bursts = [first_answers(server.port, count=COUNT) for server in servers]
        _send(loaders, bursts)
        yield _replays(loaders, bursts)
        cluster = Cluster()
        written = cluster.log_bytes()
        costs = _costs(loaders, bursts, _parties(servers, cluster))
        written = cluster.log_bytes() - written
        memory = _memory_table(servers, Backends(name).processes())
    yield _costs_table(costs, scale)
    yield _capacity_table(costs)
    parts = steps.measured(rounds=ROUNDS)
    yield steps.table_of(parts)
    yield _plan_table(costs, staying=1 - parts[steps.ANSWER] / sum(parts.values()))
    yield memory
    yield sizes.of_request(log_bytes=written / (ROUNDS * COUNT * len(bursts)))
    yield sizes.of_finding(scale)


def _send(loaders: list[Loader], bursts: list[Burst]) -> list[Answers]:
    """All bursts at the same time."""
    for loader, burst in zip(loaders, bursts, strict=True):
        loader.start(burst)
    return [loader.finish() for loader in loaders]


def _replays(loaders: list[Loader], bursts: list[Burst]) -> Table:
    nonces = [secrets.token_urlsafe(24) for _ in range(NONCES)]
    same = [
        Burst(
            ports=burst.ports,
            path=PATH,
            bodies=burst.bodies,
            secret=burst.secret,
            nonces=nonces,
            count=NONCES,
        )
        for burst in bursts
    ]
    answers = _send(loaders, same)
    answered = Counter(nonce for one in answers for nonce in one.accepted)
    statuses = sum((Counter(one.statuses) for one in answers), Counter())
    table = Table(
        "One nonce, two web processes", f"{NONCES} signed calls, each sent to both at the same time."
    )
    row = "of both together"
    table.add(row, "answered once", sum(times == 1 for times in answered.values()), "calls", at_least=NONCES)
    table.add(row, "answered twice", sum(times > 1 for times in answered.values()), "calls", at_most=0)
    table.add(row, "refused", statuses["401"], "calls", at_least=NONCES)
    return table


def _parties(servers: list[Server], cluster: Cluster) -> dict[str, Callable[[], float]]:
    """Everybody who works for a request, and the clock of each."""
    parties = {f"web process {number}": server.cpu_seconds for number, server in enumerate(servers, 1)}
    parties["PostgreSQL"] = cluster.cpu_seconds
    if records.REDIS:
        process = redis.Redis.from_url(records.REDIS).info("server")["process_id"]
        parties["Redis"] = lambda: cpu_seconds([process])
    return parties


def _costs(
    loaders: list[Loader], bursts: list[Burst], parties: Mapping[str, Callable[[], float]]
) -> dict[str, float]:
    """CPU seconds of each party for one request, whichever process answered it."""
    rounds = []
    for _ in range(ROUNDS):
        before = {name: clock() for name, clock in parties.items()}
        answers = _send(loaders, bursts)
        if any(set(one.statuses) != {"200"} for one in answers):
            raise Refused(f"{[one.statuses for one in answers]}")
        count = sum(one.count for one in answers)
        rounds.append({name: (clock() - before[name]) / count for name, clock in parties.items()})
    return {name: median(costs[name] for costs in rounds) for name in parties}


def _costs_table(costs: dict[str, float], scale: float) -> Table:
    table = Table(
        "CPU of one request, by who spends it",
        f"{rows.measured_size(rows.LARGEST, scale):,} findings of the website; gunicorn gthread "
        f"1 x {THREADS} each; of all requests, half go to either web process.",
    )
    for name, seconds in costs.items():
        table.add(name, "CPU per request", seconds * 1e3, "ms")
        table.add(name, "share", seconds / sum(costs.values()) * 100, "%")
    table.add("all together", "CPU per request", sum(costs.values()) * 1e3, "ms")
    return table


def _memory_table(servers: list[Server], connections: list[int]) -> Table:
    table = Table("Memory of one process", "What it shares with nobody, after the load.")
    workers = [worker for server in servers for worker in server.workers]
    for name, processes in {"web": workers, "connection in PostgreSQL": connections}.items():
        table.add(name, "each", median(own_bytes(process) for process in processes) / 2**20, "MB")
    return table


def _of_web_and_database(costs: dict[str, float]) -> tuple[float, float]:
    return sum(seconds for name, seconds in costs.items() if name.startswith("web")), costs["PostgreSQL"]


def _capacity_table(costs: dict[str, float]) -> Table:
    web, database = _of_web_and_database(costs)
    table = Table(
        "Capacity with PostgreSQL as the limit",
        f"Computed: cores / {database * 1e3:.2f} ms of PostgreSQL for a request, and {web * 1e3:.2f} ms of "
        "the web for each of them.",
    )
    for cores in CORES:
        table.add(f"{cores} cores of PostgreSQL", "requests", cores / database, "per second")
        table.add(f"{cores} cores of PostgreSQL", "web processes' cores", cores / database * web, "cores")
    return table


def _plan_table(costs: dict[str, float], *, staying: float) -> Table:
    web, database = _of_web_and_database(costs)
    table = Table(
        "Cores for so many requests a second",
        f"Computed, {BUSY:.0%} of each used; what is no answer, {staying:.0%}, stays on the primary.",
    )
    for requests in PLANNED:
        row = f"{requests:,} a second"
        table.add(row, "web", requests * web / BUSY, "cores")
        table.add(row, "PostgreSQL", requests * database / BUSY, "cores")
        table.add(row, "of them, on the primary", requests * database * staying / BUSY, "cores")
    return table


if __name__ == "__main__":
    main()
