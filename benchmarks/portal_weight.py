"""Size and speed of the portal's dashboard, compared with the Django admin's list of findings.

Both show the demo's data, served by gunicorn with the shipped settings; the portal calls a separate service.
The browser is that of ``benchmarks.browsing``: a processor four times slower, 1.6 Mbit/s, an empty cache.
Figures are medians; both take turns, so that other work on the machine slows both.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

from django.db import connections

from benchmarks import databases
from benchmarks.browsing import Phone, Visit, check_chromium
from benchmarks.command_line import run
from benchmarks.demo_database import create_demo
from benchmarks.figures import Table
from benchmarks.http_load import LOOPBACK
from benchmarks.servers import run_server

PORTAL, ADMIN, RATIO = "the portal", "Django's admin", "ratio"
DASHBOARD = "/sites/shop.example.com/"
FINDINGS = "/admin/dashboard_api/finding/"
FACETS = [f"#facet-severity-{severity}" for severity in ("high", "medium", "low", "critical")]
LINKS = [f"#changelist-filter a[href$='severity__exact={severity}']" for severity in (3, 2, 1, 4)]
FILTER, ELEMENTS = "filter change to painted result", "elements, 100 findings"
GOALS = {"bytes transferred": 60, "requests": 8, "layout shift": 0.02, ELEMENTS: 1_500}
# Of the admin's times in the same run: machines differ by a factor of four.
RATIOS = {"largest contentful paint": 0.5, "total blocking time": 0.5, FILTER: 0.35}
NAME = "threat_dashboard_portal"


def tables(*, rounds: int) -> Iterator[Table]:
    """Yield one table: the portal and the admin."""
    check_chromium()
    from tests.browser.chromium import running_chromium

    password = secrets.token_urlsafe(12)
    table = Table(
        "A dashboard in the browser",
        "20 findings, charts and notes; the admin lists 100 rows; processor 4 times slower, 1.6 Mbit/s, "
        "empty cache.",
    )
    with run_portal(password) as address, running_chromium() as chromium:
        owner = Phone(chromium, address, _sign_in("owner", password))
        admin = Phone(chromium, address, _sign_in("admin", password))
        rounds_of_visits = [(owner.visit(DASHBOARD), admin.visit(FINDINGS)) for _ in range(rounds)]
        rounds_of_clicks = [
            (owner.click_times(DASHBOARD, FACETS), admin.click_times(FINDINGS, LINKS)) for _ in range(rounds)
        ]
        for number, column in enumerate((PORTAL, ADMIN)):
            _add_visits(table, column, [visits[number] for visits in rounds_of_visits])
            times = [time for clicks in rounds_of_clicks for time in clicks[number]]
            _add(table, FILTER, column, median(times), "ms")
        _add(table, ELEMENTS, PORTAL, owner.elements(f"{DASHBOARD}?page_size=100"), "number")
        _add(table, ELEMENTS, ADMIN, admin.elements(FINDINGS), "number")
        _add_ratios(table)
    yield table


def _add_visits(table: Table, column: str, visits: Sequence[Visit]) -> None:
    def middle(name: str) -> float:
        return median(getattr(visit, name) for visit in visits)

    _add(table, "bytes transferred", column, middle("bytes") / 1000, "KB")
    _add(table, "requests", column, middle("requests"), "number")
    _add(table, "largest contentful paint", column, middle("paint_ms"), "ms")
    _add(table, "total blocking time", column, middle("blocked_ms"), "ms")
    _add(table, "layout shift", column, middle("shift"), "number")


def _add(table: Table, row: str, column: str, value: float, unit: str) -> None:
    table.add(row, column, value, unit, at_most=GOALS.get(row) if column == PORTAL else None)


def _add_ratios(table: Table) -> None:
    for row, goal in RATIOS.items():
        portal, admin = (table.cells[row, column].value for column in (PORTAL, ADMIN))
        table.add(
            row, RATIO, portal / max(admin, 1), "times", at_most=goal
        )  # a quick machine is never blocked


@contextmanager
def run_portal(password: str) -> Iterator[str]:
    """Serve the demo by a portal and a separate service; yield the URL of the portal."""
    environment = create_demo("sqlite", NAME, password=password)
    connections.close_all()
    with run_server(environment) as service:
        remote = {"DASHBOARD_BASE_URL": f"http://{LOOPBACK}:{service.port}"}
        with run_server(environment | remote) as portal:
            yield f"http://{LOOPBACK}:{portal.port}"
    databases.discard("sqlite", NAME)


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
