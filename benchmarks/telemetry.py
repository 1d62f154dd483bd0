"""Cost of publishing public telemetry, and the attacks on its numbers for many generated populations.

At full size 2,000,000 findings of 500 websites and 100 accounts. A run reads the counted websites, makes the
statistics and the feed, and is rolled back. Memory is what Python allocated. ``--attacks`` runs the
attacks of the tests for 10,000 populations instead; --short for 1,000. On SQLite, time is the processor's.
Then what is published is served in this process, in turns with a bare view of the same bytes, under the same
middleware.
"""

import http
import sys
import time
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from statistics import median

from benchmarks import databases
from benchmarks.baselines import RESPONSE_FILE
from benchmarks.command_line import BACKENDS, run
from benchmarks.figures import Table
from benchmarks.hostile_calls import Product
from benchmarks.request_costs import UnexpectedStatus

NAME = "threat_dashboard_telemetry"
WEBSITES, ACCOUNTS, FINDINGS = 500, 100, 2_000_000
COPIES = 20  # of each generated finding, by a statement
REQUESTS = 200
BARE = "a bare view of the same bytes"
SERVED: dict[str, tuple[str, float | None]] = {  # the address, and how many times bare it may cost
    BARE: ("/benchmark/bare", None),
    "the statistics": ("/v1/public/statistics", 1.1),
    "the feed": ("/v1/public/feed", 1.1),
    "the page": ("/v1/public", None),
}
CWES = (79, 89, 22, 352, 601, 693, 295, 326, 200, 16)


def tables(*, rounds: int, backend: str, scale: float) -> Iterator[Table]:
    """Yield the cost of a run."""
    databases.use(backend, NAME)
    databases.create(backend, NAME)
    findings = _fill(int(FINDINGS * scale))
    clock = time.process_time if backend == "sqlite" else time.perf_counter
    seconds = []
    for _ in range(rounds):
        began = clock()
        _publish()
        seconds.append(clock() - began)
    tracemalloc.start()
    _publish()
    megabytes = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    table = Table(f"Publishing, {backend}", f"{findings:,} findings of {WEBSITES} websites")
    table.add("a run", "time", median(seconds), "s", at_most=5)
    table.add("a run", "memory", megabytes, "MB", at_most=100)
    yield table
    yield _serving(backend, rounds)
    databases.discard(backend, NAME)


def _serving(backend: str, rounds: int) -> Table:
    """Return the cost of requests for what is published, compared with a bare view."""
    from django.core.management import call_command  # only after Django is set up

    from dashboard_api.models import Published

    call_command("publish_telemetry", verbosity=0)
    RESPONSE_FILE.write_bytes(bytes(Published.objects.get(kind=Published.Kind.STATISTICS).body))
    product, costs = Product(), {row: list[float]() for row in SERVED}
    for row in SERVED:
        _ask(product, row)  # reads it once
    for _ in range(5 * rounds):
        for row, seconds in costs.items():
            began = time.process_time()
            for _ in range(REQUESTS):
                _ask(product, row)
            seconds.append((time.process_time() - began) / REQUESTS)
    table = Table(f"Serving, {backend}", f"{REQUESTS} requests for each row in turn, in this process")
    for row, seconds in costs.items():
        table.add(row, "CPU", min(seconds) * 1e3, "ms")
        table.add(row, "times bare", min(seconds) / min(costs[BARE]), "times", at_most=SERVED[row][1])
    return table


def _ask(product: Product, row: str) -> None:
    answer = product.answer({"REQUEST_METHOD": "GET", "PATH_INFO": SERVED[row][0]}, b"")
    if answer.status != http.HTTPStatus.OK:
        raise UnexpectedStatus(f"{row}: {answer.status}")


def _fill(findings: int) -> int:
    """Fill an empty database, and return its number of findings; counts are computed at the end."""
    # imports models: only after Django is set up
    from django.core.management import call_command
    from django.db import connection, connections
    from django.utils import timezone

    from dashboard_api import models as api
    from dashboard_api.backends import triggers

    for alias in connections:
        call_command("migrate", database=alias, verbosity=0)
    now, dice = timezone.now(), Random(1)
    day, year = now.date(), timedelta(days=365)
    accounts = api.Account.objects.bulk_create(api.Account(ref=f"acct_{n}") for n in range(ACCOUNTS))
    api.Entitlement.objects.bulk_create(
        api.Entitlement(account=account, starts_on=day - year, ends_on=day + year) for account in accounts
    )
    source = api.Source.objects.create(slug="nuclei", name="Nuclei")
    websites = api.Website.objects.bulk_create(
        api.Website(
            host=f"shop{n}.{('de', 'com', 'co.uk')[n % 3]}",
            verified_at=now,
            verified_by="bench",
            verification_method="dns",
        )
        for n in range(WEBSITES)
    )
    api.SiteLink.objects.bulk_create(
        api.SiteLink(account=accounts[n % ACCOUNTS], website=website, link_id=str(n))
        for n, website in enumerate(websites)
    )
    api.Coverage.objects.bulk_create(
        api.Coverage(website=website, source=source, state="ok", last_run_at=now, completed_at=now)
        for website in websites
    )
    each = findings // WEBSITES // COPIES
    triggers.remove(connection)
    for website in websites:
        api.Finding.objects.bulk_create(
            [_finding(website, source, number, now, dice) for number in range(each)], batch_size=2_000
        )
    fields = api.Finding._meta.concrete_fields  # noqa: SLF001  # Django's public model API
    columns = [f'"{field.column}"' for field in fields if not field.generated and not field.primary_key]
    with connection.cursor() as cursor:
        for copy in range(1, COPIES):
            names = ", ".join(columns)
            values = names.replace('"fingerprint"', f"'{copy:02}' || substr(fingerprint, 3)")
            select = f"SELECT {values} FROM dashboard_api_finding WHERE fingerprint LIKE '00%'"  # noqa: S608
            cursor.execute(f"INSERT INTO dashboard_api_finding ({names}) {select}")
    triggers.install(connection)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return each * COPIES * WEBSITES


def _finding(website, source, number, now, dice):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    from dashboard_api import models as api

    seen = now - timedelta(hours=dice.randint(1, 2_000))
    is_fixed = dice.random() < 0.4
    return api.Finding(
        website=website,
        source=source,
        fingerprint=f"{number:064x}",
        severity=dice.randint(0, 4),
        kind=dice.choice(("confirmed", "confirmed", "suspected")),
        title="A finding",
        rule=f"rule-{dice.randint(1, 300)}",
        cwe=[dice.choice(CWES)],
        location=f"https://{website.host}/{number}",
        first_seen=seen,
        last_seen=now,
        status="fixed" if is_fixed else "open",
        fixed_at=now if is_fixed else None,
    )


def _publish() -> None:
    """Run what the command runs, without a trace."""
    from django.db import transaction
    from django.utils import timezone

    from dashboard_api.public import publishing

    with transaction.atomic():
        now = timezone.now()
        websites = publishing.population(publishing.last_day(now), now)
        publishing.publish_statistics(websites, now)
        publishing.publish_feed(websites, now)
        transaction.set_rollback(True)


def attack(populations: int) -> None:
    """Raise AssertionError if the statistics of a generated population break a rule."""
    databases.use("sqlite", NAME)
    from tests.dashboard_api.public.attacks import check_population

    for seed in range(populations):
        check_population(seed)
    print(f"{populations:,} populations: no number below the floor, and none by subtraction.")


if __name__ == "__main__":
    if "--attacks" in sys.argv:
        attack(1_000 if "--short" in sys.argv else 10_000)
    else:
        run(tables, __doc__, backends=BACKENDS)
