"""CPU time of imports compared with a bare insert, and response times of dashboards during imports.

Reports have 1,000 findings of one website. The bare insert writes their rows into a table without indexes,
with the product's own bulk insert; the import reads the file and stores findings and locations.
Then dashboards are requested with and without another process that imports reports.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median
from typing import Self

from benchmarks import databases, dataset
from benchmarks.command_line import BACKENDS, Table, compare, run
from benchmarks.http_load import CONNECTIONS, Burst, LoadProcess, Responses
from benchmarks.requests import PATH
from benchmarks.servers import THREADS, WORKERS, Clock, run_server

BARE, IMPORT = "bare insert", "import of a report"
SHARES = {"sqlite": 0.06, "postgresql": 0.12}
QUIET, BUSY = "no import runs", "reports are imported"
BATCHES = 8  # in a burst
BURST_SECONDS, MAX_SLOWDOWN = 1, 5


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield a table of findings per CPU second, and one of response times during imports."""
    name = databases.database_name("writes", scale)
    _copy_dataset(backend, scale, to=name)
    databases.use(backend, name)
    try:
        yield _rates(backend, scale, rounds)
        yield _response_times(backend, scale, rounds, name)
    finally:
        databases.discard(backend, name)


def _copy_dataset(backend: str, scale: float, *, to: str) -> None:
    """Build the dataset in another process and copy it: Django's settings here must name the copy."""
    if backend == "postgresql":
        databases.check_postgresql()
    command = [sys.executable, "-m", "benchmarks.dataset", "--backend", backend, "--scale", str(scale)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # our own interpreter
    databases.copy(backend, databases.database_name("reads", scale), to=to)


def _rates(backend: str, scale: float, rounds: int) -> Table:
    from benchmarks import product  # imports models: only after Django is set up

    product.make_bare_table()
    clock, batches = Clock(with_client=True), product.batches()
    writers: dict[str, Callable[[list[dataset.Row]], Callable[[], object]]] = {
        BARE: product.bare_insert,
        IMPORT: product.report_import,
    }

    def burst(name: str) -> Callable[[], float]:
        def cost() -> float:
            seconds = 0.0
            for _ in range(BATCHES):
                write = writers[name](next(batches))
                before = clock()
                write()
                seconds += clock() - before
            return seconds / BATCHES / product.REPORT_ROWS

        return cost

    costs = compare({name: burst(name) for name in writers}, rounds=rounds)
    table = Table(
        f"Writes on {backend}",
        f"Batches of {product.REPORT_ROWS:,} into {dataset.FINDINGS * scale:,.0f}; "
        "CPU of client and database.",
    )
    for name in writers:
        table.add(name, "findings per CPU second", 1 / costs.cost(name), "per second")
    table.add(IMPORT, "share of bare", costs.ratio(BARE, IMPORT), "times", at_least=SHARES[backend])
    return table


def _response_times(backend: str, scale: float, rounds: int, name: str) -> Table:
    from benchmarks import product

    responses: dict[str, list[Responses]] = {QUIET: [], BUSY: []}
    stored: list[int] = []
    with (
        run_server(databases.environment(backend, name)) as server,
        LoadProcess() as load,
        ImportProcess(backend, name) as imports,
    ):
        burst = Burst(
            port=server.port,
            path=PATH,
            bodies=[product.body_about(dataset.LARGE)],
            secret=dataset.SECRET,
            count=BURST_SECONDS * 2_000,
            seconds=BURST_SECONDS,
        )
        load.send(burst)
        for _ in range(rounds):
            responses[QUIET].append(load.send(burst))
            imports.start(BURST_SECONDS)
            responses[BUSY].append(load.send(burst))
            stored.append(imports.finish())
    return _response_table(backend, scale, responses, stored)


def _response_table(
    backend: str, scale: float, responses: dict[str, list[Responses]], stored: list[int]
) -> Table:
    table = Table(
        f"Dashboards while findings are written, on {backend}",
        f"{dataset.measured_size(dataset.LARGE, scale):,} findings of the website; "
        f"gunicorn gthread {WORKERS} x {THREADS}; "
        f"{CONNECTIONS} busy connections; server, client and import share the cores.",
    )
    for name, bursts in responses.items():
        failed = sum(burst.count - burst.statuses.get("200", 0) for burst in bursts)
        table.add(name, "p50", median(burst.p50_ms for burst in bursts), "ms")
        table.add(name, "p99", median(burst.p99_ms for burst in bursts), "ms")
        table.add(name, "other statuses than 200", failed, "calls", at_most=0)
    slowdown = median(
        busy.p99_ms / quiet.p99_ms for busy, quiet in zip(responses[BUSY], responses[QUIET], strict=True)
    )
    table.add(BUSY, "times the quiet p99", slowdown, "times", at_most=MAX_SLOWDOWN)
    table.add(BUSY, "findings stored", median(stored) / BURST_SECONDS, "per second")
    return table


_IMPORT = "from benchmarks import writes; writes.import_on_demand()"


class ImportProcess:
    """A separate process that imports reports on demand, as a scanner's schedule does in a deployment."""

    def __init__(self, backend: str, database: str) -> None:
        self._command = [sys.executable, "-c", _IMPORT, backend, database]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(self, seconds: float) -> None:
        """Start importing and return immediately."""
        print(seconds, file=self._process.stdin, flush=True)

    def finish(self) -> int:
        """Wait for the end and return the number of stored findings."""
        return int(self._process.stdout.readline())


def import_on_demand() -> None:
    """Import for each line's seconds and print the number of findings, until standard input ends."""
    backend, database = sys.argv[1:]
    databases.use(backend, database)
    from benchmarks import product  # imports models: only after Django is set up

    batches = product.batches()
    for line in sys.stdin:
        print(product.import_for(float(line), batches), flush=True)


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
