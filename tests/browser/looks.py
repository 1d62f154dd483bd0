"""Inspection of pages: light and dark, wide and narrow, in both languages, and accessible."""

from dataclasses import dataclass

import pytest
from axe_playwright_python.sync_playwright import Axe

EVERY_RULE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES_OF_COLOURS = ["color-contrast", "link-in-text-block"]  # what another colour scheme can change
AXE = Axe().axe_script
OPEN_THE_FIRST = (
    "for (const it of document.querySelectorAll('details:first-of-type, .confirm')) it.open = true"
)
# Nothing is measured in the middle of a change from one colour to another.
END_TRANSITIONS = "for (const it of document.getAnimations()) if (it instanceof CSSTransition) it.finish()"
# The lists of what passed would be a megabyte.
RUN_AXE = """async ([within, options]) => {
  const { violations, incomplete } = await axe.run(within ?? document, options);
  return [...violations, ...incomplete];
}"""
NARROW = {"width": 320, "height": 640}
UNDECIDED = ("<text ", "<select ")


def barriers(page, rules=EVERY_RULE, *, within=None):
    """Return the violations that axe reports on the page, or ``within`` a part of it.

    Cases that it cannot decide are included, except text in charts, which has the colours of the words around
    it, lists of choices, whose options it takes for other elements, and headings of tables that are scrolled.
    """
    # Preloading would add style sheets to the page, which its policy forbids.
    options = {"runOnly": rules, "resultTypes": ["violations", "incomplete"], "preload": False}
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE)
    return [
        (rule["id"], node["html"], node["failureSummary"])
        for rule in page.evaluate(RUN_AXE, [within, options])
        for node in rule["nodes"]
        if rule["id"] != "color-contrast" or not node["html"].startswith(UNDECIDED)
    ]


def barriers_in(page, schemes, *, within=None):
    """Return the violations in each colour scheme: of every rule in the first one, of colours in another."""
    found = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.evaluate(END_TRANSITIONS)
        rules = EVERY_RULE if scheme == schemes[0] else RULES_OF_COLOURS
        found += [(scheme, *barrier) for barrier in barriers(page, rules, within=within)]
    return found


@dataclass(frozen=True, slots=True)
class Way:
    """A width, a language and colour schemes; every page is inspected on the narrowest phone, too."""

    width: int
    locale: str
    schemes: tuple[str, ...] = ("light", "dark")

    def __str__(self):
        return "-".join([*self.schemes, str(self.width), self.locale[:2]])

    @property
    def options(self):
        """The options of a browser's profile."""
        return {"locale": self.locale, "viewport": {"width": self.width, "height": 800}}


# The first one is part of every run, the other only of continuous integration: colours are the same there.
WAYS = [Way(1280, "en-GB"), pytest.param(Way(320, "de-DE", ("dark",)), marks=pytest.mark.slow)]
# Pages for staff: each scheme, width and language once. Only the room that a text takes depends on two of
# them, and every visit checks it on the narrowest phone.
STAFF_WAYS = [
    Way(1280, "en-GB", ("light",)),
    pytest.param(Way(320, "de-DE", ("dark",)), marks=pytest.mark.slow),
]


def _settle(page):
    """Wait until rows of websites that came into sight, and then the totals, are refreshed."""
    quiet = 0
    while quiet < 5:
        page.wait_for_timeout(50)
        quiet = 0 if page.locator(".htmx-request").count() else quiet + 1


class Tour:
    """Opens pages in one width and language, and collects problems."""

    def __init__(self, open_page, way):
        self._open_page, self._way = open_page, way
        self.faults = {}

    def open(self, **options):
        """Return a page in the size of a laptop or a phone."""
        return self._open_page(**self._way.options, color_scheme=self._way.schemes[0], **options)

    def visit(self, page, *addresses):
        """Open and inspect pages."""
        for address in addresses:
            page.goto(address, wait_until="networkidle" if address == "/" else "load")
            self.look(page, address)

    def look(self, page, name):
        """Inspect ``page`` as it is now, in each colour scheme."""
        page.wait_for_load_state()
        page.evaluate(OPEN_THE_FIRST)
        page.set_viewport_size(NARROW)
        if overlap := page.evaluate("document.documentElement.scrollWidth - innerWidth"):
            self.faults[name, "pixels wider than 320"] = overlap
        page.set_viewport_size(self._way.options["viewport"])
        if page.locator("#totals").count():
            _settle(page)
        if found := barriers_in(page, self._way.schemes):
            self.faults[name, "axe"] = found
