"""CPU time of dashboards of small and large websites, for the first request after a change and later ones.

Each figure is the CPU time of a response before its encoding, including PostgreSQL's server process, after
its statements are planned. The calls alternate. Ratios compare with the smallest website with kept cells.
"""

from collections.abc import Callable, Iterator

from django.db import connection

from benchmarks import dataset
from benchmarks.command_line import BACKENDS, Table, compare, run
from benchmarks.servers import Clock

# A statement is prepared at its sixth execution, and PostgreSQL plans it five times more.
WARM_UP = 10
FIRST, KEPT, FILTERED, PROBLEMS, WORDS = "first", "then", "then, filtered", "then, problems", "then, words"
CASES = {
    FIRST: {},
    KEPT: {},
    FILTERED: {"severity": "High", "kind": "confirmed"},
    PROBLEMS: {"group_by": "problem"},
    WORDS: {"query": f"{dataset.COMMON} {dataset.MEDIUM}"},
}
# Milliseconds by the number of findings.
GOALS = {
    "sqlite": {(500, FIRST): 13, (500, KEPT): 3, (20_000, FIRST): 80, (20_000, KEPT): 6, (20_000, WORDS): 60,
               (100_000, FIRST): 300, (100_000, WORDS): 350},
    "postgresql": {(500, FIRST): 17, (500, KEPT): 4, (20_000, FIRST): 80, (20_000, KEPT): 6,
                   (20_000, WORDS): 60, (100_000, FIRST): 300, (100_000, WORDS): 350},
}  # fmt: skip


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield one table for the backend: rows for each website."""
    dataset.prepare(backend, scale)
    clock = Clock(with_client=True)
    bursts: dict[str, Callable[[], float]] = {}
    sizes: dict[str, tuple[int, str]] = {}
    for website in dataset.MEASURED:
        size = dataset.measured_size(website, scale)
        for case in CASES:
            name = f"{size:,} findings, {case}"
            bursts[name], sizes[name] = _burst(clock, website, case), (size, case)
    compare(bursts, rounds=WARM_UP)
    costs = compare(bursts, rounds=rounds)
    table = Table(
        f"Reads on {backend}",
        f"{dataset.FINDINGS * scale:,.0f} findings of {dataset.WEBSITES} websites{_memory()}.",
    )
    base = next(name for name, (_, case) in sizes.items() if case == KEPT)
    for name, key in sizes.items():
        table.add(name, "CPU", costs.cost(name) * 1e3, "ms", at_most=GOALS[backend].get(key))
        table.add(name, "times the smallest", costs.ratio(name, base), "times")
    yield table


def _burst(clock: Clock, website: int, case: str) -> Callable[[], float]:
    from benchmarks import product  # imports models: only after Django is set up
    from dashboard_api.reading import website as kept

    call = product.dashboard_call(website, **CASES[case])

    def cost() -> float:
        if case == FIRST:
            kept.clear()
        before = clock()
        call()
        return clock() - before

    return cost


def _memory() -> str:
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SHOW shared_buffers")
        return f"; shared_buffers {cursor.fetchone()[0]}"


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
