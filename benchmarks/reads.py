"""CPU of the database for one answer about the largest website: at most 10 ms, and 25 ms for a search.

The statements of each answer are caught as the product sends them, then run again with all rows fetched; the
questions take turns. On SQLite it is the CPU of the thread that runs them, on PostgreSQL that of the backend.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks import dataset, rows
from benchmarks.command_line import ENGINES, run
from benchmarks.figures import Table
from benchmarks.pairing import paired
from benchmarks.statements import Clock, Statement, statements_of

GOAL_MS, SEARCH_GOAL_MS = 10, 25


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:
    """One table for the engine: a row for each question."""
    dataset.prepare(engine, scale)
    from benchmarks import questions  # models can be imported only where Django is set up

    website, clock = rows.LARGEST, Clock()
    asking = {name: questions.asking(website, **fields) for name, fields in _cases().items()}
    asking |= {
        f"changed: {name}": questions.asking_what_changed(website, since(website))
        for name, since in questions.CURSORS.items()
    }
    bursts = {name: _burst(clock, statements_of(ask)) for name, ask in asking.items()}
    paired(bursts, rounds=2)  # pages come into memory, statements into the driver's cache
    costs = paired(bursts, rounds=rounds)
    table = Table(
        f"Reads on {engine}",
        f"{rows.measured_size(website, scale):,} findings of the website, among "
        f"{rows.FINDINGS * scale:,.0f} of {rows.WEBSITES} websites.",
    )
    for name in bursts:
        goal = SEARCH_GOAL_MS if name.startswith("search") else GOAL_MS
        table.add(name, "CPU", costs.cost(name) * 1e3, "ms", at_most=goal)
    yield table


def _cases() -> dict[str, dict[str, Any]]:
    """The fields of each question, by name."""
    from benchmarks import questions

    website = rows.LARGEST
    common = {"query": rows.COMMON}
    cases: dict[str, dict[str, Any]] = {"first page": {}}
    cases |= {f"filter: {name}": fields_of(website) for name, fields_of in questions.FILTERS.items()}
    cases |= {f"status: {status}": {"status": status} for status in ("all", "fixed")}
    cases |= {
        "middle page": questions.deep_page(website, 0.5),
        "last page": questions.deep_page(website, 1),
        "last page, filtered": questions.deep_page(website, 1, kind="suspected"),
        "last page of all statuses, filtered": questions.deep_page(website, 1, kind="suspected")
        | {"status": "all"},
    }
    grouped = {"group_by": "problem"}
    cases |= {
        "first page, several values": {"severity": "Critical,High", "source": "engine-2,engine-3"},
        "first page, newest": {"sort": "newest"},
        "last page, oldest, filtered": questions.deep_page(website, 1, kind="suspected") | {"sort": "oldest"},
        "search: the last day": {"since": 1},
        "search: the last 30 days, filtered": {"since": 30, "kind": "suspected", "source": "engine-2"},
        "problems: first page": grouped,
        "problems: filtered": grouped | {"severity": "Critical,High", "kind": "confirmed"},
        "problems: of all statuses": grouped | {"status": "all"},
        "problems: page 100": grouped | {"page": 100},
        "one problem": {"problem": questions.frequent_problem(website)},
        "one problem, oldest": {"problem": questions.frequent_problem(website), "sort": "oldest"},
        "one problem, filtered": {"problem": questions.frequent_problem(website), "kind": "suspected"},
        "search: problems of a common word": common | grouped,
    }
    cases |= {f"search: {name}": {"query": words} for name, words in questions.SEARCHES.items()}
    cases |= {
        "search: a common word, 100 a page": common | {"page_size": 100},
        "search: a common word, filtered": common | {"severity": "High", "kind": "suspected"},
        "search: a common word, three filters": common | questions.FILTERS["all three"](website),
        "search: a common word, all statuses": common | {"status": "all"},
        "search: a common word, middle page": common | {"page": 250},
        "search: a common word, deepest page": common | {"page": 500},
    }
    return cases


def _burst(clock: Clock, statements: Iterable[Statement]) -> Callable[[], float]:
    def cost() -> float:
        before = clock()
        for statement in statements:
            statement.run()
        return clock() - before

    return cost


if __name__ == "__main__":
    run(tables, __doc__, engines=ENGINES)
