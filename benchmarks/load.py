"""Calls and pages that one installation answers in a second, under filters that were not asked before.

gunicorn with 2 processes of 4 threads serves 16 open connections, which send the next request as soon as the
last one is answered; all its files are written through (SQLITE_SYNCHRONOUS=FULL). Every request asks another
question: a status, severities, kind, scanner, order and page by chance, three quarters of them with a search.
A round is five seconds of calls, and five of pages. A minute of each, with 10,000 findings of the website:
``--scale 0.01 --rounds 12``; half an hour, to see whether the memory grows: ``--rounds 180``. The CPU time is
that of the web processes and of PostgreSQL's for their connections; other work changes it less than the rest.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connections

from benchmarks import databases, dataset, rows
from benchmarks.command_line import BACKENDS, run
from benchmarks.figures import Table
from benchmarks.http_load import Burst, LoadProcess, Responses
from benchmarks.machine import children_of, memory_mb
from benchmarks.request_costs import PostgresProcesses
from benchmarks.servers import THREADS, WORKERS, Server, run_server
from benchmarks.signed_calls import PATH

CONNECTIONS, SECONDS, MOST = 16, 5, 5_000
CALLS, PAGES = "signed calls", "pages of the portal"
A_SECOND = {"sqlite": {CALLS: 120, PAGES: 40}, "postgresql": {CALLS: 250, PAGES: 40}}
P95_MS = {CALLS: 250, PAGES: 600}
MOST_GROWTH = 5  # per cent
_LETTERS = "bcdfgh"  # with which words begin


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield one table for the backend."""
    name = dataset.prepare(backend, scale)
    call_command("collectstatic", interactive=False, verbosity=0)
    body = _body()
    cookie, chance = _sign_in(body), random.Random()  # new questions each time, not a secret
    connections.close_all()
    through = databases.environment(backend, name) | {"SQLITE_SYNCHRONOUS": "FULL"}
    table = Table(
        f"Load on {backend}",
        f"{rows.measured_size(rows.LARGEST, scale):,} findings of the website; gunicorn gthread {WORKERS} x "
        f"{THREADS}, {CONNECTIONS} connections, {rounds * SECONDS} seconds of each.",
    )
    database = PostgresProcesses(name) if backend == "postgresql" else None
    cpu, seen, memory = Counter[str](), defaultdict[str, list[Responses]](list), []
    with run_server(through) as server, LoadProcess() as load:
        size = {"port": server.port, "seconds": SECONDS, "count": MOST, "connections": CONNECTIONS}
        calls = Burst(path=PATH, secret=rows.SECRET, **size)
        pages = Burst(path=f"/sites/{rows.host(rows.LARGEST)}/", cookie=cookie, **size)
        for _ in range(rounds):
            questions = [_question(chance) for _ in range(MOST)]
            bodies = [body | each for each in questions]
            for row, burst in {
                CALLS: replace(calls, bodies=bodies),
                PAGES: replace(pages, bodies=questions),
            }.items():
                before = _cpu_seconds(server, database)
                seen[row].append(load.send(burst))
                cpu[row] += _cpu_seconds(server, database) - before
            memory.append(sum(map(memory_mb, children_of(server.process))))
    for row, responses in seen.items():
        _add(table, row, responses, A_SECOND[backend][row])
        table.add(row, "CPU", cpu[row] / sum(each.count for each in responses) * 1e3, "ms")
    _add_memory(table, memory)
    yield table


def _cpu_seconds(server: Server, database: PostgresProcesses | None) -> float:
    return server.cpu_seconds() + (database.cpu_seconds() if database else 0)


def _add(table: Table, row: str, responses: list[Responses], least: int) -> None:
    statuses = sum((Counter(each.statuses) for each in responses), Counter[str]())
    count = statuses.total()
    seconds = sum(each.seconds for each in responses)
    table.add(row, "a second", count / seconds, "number", at_least=least)
    table.add(row, "p50", median(each.p50_ms for each in responses), "ms")
    table.add(row, "p95", median(each.p95_ms for each in responses), "ms", at_most=P95_MS[row])
    table.add(row, "other statuses than 200", count - statuses.pop("200", 0), "number", at_most=0)
    for status, times in statuses.items():
        table.add(row, f"status {status}", times, "number")


def _add_memory(table: Table, memory: list[int]) -> None:
    """Add the size of the web processes; its growth is from the first half of the rounds to the second."""
    table.add("memory of the web processes", "at the end", memory[-1], "MB")
    if middle := len(memory) // 2:
        growth = 100 * (max(memory[middle:]) / max(memory[:middle]) - 1)
        table.add("memory of the web processes", "growth", growth, "%", at_most=MOST_GROWTH)


def _question(chance: random.Random) -> dict[str, Any]:
    """Return the filters of a question, by names that the portal and the service share."""
    fields = {
        "status": chance.choice(("", "", "fixed", "all")),
        "severity": chance.choice(("", "Critical,High", "Critical", "High", "Medium", "Low")),
        "kind": chance.choice(("", "confirmed", "suspected")),
        "source": chance.choice(("", "", f"scanner-{chance.randint(1, rows.SOURCES)}")),
        "sort": chance.choice(("", "newest", "oldest")),
        "query": chance.choice(("", rows.COMMON, rows.MEDIUM, f"{rows.COMMON} {chance.choice(_LETTERS)}")),
        "page": chance.randint(1, 20),
    }
    return {name: value for name, value in fields.items() if value}


def _body() -> dict[str, Any]:
    from benchmarks import calls  # imports models: only after Django is set up

    return calls.body_about(rows.LARGEST)


def _sign_in(body: dict[str, Any]) -> str:
    """Connect a member of the portal to the website, and return the cookie of the member's session."""
    # imports models: only after Django is set up
    from django.contrib.auth import get_user_model
    from django.test import Client

    from portal.models import Account, Membership, Website

    account = Account.objects.filter(ref=rows.ACCOUNT).first() or Account(ref=rows.ACCOUNT)
    account.set_secret(rows.SECRET)
    account.save()
    Website.objects.get_or_create(account=account, host=body["host"], link_id=body["link_id"])
    member, _ = get_user_model().objects.get_or_create(username="benchmark")
    Membership.objects.get_or_create(user=member, account=account, role="owner")
    browser = Client()
    browser.force_login(member)
    return f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"


if __name__ == "__main__":
    run(tables, __doc__, backends=BACKENDS)
