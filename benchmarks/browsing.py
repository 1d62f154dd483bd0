"""A browser on a slow telephone and a slow line: what a page weighs there, and how long it keeps one waiting.

Its processor is four times slower than this machine's, its line has 1.6 Mbit/s and no delay of its own, and
its cache is empty whenever a page is visited.
"""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.command_line import NotHere

SLOWER = 4
BITS_A_SECOND = 1_600_000
QUIET_MS = 500  # after a page has loaded: what it does late still counts
_LINE = {
    "offline": False,
    "latency": 0,
    "downloadThroughput": BITS_A_SECOND / 8,
    "uploadThroughput": BITS_A_SECOND / 8,
}
# A click that fetches a page is timed over both pages: their clocks begin with each of them.
_OBSERVE = """
const told = (window.told = {paint: 0, blocked: 0, shift: 0});
const watch = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note))
  .observe({type, buffered: true});
watch("largest-contentful-paint", (entry) => { told.paint = entry.startTime; });
watch("longtask", (entry) => { told.blocked += Math.max(entry.duration - 50, 0); });
watch("layout-shift", (entry) => { if (!entry.hadRecentInput) told.shift += entry.value; });
const now = () => performance.timeOrigin + performance.now();
const painted = (note) => requestAnimationFrame(() => setTimeout(() => note(now()), 0));
addEventListener("click", () => { sessionStorage.clicked = now(); }, true);
const answered = () => painted((at) => console.info("waited", at - sessionStorage.clicked));
addEventListener("htmx:afterSwap", answered);
watch("paint", ({name}) => { if (name === "first-contentful-paint") answered(); });
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One page in an empty cache: what travelled, as it travelled, and what the reader saw of it."""

    bytes: float
    requests: int
    paint_ms: float
    blocked_ms: float
    shift: float


class Phone:
    """Somebody's slow telephone: their session, and a new cache for every page."""

    def __init__(self, browser: Any, address: str, sign_in: Callable[[Any], None]) -> None:
        """``sign_in`` does it on the page that it is given."""
        self._browser = browser
        self._options: dict[str, Any] = {"base_url": address}
        with self._opened() as page:
            sign_in(page)
            self._options["storage_state"] = page.context.storage_state()

    def visit(self, path: str) -> Visit:
        """What it takes to show the page."""
        with self._opened() as page:
            line = self._slow_down(page)
            line.send("Network.enable")
            sizes: list[float] = []
            line.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
            page.goto(path)
            page.wait_for_timeout(QUIET_MS)
            told = page.evaluate("window.told")
        return Visit(
            bytes=sum(sizes),
            requests=len(sizes),
            paint_ms=told["paint"],
            blocked_ms=told["blocked"],
            shift=told["shift"],
        )

    def elements(self, path: str) -> int:
        """How many the page has."""
        with self._opened() as page:
            page.goto(path)
            count: int = page.evaluate("document.querySelectorAll('*').length")
            return count

    def waits(self, path: str, links: list[str]) -> list[float]:
        """Milliseconds from each click on the ``links`` until the page shows what it leads to."""
        with self._opened() as page:
            page.goto(path)
            self._slow_down(page)
            return [self._wait(page, link) for link in links]

    def _wait(self, page: Any, link: str) -> float:
        with page.expect_console_message(lambda line: line.text.startswith("waited")) as told:
            page.locator(link).click()
        page.wait_for_timeout(QUIET_MS)
        return float(told.value.text.split()[1])

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        context = self._browser.new_context(**self._options)
        context.add_init_script(_OBSERVE)
        yield context.new_page()
        context.close()

    def _slow_down(self, page: Any) -> Any:
        line = page.context.new_cdp_session(page)
        line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        line.send("Network.emulateNetworkConditions", _LINE)
        return line


def check_chromium() -> None:
    """Raise NotHere unless there is one, and what drives it."""
    if importlib.util.find_spec("playwright") is None:
        raise NotHere("Playwright is not installed; make bench installs it.")
    from tests.browser.chromium import chromium_path  # Playwright is needed to import it

    if chromium_path() is None:
        raise NotHere("Chromium is not installed (Debian: apt install chromium).")
