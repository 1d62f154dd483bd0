"""HTML that others wrote, for Python's reader, which fails where a browser does not."""

import codecs
import re
from html import unescape
from html.parser import HTMLParser

_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*", re.ASCII)  # no character has a number of 8 digits
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w-]+)", re.ASCII | re.IGNORECASE)
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_UTF_16 = {"utf-16": "utf-16-le", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}
# Everything else ends the head, also where the page does not say so.
_OF_THE_HEAD = {"html", "head", "base", "link", "meta", "script", "style"}
_INERT = {"title", "noscript", "template", "textarea", "iframe", "xmp", "noembed", "noframes", "plaintext"}


def text_of_page(body: bytes, content_type: str) -> str | None:
    """Return a page in characters, as far as its markup is concerned; None if it cannot be decoded.

    UTF-16 is the only encoding of browsers that does not write markup in bytes of ASCII.
    """
    encoding = next((name for mark, name in _MARKS.items() if body.startswith(mark)), "")
    if not encoding:
        charset = _CHARSET.search(content_type)
        encoding = _UTF_16.get(charset[1].lower() if charset else "", "utf-8")
    text = body.decode(encoding, "replace").removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    return None if "\0" in text[:1000] else text


def text_of_html(html: str) -> str:
    """Return ``html`` with its characters for their names and numbers."""
    return unescape(_with_short_numbers(html))


class MarkupReader(HTMLParser):
    """Python's reader, which any page can be fed to."""

    def feed(self, data: str) -> None:
        """Read a whole page."""
        super().feed(_with_short_numbers(data))

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Skip ``<![...>`` as a browser does; Python's reader takes some of them for errors."""
        return self.parse_bogus_comment(i)


class HeadReader(MarkupReader):
    """Knows where the head of a page ends, as a browser without scripts does.

    ``inert`` is the element around a tag that does not count; the tag that begins it does not either.
    """

    def __init__(self) -> None:
        super().__init__()
        self.inert = ""
        self.is_head = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notice an element whose tags do not count, or the end of the head."""
        if self.inert:
            return
        if tag in _INERT:
            self.inert = tag
            self.is_head = self.is_head and tag in {"title", "noscript", "template"}
        elif tag not in _OF_THE_HEAD:
            self.is_head = False

    def handle_endtag(self, tag: str) -> None:
        """Notice the end of an element whose tags do not count, and of the head."""
        if tag == self.inert:
            self.inert = ""
        elif not self.inert and tag in {"head", "body", "html", "br"}:
            self.is_head = False

    def handle_data(self, data: str) -> None:
        """Notice text outside of elements, which ends the head; the text of scripts and styles does not."""
        if not self.inert and self.cdata_elem is None and data.strip():
            self.is_head = False


def _with_short_numbers(html: str) -> str:
    """Return ``html``, in which a character's number of thousands of digits, which Python refuses, is short.

    Neither is a character.
    """
    return _NUMBER.sub(r"&#\1", html)
