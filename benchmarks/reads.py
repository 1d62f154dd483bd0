"""Database CPU time of calls about the largest website: at most 10 ms, and 25 ms for a search.

The SQL statements of each call are recorded as the product sends them, then run again with all rows fetched;
the calls alternate. On SQLite, the CPU time is that of the thread; on PostgreSQL, of its server process, once
it has planned the statements, which it does ten times for each connection.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import connection

from benchmarks import dataset, rows
from benchmarks.command_line import BACKENDS, run
from benchmarks.comparison import compare
from benchmarks.database_cost import Clock, Statement, statements_of
from benchmarks.figures import Table

GOAL_MS, SEARCH_GOAL_MS = 10, 25
# A statement is prepared when it is sent for the sixth time, and PostgreSQL plans it five times more.
WARM_UP = 10


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield one table for the backend: a row for each call."""
    dataset.prepare(backend, scale)
    from benchmarks import calls  # imports models: only after Django is set up

    website, clock = rows.LARGEST, Clock()
    callables = {name: calls.dashboard_call(website, **fields) for name, fields in _cases().items()}
    callables |= {
        f"changes: {name}": calls.changes_call(website, since(website))
        for name, since in calls.CURSORS.items()
    }
    bursts = {name: _burst(clock, statements_of(call)) for name, call in callables.items()}
    compare(bursts, rounds=WARM_UP)
    costs = compare(bursts, rounds=rounds)
    table = Table(
        f"Reads on {backend}",
        f"{rows.measured_size(website, scale):,} findings of the website, among "
        f"{rows.FINDINGS * scale:,.0f} of {rows.WEBSITES} websites{_memory()}.",
    )
    for name in bursts:
        goal = SEARCH_GOAL_MS if name.startswith("search") else GOAL_MS
        table.add(name, "CPU", costs.cost(name) * 1e3, "ms", at_most=goal)
    yield table


def _cases() -> dict[str, dict[str, Any]]:
    """Return the fields of each dashboard call, by name."""
    from benchmarks import calls

    website = rows.LARGEST
    common = {"query": rows.COMMON}
    cases: dict[str, dict[str, Any]] = {"first page": {}}
    cases |= {f"filter: {name}": fields_of(website) for name, fields_of in calls.FILTERS.items()}
    cases |= {f"status: {status}": {"status": status} for status in ("all", "fixed")}
    cases |= {
        "middle page": calls.deep_page(website, 0.5),
        "last page": calls.deep_page(website, 1),
        "last page, filtered": calls.deep_page(website, 1, kind="suspected"),
        "last page of all statuses, filtered": calls.deep_page(website, 1, kind="suspected")
        | {"status": "all"},
    }
    grouped = {"group_by": "problem"}
    cases |= {
        "first page, several values": {"severity": "Critical,High", "source": "scanner-2,scanner-3"},
        "first page, priority": {"sort": "priority"},
        "last page, priority": calls.deep_page(website, 1) | {"sort": "priority"},
        "last page, priority, filtered": calls.deep_page(website, 1, kind="suspected") | {"sort": "priority"},
        "first page, newest": {"sort": "newest"},
        "last page, oldest, filtered": calls.deep_page(website, 1, kind="suspected") | {"sort": "oldest"},
        "search: the last day": {"since": 1},
        "search: an age of 23 days": {"since": 30, "older_than": 7},
        "search: fixed in 7 days": {"status": "fixed", "fixed_since": 7},
        "search: the last 30 days, filtered": {"since": 30, "kind": "suspected", "source": "scanner-2"},
        "hosts: the largest": {"hosts": rows.host(website)},
        "hosts: a small one, last page": {"hosts": f"app7.{rows.host(website)}", "page": 400},
        "hosts: two, filtered, newest": {
            "hosts": f"www.{rows.host(website)},app7.{rows.host(website)}",
            "kind": "suspected",
            "sort": "newest",
        },
        "search: problems of a host": grouped | {"hosts": rows.host(website)},
        "problems: first page": grouped,
        "problems: filtered": grouped | {"severity": "Critical,High", "kind": "confirmed"},
        "problems: of all statuses": grouped | {"status": "all"},
        "problems: newest": grouped | {"sort": "newest"},
        "problems: most locations": grouped | {"sort": "locations"},
        "problems: page 100": grouped | {"page": 100},
        "one problem": {"problem": calls.frequent_problem(website)},
        "one problem, oldest": {"problem": calls.frequent_problem(website), "sort": "oldest"},
        "one problem, filtered": {"problem": calls.frequent_problem(website), "kind": "suspected"},
        "search: problems of a common word": common | grouped,
    }
    cases |= {f"search: {name}": {"query": words} for name, words in calls.SEARCHES.items()}
    cases |= {
        "search: a common word, 100 a page": common | {"page_size": 100},
        "search: a common word, filtered": common | {"severity": "High", "kind": "suspected"},
        "search: a common word, three filters": common | calls.FILTERS["all three"](website),
        "search: a common word, all statuses": common | {"status": "all"},
        "search: a common word, middle page": common | {"page": 250},
        "search: a common word, deepest page": common | {"page": 500},
        "search: a common word, priority": common | {"sort": "priority"},
        "search: a common word, newest": common | {"sort": "newest"},
        "search: a common word, oldest, page 50": common | {"sort": "oldest", "page": 50},
        "search: a common word in one problem": common | {"problem": calls.frequent_problem(website)},
        "search: a common word, the last 30 days": common | {"since": 30},
    }
    return cases


def _memory() -> str:
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SHOW shared_buffers")
        return f"; shared_buffers {cursor.fetchone()[0]}"


def _burst(clock: Clock, statements: Iterable[Statement]) -> Callable[[], float]:
    def cost() -> float:
        before = clock()
        for statement in statements:
            statement.run()
        return clock() - before

    return cost


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
