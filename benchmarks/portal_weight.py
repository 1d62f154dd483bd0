"""Size and speed of the portal's dashboard, compared with the Django admin's list of findings.

Both show the demo's data, served by gunicorn with the shipped settings; the portal calls a separate service.
The browser is a slow phone: Chromium with a processor four times slower than this machine's, 1.6 Mbit/s
without added latency, and an empty cache at every visit.
Figures are medians; both take turns, so that other work on the machine slows both.
"""

import importlib.util
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db import connections

from benchmarks import databases
from benchmarks.command_line import Table, Unavailable, run
from benchmarks.http_load import LOOPBACK
from benchmarks.servers import run_server

CPU_SLOWDOWN = 4
BITS_PER_SECOND = 1_600_000
SETTLE_MS = 500  # after a page has loaded, late requests and tasks still count
LONG_MS = 50  # a task of the main thread blocks input for the time beyond this
_TRACED = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
_NETWORK = {
    "offline": False,
    "latency": 0,
    "downloadThroughput": BITS_PER_SECOND / 8,
    "uploadThroughput": BITS_PER_SECOND / 8,
}
# performance.now() restarts with each page; adding timeOrigin makes times of two pages comparable.
_OBSERVE = """
const metrics = (window.metrics = {paint: 0, shift: 0});
const watch = (type, callback) => new PerformanceObserver((list) => list.getEntries().forEach(callback))
  .observe({type, buffered: true});
watch("largest-contentful-paint", (entry) => { metrics.paint = entry.startTime; });
watch("layout-shift", (entry) => { if (!entry.hadRecentInput) metrics.shift += entry.value; });
const now = () => performance.timeOrigin + performance.now();
const afterPaint = (callback) => requestAnimationFrame(() => setTimeout(() => callback(now()), 0));
addEventListener("click", () => { sessionStorage.clickTime = now(); }, true);
const logWait = () => sessionStorage.clickTime && afterPaint((time) => {
  console.info("waited", time - sessionStorage.clickTime);
  delete sessionStorage.clickTime;
});
addEventListener("htmx:afterSwap", logWait);
// A whole page is there when all of its rows are, not when its header is.
document.addEventListener("readystatechange", () => document.readyState === "interactive" && logWait());
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Measurements of one page load with an empty cache; ``bytes`` counts compressed transfers.

    ``blocked_ms`` is Lighthouse's total blocking time: the part beyond 50 ms of each task of the main thread
    after the first contentful paint.
    """

    bytes: float
    requests: int
    paint_ms: float
    blocked_ms: float
    shift: float


class Phone:
    """A slow phone with a signed-in session and an empty cache for every page."""

    def __init__(self, browser: Any, address: str, sign_in: Callable[[Any], None]) -> None:
        """Sign in once; ``sign_in`` fills in the form of the page."""
        self._browser = browser
        self._options: dict[str, Any] = {"base_url": address}
        with self._open_page() as page:
            sign_in(page)
            self._options["storage_state"] = page.context.storage_state()

    def visit(self, path: str) -> Visit:
        """Load a page and return its measurements."""
        with self._open_page() as page:
            session = self._throttle(page)
            session.send("Network.enable")
            sizes: list[float] = []
            session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
            with _traced(page, session) as events:
                page.goto(path)
                page.wait_for_timeout(SETTLE_MS)
                metrics = page.evaluate("window.metrics")
        return Visit(
            bytes=sum(sizes),
            requests=len(sizes),
            paint_ms=metrics["paint"],
            blocked_ms=blocked_ms(events),
            shift=metrics["shift"],
        )

    def elements(self, path: str) -> int:
        """Return the number of HTML elements of a page."""
        with self._open_page() as page:
            page.goto(path)
            count: int = page.evaluate("document.querySelectorAll('*').length")
            return count

    def click_times(self, path: str, links: list[str]) -> list[float]:
        """Return the milliseconds from each click on one of ``links`` until its result is painted."""
        with self._open_page() as page:
            page.goto(path)
            page.wait_for_timeout(SETTLE_MS)
            self._throttle(page)
            return [self._click_time(page, link) for link in links]

    def _click_time(self, page: Any, link: str) -> float:
        with page.expect_console_message(lambda log: log.text.startswith("waited")) as message:
            page.locator(link).click()
        page.wait_for_timeout(SETTLE_MS)
        return float(message.value.text.split()[1])

    @contextmanager
    def _open_page(self) -> Iterator[Any]:
        context = self._browser.new_context(**self._options)
        context.add_init_script(_OBSERVE)
        yield context.new_page()
        context.close()

    def _throttle(self, page: Any) -> Any:
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": CPU_SLOWDOWN})
        session.send("Network.emulateNetworkConditions", _NETWORK)
        return session


@contextmanager
def _traced(page: Any, session: Any) -> Iterator[list[dict[str, Any]]]:
    """Collect the browser's timeline events during the block; the list is complete after it.

    The Long Tasks API would miss tasks that lay out and paint without running a script.
    """
    events: list[dict[str, Any]] = []
    session.on("Tracing.dataCollected", lambda event: events.extend(event["value"]))
    session.send("Tracing.start", {"traceConfig": {"includedCategories": _TRACED}})
    yield events
    ended: list[object] = []
    session.on("Tracing.tracingComplete", lambda event: ended.append(event))
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(20)  # meanwhile the events arrive


def blocked_ms(events: list[dict[str, Any]]) -> float:
    """Return the milliseconds that long tasks block the page after its first contentful paint."""
    paint = next(event for event in reversed(events) if event["name"] == "firstContentfulPaint")
    ends = (
        (max(event["ts"], paint["ts"]), event["ts"] + event["dur"])
        for event in events
        if event["name"] == "RunTask"
        and (event["pid"], event["tid"]) == (paint["pid"], paint["tid"])
        and "dur" in event
    )
    return sum(max((end - start) / 1000 - LONG_MS, 0.0) for start, end in ends)


def check_chromium() -> None:
    """Raise Unavailable unless Chromium and Playwright are installed."""
    if importlib.util.find_spec("playwright") is None:
        raise Unavailable("Playwright is not installed; make bench installs it.")
    from tests.browser.chromium import chromium_path  # imports Playwright

    if chromium_path() is None:
        raise Unavailable("Chromium is not installed (Debian: apt install chromium).")


PORTAL, ADMIN, RATIO = "the portal", "Django's admin", "ratio"
DASHBOARD = "/sites/shop.example.com/"
FINDINGS = "/admin/dashboard_api/finding/"
FACETS = [f"#facet-severity-{severity}" for severity in ("high", "medium", "low", "critical")]
LINKS = [f"#changelist-filter a[href$='severity__exact={severity}']" for severity in (3, 2, 1, 4)]
FILTER, ELEMENTS = "filter change to painted result", "elements, 100 findings"
GOALS = {"bytes transferred": 60, "requests": 8, "layout shift": 0.02, ELEMENTS: 1_500}
# Times the admin's figures in the same run, because machines differ by a factor of four.
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
        # On a quick machine, the admin may block for 0 ms.
        table.add(row, RATIO, portal / max(admin, 1), "times", at_most=goal)


@contextmanager
def run_portal(password: str) -> Iterator[str]:
    """Serve the demo by a portal and a separate service; yield the URL of the portal."""
    environment = databases.create_demo("sqlite", NAME, password=password)
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
