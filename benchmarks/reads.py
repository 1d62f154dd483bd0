"""CPU of the database for one answer, by the size of the website: flat, and below 10 ms.

The statements of each answer are caught as the product sends them, then run again with all rows fetched; the
sizes take turns. On SQLite it is the CPU of the thread that runs them, on PostgreSQL that of the backend.
Growth is the exponent log10(largest / smallest) / 3: 0 is flat, 1 is linear.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks import dataset, rows
from benchmarks.command_line import run
from benchmarks.figures import Table
from benchmarks.pairing import Paired, paired
from benchmarks.statements import Clock, Statement, statements_of

SIZES = list(rows.MEASURED)
GOAL_MS, GOAL_GROWTH = 10, 0.1


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """Whole answers to many questions; then the first of them by the tables that it reads."""
    dataset.prepare(engine, scale)
    from benchmarks import questions  # models can be imported only where Django is set up

    clock = Clock()
    whole = Table(f"Reads on {engine}: whole answers", _note(scale))
    for name, fields_of in _cases().items():
        found = {size: statements_of(questions.asking(size, **fields_of(size))) for size in SIZES}
        _add(whole, name, _measured(clock, found, rounds=rounds), scale)
    yield whole
    parts = Table(f"Reads on {engine}: the first page by table", _note(scale))
    found = {size: statements_of(questions.asking(size)) for size in SIZES}
    for table in dict.fromkeys(statement.table for statement in found[SIZES[-1]]):
        of_table = {
            size: [statement for statement in statements if statement.table == table]
            for size, statements in found.items()
        }
        _add(parts, table, _measured(clock, of_table, rounds=rounds), scale)
    yield parts


def _cases() -> dict[str, Callable[[str], dict[str, Any]]]:
    """What is asked, by name, for the website of a size."""
    from benchmarks import questions

    cases: dict[str, Callable[[str], dict[str, Any]]] = {"first page": lambda _: {}}
    for name in questions.FILTERS:
        cases[f"filter: {name}"] = lambda size, name=name: questions.FILTERS[name](size)
    cases["status: all"] = lambda _: {"status": "all"}
    cases["status: fixed"] = lambda _: {"status": "fixed"}
    for name, words in questions.SEARCHES.items():
        cases[f"search: {name}"] = lambda _, words=words: {"query": words}
    cases["search: a common word, filtered"] = lambda _: {
        "query": rows.COMMON,
        "severity": "High",
        "kind": "suspected",
    }
    cases["middle page"] = lambda size: questions.deep_page(size, 0.5)
    cases["last page"] = lambda size: questions.deep_page(size, 1)
    cases["last page, filtered"] = lambda size: questions.deep_page(size, 1, kind="suspected")
    return cases


def _measured(clock: Clock, found: dict[str, list[Statement]], *, rounds: int) -> Paired:
    def burst(statements: Iterable[Statement]) -> Callable[[], float]:
        def cost() -> float:
            before = clock()
            for statement in statements:
                statement.run()
            return clock() - before

        return cost

    bursts = {size: burst(statements) for size, statements in found.items()}
    paired(bursts, rounds=2)  # pages come into memory, statements into the driver's cache
    return paired(bursts, rounds=rounds)


def _add(table: Table, name: str, costs: Paired, scale: float) -> None:
    for size in SIZES:
        goal = GOAL_MS if size == SIZES[-1] else None
        findings = f"{rows.MEASURED[size] * scale:,.0f}"
        table.add(name, findings, costs.cost(size) * 1e3, "ms", at_most=goal)
    growth = math.log10(max(costs.ratio(SIZES[-1], SIZES[0]), 0.001)) / 3
    table.add(name, "growth", growth, "exponent", at_most=GOAL_GROWTH)


def _note(scale: float) -> str:
    return f"By findings of one website, among {rows.FINDINGS * scale:,.0f} of {rows.WEBSITES} websites."


if __name__ == "__main__":
    run(tables, __doc__, engines=True)
