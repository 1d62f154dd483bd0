"""CPU time of dashboards of small and large websites, for the first request after a change and later ones.

Each figure is the CPU time of a response before its encoding, including PostgreSQL's server process, after
its statements are planned. The calls alternate. Ratios compare with the smallest website with kept cells, and
accounts with answers to the large website with one without answers.
"""

from collections.abc import Callable, Iterator

from django.db import connection

from benchmarks import dataset
from benchmarks.command_line import BACKENDS, Table, compare, run
from benchmarks.servers import Clock

# A statement is prepared at its sixth execution, and PostgreSQL plans it five times more.
WARM_UP = 10
FIRST, KEPT, FILTERED, PROBLEMS, WORDS = "first", "then", "then, filtered", "then, problems", "then, words"
ANSWERED = "then, by answer"
WITH_ANSWERS = f", {dataset.ANSWERS:,} answers"
CASES = {
    FIRST: {},
    KEPT: {},
    FILTERED: {"severity": "High", "kind": "confirmed"},
    PROBLEMS: {"group_by": "problem"},
    ANSWERED: {"answer": "none,disputed", "due": "overdue"},
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
            if website == dataset.LARGE:
                name += WITH_ANSWERS
                bursts[name] = _burst(clock, website, case, account=dataset.ANSWERING)
                sizes[name] = (size, case + WITH_ANSWERS)
    compare(bursts, rounds=WARM_UP)
    costs = compare(bursts, rounds=rounds)
    table = Table(
        f"Reads on {backend}",
        f"{dataset.FINDINGS * scale:,.0f} findings of {dataset.WEBSITES} websites{_memory()}.",
    )
    without = {name: name.removesuffix(WITH_ANSWERS) for name in sizes}
    base = next(name for name, (_, case) in sizes.items() if case == KEPT)
    for name, key in sizes.items():
        table.add(name, "CPU", costs.cost(name) * 1e3, "ms", at_most=GOALS[backend].get(key))
        table.add(name, "times the smallest", costs.ratio(name, base), "times")
        if without[name] != name:
            table.add(name, "times without answers", costs.ratio(name, without[name]), "times")
    yield table


def _burst(clock: Clock, website: int, case: str, *, account: str = dataset.ACCOUNT) -> Callable[[], float]:
    from benchmarks import product  # imports models: only after Django is set up
    from dashboard_api.reading import website as kept

    call = product.dashboard_call(website, account=account, **CASES[case])

    def cost() -> float:
        if case == FIRST:
            kept.clear()
        elif case == KEPT:
            call()  # another account's first response may have forgotten parts of this one
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
