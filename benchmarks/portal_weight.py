"""What the portal's dashboard weighs and how soon it is there, beside the Django admin's list of findings.

Both are served by gunicorn with the settings the product ships, over the demo's data; the portal asks a
service of its own. The browser is that of benchmarks.browsing: a processor four times slower, 1.6 Mbit/s, an
empty cache. Figures are medians.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connections

from benchmarks import records
from benchmarks.browsing import Phone, Visit, check_chromium
from benchmarks.command_line import run
from benchmarks.figures import Table
from benchmarks.load import LOOPBACK
from benchmarks.servers import serving

PORTAL, ADMIN = "the portal", "Django's admin"
DASHBOARD = "/sites/shop.example.com/"
FINDINGS = "/admin/dashboard_api/finding/"
FACETS = [f"#facet-severity-{severity}" for severity in ("high", "medium", "low", "critical")]
LINKS = [f"#changelist-filter a[href$='severity__exact={severity}']" for severity in (3, 2, 1, 4)]
WAIT, ELEMENTS = "filter change to painted result", "elements, 100 findings"
GOALS = {
    "travelled": 60,
    "requests": 6,
    "largest contentful paint": 800,
    "total blocking time": 50,
    "layout shift": 0.02,
    WAIT: 250,
    ELEMENTS: 1_500,
}
NAME = "threat_dashboard_portal"


def tables(*, rounds: int) -> Iterator[Table]:
    """One table: the portal beside the admin."""
    check_chromium()
    from tests.browser.chromium import running_chromium

    password = secrets.token_urlsafe(12)
    table = Table(
        "A dashboard in the browser",
        "20 findings, charts and notes, beside 100 rows of the admin; processor 4 times slower, 1.6 Mbit/s, "
        "empty cache.",
    )
    with served(password) as address, running_chromium() as chromium:
        owner = Phone(chromium, address, _sign_in("owner", password))
        admin = Phone(chromium, address, _sign_in("admin", password))
        for column, phone, path in ((PORTAL, owner, DASHBOARD), (ADMIN, admin, FINDINGS)):
            _add_visits(table, column, [phone.visit(path) for _ in range(rounds)])
        _add(table, WAIT, PORTAL, median(owner.waits(DASHBOARD, [*FACETS] * rounds)), "ms")
        _add(table, WAIT, ADMIN, median(admin.waits(FINDINGS, [*LINKS] * rounds)), "ms")
        _add(table, ELEMENTS, PORTAL, owner.elements(f"{DASHBOARD}?page_size=100"), "number")
        _add(table, ELEMENTS, ADMIN, admin.elements(FINDINGS), "number")
    yield table


def _add_visits(table: Table, column: str, visits: Sequence[Visit]) -> None:
    def middle(name: str) -> float:
        return median(getattr(visit, name) for visit in visits)

    _add(table, "travelled", column, middle("bytes") / 1000, "KB")
    _add(table, "requests", column, middle("requests"), "number")
    _add(table, "largest contentful paint", column, middle("paint_ms"), "ms")
    _add(table, "total blocking time", column, middle("blocked_ms"), "ms")
    _add(table, "layout shift", column, middle("shift"), "number")


def _add(table: Table, row: str, column: str, value: float, unit: str) -> None:
    table.add(row, column, value, unit, at_most=GOALS[row] if column == PORTAL else None)


@contextmanager
def served(password: str) -> Iterator[str]:
    """The address of a portal over the demo's data, which asks a service beside it."""
    records.create("sqlite", NAME)
    records.use("sqlite", NAME)
    from config.demo.seeding import seed  # models can be imported only where Django is set up

    for alias in settings.DATABASES:
        call_command("migrate", database=alias, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    seed(password)
    connections.close_all()
    shipped = records.environment("sqlite", NAME) | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    with serving(shipped) as service:
        asking = shipped | {"DASHBOARD_BASE_URL": f"http://{LOOPBACK}:{service.port}"}
        with serving(asking) as portal:
            yield f"http://{LOOPBACK}:{portal.port}"
    records.discard("sqlite", NAME)


def _sign_in(name: str, password: str) -> Callable[[Any], None]:
    def sign_in(page: Any) -> None:
        page.goto("/accounts/login/")
        page.fill("[name=login]", name)
        page.fill("[name=password]", password)
        page.click("main form .primary")
        page.wait_for_url(lambda url: "login" not in url)  # staff go to the admin

    return sign_in


if __name__ == "__main__":
    run(tables, __doc__)
