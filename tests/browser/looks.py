"""Inspection of pages: light and dark, wide and narrow, in both languages, and accessible."""

from dataclasses import dataclass

import pytest
from axe_playwright_python.sync_playwright import Axe

EVERY_RULE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES_OF_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
OPEN_THE_FIRST = (
    "for (const it of document.querySelectorAll('details:first-of-type, .confirm')) it.open = true"
)
NARROW = {"width": 320, "height": 640}
UNDECIDED = ("<text ", "<select ")


def barriers(page, rules=EVERY_RULE, *, within=None):
    """Return the violations that axe reports on the page, or ``within`` a part of it.

    Cases that it cannot decide are included, except text in charts, which has the colours of the words around
    it, lists of choices, whose options it takes for other elements, and headings of tables that are scrolled.
    """
    # Preloading would add style sheets to the page, which its policy forbids.
    options = {"runOnly": rules, "resultTypes": ["violations", "incomplete"], "preload": False}
    found = Axe().run(page, context=within, options=options).response
    return [
        (rule["id"], node["html"], node["failureSummary"])
        for rule in found["violations"] + found["incomplete"]
        for node in rule["nodes"]
        if rule["id"] != "color-contrast" or not node["html"].startswith(UNDECIDED)
    ]


@dataclass(frozen=True, slots=True)
class Way:
    """A combination of size, scheme and language; every page is inspected on the narrowest phone, too."""

    scheme: str
    width: int
    locale: str
    rules: tuple[str, ...]

    def __str__(self):
        return f"{self.scheme}-{self.width}-{self.locale[:2]}"


# The first one is part of every run, the others only of continuous integration.
WAYS = [
    Way("light", 1280, "en-GB", EVERY_RULE),
    pytest.param(Way("dark", 320, "en-GB", RULES_OF_LOOKS), marks=pytest.mark.slow),
    pytest.param(Way("light", 320, "de-DE", EVERY_RULE), marks=pytest.mark.slow),
    pytest.param(Way("dark", 1280, "de-DE", RULES_OF_LOOKS), marks=pytest.mark.slow),
]
# Pages for staff: each scheme, width and language once. Only the room that a text takes depends on two of
# them, and every visit checks it on the narrowest phone.
STAFF_WAYS = [
    Way("light", 1280, "en-GB", EVERY_RULE),
    pytest.param(Way("dark", 320, "de-DE", EVERY_RULE), marks=pytest.mark.slow),
]


def _settle(page):
    """Wait until rows of websites that came into sight, and then the totals, are refreshed."""
    quiet = 0
    while quiet < 5:
        page.wait_for_timeout(50)
        quiet = 0 if page.locator(".htmx-request").count() else quiet + 1


class Tour:
    """Opens pages in one look, and collects problems."""

    def __init__(self, open_page, way):
        self._open_page, self._way = open_page, way
        self.faults = {}

    def open(self, **options):
        """Return a page in the size of a laptop or a phone."""
        return self._open_page(
            color_scheme=self._way.scheme,
            locale=self._way.locale,
            viewport={"width": self._way.width, "height": 800},
            **options,
        )

    def visit(self, page, *addresses):
        """Open and inspect pages."""
        for address in addresses:
            page.goto(address, wait_until="networkidle" if address == "/" else "load")
            self.look(page, address)

    def look(self, page, name):
        """Inspect ``page`` as it is now."""
        page.wait_for_load_state()
        page.evaluate(OPEN_THE_FIRST)
        page.set_viewport_size(NARROW)
        if overlap := page.evaluate("document.documentElement.scrollWidth - innerWidth"):
            self.faults[name, "pixels wider than 320"] = overlap
        page.set_viewport_size({"width": self._way.width, "height": 800})
        if page.locator("#totals").count():
            _settle(page)
        if found := barriers(page, self._way.rules):
            self.faults[name, "axe"] = found
