"""HTML that others wrote, for Python's reader, which fails where a browser does not."""

import re
from html import unescape
from html.parser import HTMLParser

_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*", re.ASCII)  # no character has a number of 8 digits


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


def _with_short_numbers(html: str) -> str:
    """Return ``html``, in which a character's number of thousands of digits, which Python refuses, is short.

    Neither is a character.
    """
    return _NUMBER.sub(r"&#\1", html)
