"""An analyst's words where there is no HTML: lines, with the marks of lists and the addresses of links."""

from dataclasses import dataclass
from html.parser import HTMLParser

from django.utils.safestring import SafeString

_BLOCKS = {"p", "pre", "blockquote", "hr", "table", "tr", "ul", "ol"}


@dataclass(slots=True)
class Line:
    """``mark`` is "•" or such as "3." where an item begins; ``depth`` counts the lists around it."""

    mark: str
    depth: int
    text: str = ""


def lines_of(note: SafeString) -> list[Line]:
    """The lines of ``note``, as ``portal.markdown`` made it."""
    reader = _Reader()
    reader.feed(note)
    reader.close()
    return [line for line in reader.lines if line.text.strip()]


class _Reader(HTMLParser):
    """Follows the tags that notes have."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = [Line("", 0)]
        self._items: list[int | None] = []  # the last number of each list around; None has bullets
        self._is_verbatim = False
        self._link: tuple[str, int] | None = None  # its address, and where its words begin

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
            line.text = f"{line.text.rstrip()}  "
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
            address, begin = self._link
            if address and address != line.text[begin:]:
                line.text += f" ({address})"
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

    def _begin(self, mark: str = "") -> None:
        """A new line, unless this one has nothing yet but the mark of an item."""
        if mark or self.lines[-1].text or not self.lines[-1].mark:
            self.lines.append(Line(mark, len(self._items)))
