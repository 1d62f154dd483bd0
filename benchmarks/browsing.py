"""A slow phone: Chromium with a throttled processor and network, which measures pages.

The processor is four times slower than this machine's, the network has 1.6 Mbit/s and adds no latency, and
the cache is empty at every visit.
"""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.command_line import Unavailable

CPU_SLOWDOWN = 4
BITS_PER_SECOND = 1_600_000
SETTLE_MS = 500  # after a page has loaded: late requests and tasks count, too
LONG_MS = 50  # a task of the main thread blocks input for what it takes beyond this
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
    """The measurements of one page load with an empty cache; ``bytes`` are those transferred, compressed.

    ``blocked_ms`` is the total blocking time as Lighthouse counts it: what the tasks of the main thread take
    beyond 50 ms each, from the first contentful paint on.
    """

    bytes: float
    requests: int
    paint_ms: float
    blocked_ms: float
    shift: float


class Phone:
    """A slow phone with a signed-in session and an empty cache for every page."""

    def __init__(self, browser: Any, address: str, sign_in: Callable[[Any], None]) -> None:
        """Sign in once; ``sign_in`` fills in the form on the page that it gets."""
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
    """Collect the events of the browser's timeline in the block; they are complete at its end.

    The Long Tasks API would leave out tasks that lay out and paint without running a script.
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
    """Return the milliseconds for which long tasks block the page after its first contentful paint."""
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
