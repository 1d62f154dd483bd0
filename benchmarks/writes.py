"""What it costs to write findings with every index, count and search entry true at commit; and who waits.

Reports of 1,000 findings of one website: their rows into a table without indexes by the product's own writer,
and the reports by the product's own import of a file, which reads, sorts, compares and stores every place.
Then dashboards are asked for while a process of its own imports reports, and while it rests.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks import records, rows
from benchmarks.command_line import ENGINES, run
from benchmarks.figures import Table
from benchmarks.load import CONNECTIONS, Answers, Burst, Loader
from benchmarks.pairing import paired
from benchmarks.requests import PATH
from benchmarks.servers import THREADS, WORKERS, serving
from benchmarks.statements import Clock
from benchmarks.writer import Writer

BARE, IMPORT = "rows into a table without indexes", "import of a report"
SHARES = {"sqlite": 0.06, "postgresql": 0.12}
QUIET, BUSY = "nothing is written", "reports are imported"
BATCHES = 8  # of a burst: an index of words merges now and then what several have written
BURST_SECONDS, SLOWER = 1, 5


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """Findings a second of CPU; then how long dashboards take meanwhile."""
    name = records.database_name("writes", scale)
    _copy_dataset(engine, scale, to=name)
    records.use(engine, name)
    try:
        yield _rates(engine, scale, rounds)
        yield _waits(engine, scale, rounds, name)
    finally:
        records.discard(engine, name)


def _copy_dataset(engine: str, scale: float, *, to: str) -> None:
    """By another process: the settings of this one are read once, and are to name the copy."""
    if engine == "postgresql":
        records.check_postgresql()
    command = [sys.executable, "-m", "benchmarks.dataset", "--engine", engine, "--scale", str(scale)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # our own interpreter
    records.copy(engine, records.database_name("reads", scale), to=to)


def _rates(engine: str, scale: float, rounds: int) -> Table:
    from benchmarks import writing  # models can be imported only where Django is set up

    writing.make_bare_table()
    clock, batches = Clock(with_client=True), writing.batches()
    makers: dict[str, Callable[[list[rows.Row]], Callable[[], object]]] = {
        BARE: writing.bare,
        IMPORT: writing.importing,
    }

    def costing(name: str) -> Callable[[], float]:
        def cost() -> float:
            spent = 0.0
            for _ in range(BATCHES):
                write = makers[name](next(batches))
                before = clock()
                write()
                spent += clock() - before
            return spent / BATCHES / writing.BATCH

        return cost

    contenders = {name: costing(name) for name in makers}
    costs = paired(contenders, rounds=rounds)
    table = Table(
        f"Writes on {engine}",
        f"Batches of {writing.BATCH:,} into {rows.FINDINGS * scale:,.0f}; CPU of client and database.",
    )
    for name in makers:
        table.add(name, "findings per CPU second", 1 / costs.cost(name), "per second")
    table.add(IMPORT, "share of bare", costs.ratio(BARE, IMPORT), "times", at_least=SHARES[engine])
    return table


def _waits(engine: str, scale: float, rounds: int, name: str) -> Table:
    from benchmarks import questions

    answers: dict[str, list[Answers]] = {QUIET: [], BUSY: []}
    stored: list[int] = []
    with (
        serving(records.environment(engine, name)) as server,
        Loader() as loader,
        Writer(engine, name) as writer,
    ):
        burst = Burst(
            port=server.port,
            path=PATH,
            bodies=[questions.about(rows.LARGE)],
            secret=rows.SECRET,
            count=BURST_SECONDS * 2_000,
            seconds=BURST_SECONDS,
        )
        loader.send(burst)
        for _ in range(rounds):
            answers[QUIET].append(loader.send(burst))
            writer.start(BURST_SECONDS)
            answers[BUSY].append(loader.send(burst))
            stored.append(writer.finish())
    return _waits_table(engine, scale, answers, stored)


def _waits_table(engine: str, scale: float, answers: dict[str, list[Answers]], stored: list[int]) -> Table:
    table = Table(
        f"Dashboards while findings are written, on {engine}",
        f"{rows.measured_size(rows.LARGE, scale):,} findings of the website; gunicorn gthread {WORKERS} x "
        f"{THREADS}; {CONNECTIONS} connections, none of them ever idle; all on the same cores.",
    )
    for name, bursts in answers.items():
        failed = sum(burst.count - burst.statuses.get("200", 0) for burst in bursts)
        table.add(name, "p50", median(burst.p50_ms for burst in bursts), "ms")
        table.add(name, "p99", median(burst.p99_ms for burst in bursts), "ms")
        table.add(name, "not answered with 200", failed, "calls", at_most=0)
    slower = median(
        busy.p99_ms / quiet.p99_ms for busy, quiet in zip(answers[BUSY], answers[QUIET], strict=True)
    )
    table.add(BUSY, "times the quiet p99", slower, "times", at_most=SLOWER)
    table.add(BUSY, "findings stored", median(stored) / BURST_SECONDS, "per second")
    return table


if __name__ == "__main__":
    run(tables, __doc__, engines=ENGINES)
