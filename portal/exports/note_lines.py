"""An analyst's note as plain lines, with list markers and the URLs of links."""

from dataclasses import dataclass
from html.parser import HTMLParser

from django.utils.safestring import SafeString

_BLOCKS = {"p", "pre", "blockquote", "hr", "table", "tr", "ul", "ol"}


@dataclass(slots=True)
class Line:
    """A line; an item of a list begins with a ``marker``, "•" or "3.", and ``depth`` is the list level."""

    marker: str
    depth: int
    text: str = ""


def note_lines(note: SafeString) -> list[Line]:
    """Return the lines of ``note``, HTML from ``portal.texts.markdown``."""
    reader = _Reader()
    reader.feed(note)
    reader.close()
    return [line for line in reader.lines if line.text.strip()]


class _Reader(HTMLParser):
    """A parser for the tags of notes."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = [Line("", 0)]
        self._items: list[int | None] = []  # the last number of each open list; None for bullets
        self._is_verbatim = False
        self._link: tuple[str, int] | None = None  # its URL, and the start of its text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS or tag == "br":
            self._begin()
        line = self.lines[-1]
        if tag in ("ul", "ol"):
            self._items.append(0 if tag == "ol" else None)
        elif tag == "li" and self._items:
            number = self._items[-1]
            self._items[-1] = None if number is None else number + 1
            self._begin("•" if number is None else f"{number + 1}.")
        elif tag in ("td", "th") and line.text:
            line.text = f"{line.text.rstrip()}  "  # two spaces between cells of a table
        elif tag == "pre":
            self._is_verbatim = True
        elif tag == "a":
            self._link = (dict(attrs).get("href") or "", len(line.text))

    def handle_endtag(self, tag: str) -> None:
        line = self.lines[-1]
        if tag in ("ul", "ol") and self._items:
            self._items.pop()
        elif tag == "pre":
            self._is_verbatim = False
        elif tag == "a" and self._link:
            url, start = self._link
            if url and url != line.text[start:]:
                line.text += f" ({url})"
            self._link = None
        if tag in _BLOCKS:
            self._begin()

    def handle_data(self, data: str) -> None:
        if not self._is_verbatim:
            words = data.replace("\n", " ")
            self.lines[-1].text += words if self.lines[-1].text else words.lstrip()
            return
        first, *others = data.split("\n")
        self.lines[-1].text += first
        for text in others:
            self._begin()
            self.lines[-1].text = text

    def _begin(self, marker: str = "") -> None:
        """Begin a line, unless the current one has only the marker of an item."""
        if marker or self.lines[-1].text or not self.lines[-1].marker:
            self.lines.append(Line(marker, len(self._items)))
