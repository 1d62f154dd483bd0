"""CPU of the database for one answer, by the size of the website: flat, and below 10 ms.

The statements of each answer are caught as the product sends them, then run again with all rows fetched; the
sizes take turns. On SQLite it is the CPU of the thread that runs them, on PostgreSQL that of the backend.
Growth is the exponent log(times dearer) / log(times larger): 0 is flat, 1 is linear. It has a
goal over the whole range only, from 1,000 to 1,000,000.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import connection

from benchmarks import dataset, rows
from benchmarks.command_line import ENGINES, run
from benchmarks.figures import Table
from benchmarks.pairing import Paired, paired
from benchmarks.statements import Clock, Statement, for_driver, statements_of

GOAL_MS, GOAL_GROWTH = 10, 0.1


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """Whole answers to many questions; then the first of them by its parts."""
    dataset.prepare(engine, scale)
    from benchmarks import questions  # models can be imported only where Django is set up

    clock = Clock()
    whole = Table(f"Reads on {engine}: whole answers", _note(scale))
    for name, fields_of in _cases().items():
        asking = {website: questions.asking(website, **fields_of(website)) for website in rows.MEASURED}
        found = {website: statements_of(ask) for website, ask in asking.items()}
        _add(whole, name, _measured(clock, found, rounds=rounds), scale)
    for name, since in questions.CURSORS.items():
        found = {
            website: statements_of(questions.asking_what_changed(website, since(website)))
            for website in rows.MEASURED
        }
        _add(whole, f"changed: {name}", _measured(clock, found, rounds=rounds), scale)
    yield whole
    table = Table(f"Reads on {engine}: the first page by its parts", _note(scale))
    parts = {website: _parts(statements_of(questions.asking(website))) for website in rows.MEASURED}
    for name in parts[rows.LARGEST]:
        found = {website: [by_name[name]] for website, by_name in parts.items()}
        _add(table, name, _measured(clock, found, rounds=rounds), scale)
    yield table


def _parts(statements: list[Statement]) -> dict[str, Statement]:
    """The overview's, each by itself, between the caller's and the list's."""
    from dashboard_api.engines import engine_of
    from dashboard_api.models import overview

    caller, told, listed = statements
    given = frozenset(name for name, value in told.parameters.items() if value is not None)
    parts = {
        name: for_driver(overview.statement(engine_of(connection), (name,), given), told.parameters)
        for name in overview.PARTS
    }
    return {"caller": caller, **parts, "findings": listed}


def _cases() -> dict[str, Callable[[int], dict[str, Any]]]:
    """What is asked, by name, for the website of a size."""
    from benchmarks import questions

    cases: dict[str, Callable[[int], dict[str, Any]]] = {"first page": lambda _: {}}
    for name in questions.FILTERS:
        cases[f"filter: {name}"] = lambda website, name=name: questions.FILTERS[name](website)
    cases["status: all"] = lambda _: {"status": "all"}
    cases["status: fixed"] = lambda _: {"status": "fixed"}
    for name, words in questions.SEARCHES.items():
        cases[f"search: {name}"] = lambda _, words=words: {"query": words}
    cases["search: a common word, 100 a page"] = lambda _: {"query": rows.COMMON, "page_size": 100}
    cases["search: a common word, filtered"] = lambda _: {
        "query": rows.COMMON,
        "severity": "High",
        "kind": "suspected",
    }
    cases["middle page"] = lambda website: questions.deep_page(website, 0.5)
    cases["last page"] = lambda website: questions.deep_page(website, 1)
    cases["last page, filtered"] = lambda website: questions.deep_page(website, 1, kind="suspected")
    return cases


def _measured(clock: Clock, found: dict[int, list[Statement]], *, rounds: int) -> Paired:
    def burst(statements: Iterable[Statement]) -> Callable[[], float]:
        def cost() -> float:
            before = clock()
            for statement in statements:
                statement.run()
            return clock() - before

        return cost

    bursts = {website: burst(statements) for website, statements in found.items()}
    paired(bursts, rounds=2)  # pages come into memory, statements into the driver's cache
    return paired(bursts, rounds=rounds)


def _add(table: Table, name: str, costs: Paired, scale: float) -> None:
    sizes = {website: rows.measured_size(website, scale) for website in rows.MEASURED}
    for website, size in sizes.items():
        goal = GOAL_MS if website == rows.LARGEST else None
        table.add(name, f"{size:,}", costs.cost(website) * 1e3, "ms", at_most=goal)
    dearer, larger = costs.ratio(rows.LARGEST, rows.SMALLEST), sizes[rows.LARGEST] / sizes[rows.SMALLEST]
    growth = math.log(dearer) / math.log(larger)
    table.add(name, "growth", growth, "exponent", at_most=GOAL_GROWTH if scale == 1 else None)


def _note(scale: float) -> str:
    return f"By findings of one website, among {rows.FINDINGS * scale:,.0f} of {rows.WEBSITES} websites."


if __name__ == "__main__":
    run(tables, __doc__, engines=ENGINES)
