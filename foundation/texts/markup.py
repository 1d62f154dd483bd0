"""Parsing of foreign HTML, also where Python's parser fails and a browser does not."""

import codecs
import re
from html import unescape
from html.parser import HTMLParser

_CHARACTER_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*", re.ASCII)  # code points have at most 7 digits
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w-]+)", re.ASCII | re.IGNORECASE)
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_UTF_16 = {"utf-16": "utf-16-le", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}
# Any other element ends the head, even without a closing tag.
_HEAD_ELEMENTS = {"html", "head", "base", "link", "meta", "script", "style"}
# Elements in which a browser reads no tags.
_INERT = {"title", "noscript", "template", "textarea", "iframe", "xmp", "noembed", "noframes", "plaintext"}


def text_of_page(body: bytes, content_type: str) -> str | None:
    """Decode a page well enough to read its markup; return None if that fails.

    UTF-16 is the only encoding in browsers that does not write markup as ASCII bytes.
    """
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if body.startswith(mark)), "")
    if not encoding:
        charset = _CHARSET.search(content_type)
        encoding = _UTF_16.get(charset[1].lower() if charset else "", "utf-8")
    text = body.decode(encoding, "replace").removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    return None if "\0" in text[:1000] else text  # NUL: the encoding is another one


def text_of_html(html: str) -> str:
    """Return ``html`` with its character references resolved."""
    return unescape(_with_short_numbers(html))


class MarkupReader(HTMLParser):
    """Python's HTML parser, made safe for any page."""

    def feed(self, data: str) -> None:
        """Read a whole page."""
        super().feed(_with_short_numbers(data))

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Skip ``<![...>`` as a browser does; Python's parser raises an error for some."""
        return self.parse_bogus_comment(i)


class HeadReader(MarkupReader):
    """A parser that knows where the head of a page ends, as a browser without scripts does.

    ``inert`` is the open element with ignored tags, if any; its own tag is ignored as well.
    """

    def __init__(self) -> None:
        super().__init__()
        self.inert = ""
        self.is_head = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an inert element, or end the head."""
        if self.inert:
            return
        if tag in _INERT:
            self.inert = tag
            self.is_head = self.is_head and tag in {"title", "noscript", "template"}
        elif tag not in _HEAD_ELEMENTS:
            self.is_head = False

    def handle_endtag(self, tag: str) -> None:
        """Leave an inert element, or end the head."""
        if tag == self.inert:
            self.inert = ""
        elif not self.inert and tag in {"head", "body", "html", "br"}:
            self.is_head = False

    def handle_data(self, data: str) -> None:
        """End the head at text outside of elements, except in scripts and styles."""
        if not self.inert and self.cdata_elem is None and data.strip():
            self.is_head = False


def _with_short_numbers(html: str) -> str:
    """Shorten character references with too many digits: int() rejects them.

    The shortened number is not a character either.
    """
    return _CHARACTER_NUMBER.sub(r"&#\1", html)
