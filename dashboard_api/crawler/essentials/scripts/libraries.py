"""JavaScript libraries: which one a script is, in which version, and what is known about it.

The table is libraries.toml. Addresses and contents come in, facts come out; nothing is asked for here.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from dashboard_api.crawler.essentials.scripts.versions import VERSION, is_in, key_of, without_form

SEVERITIES = ("low", "medium", "high", "critical")
_WORDPRESS = re.compile(r"/wp-includes/js/[^?#]{0,200}?([\w.-]{1,60}?)(?:\.min)?\.js\?ver=([\w.-]{1,40})")
_URL_CHARACTERS = 2000  # that are searched
_MAX_VERSIONS = 3  # of one library in one script


class Hole(NamedTuple):
    """A known vulnerability: the versions from ``first`` and before ``below`` have it."""

    id: str
    first: str
    below: str
    severity: str

    @property
    def shown(self) -> str:
        """The hole in one line; a limit at a test version means that its series has no fix."""
        is_open = not self.below or "-alpha" in self.below
        return f"{self.id} ({self.severity}), " + (
            "not fixed in this series" if is_open else f"fixed in {self.below}"
        )


class Library(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A library: how to recognise it, and what is known about its versions."""

    name: str
    title: str
    names: list[str] = []
    urls: list[str] = []
    banners: list[str] = []
    retirejs: str = ""
    ended: dict[str, date] = {}
    holes: list[Hole] = []

    @cached_property
    def _in_urls(self) -> list[re.Pattern[str]]:
        names = "|".join(map(re.escape, self.names))
        path = (
            rf"(?:^|[/,])(?:{names})[@/.-]v?(V)(?=[/,]|(?:\.[a-z0-9]{{1,40}}){{0,3}}\.m?js(?:[?#]|$)|[?#]|$)"
        )
        return [re.compile(_with_version(each), re.IGNORECASE) for each in ([path] * bool(names) + self.urls)]

    @cached_property
    def _in_contents(self) -> list[re.Pattern[bytes]]:
        return [re.compile(_with_version(each).encode(), re.MULTILINE) for each in self.banners]

    def versions_in_url(self, url: str) -> Iterator[str]:
        """Yield the version that an address names.

        WordPress names that of a library after ``ver``. Themes and plugins name their own version there.
        """
        parts = urlsplit(url[:_URL_CHARACTERS])
        where = f"//{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")
        wordpress = _WORDPRESS.search(where)
        if wordpress and wordpress[1].lower() in self.names:
            yield wordpress[2]
        for pattern in self._in_urls:
            yield from (match[1] for match in pattern.finditer(where))

    def versions_in_content(self, body: bytes) -> Iterator[str]:
        """Yield the versions that comments and texts of a script name."""
        for pattern in self._in_contents:
            for match in pattern.finditer(body):
                yield match[1].decode()

    def holes_of(self, version: str) -> list[Hole]:
        """Return the known vulnerabilities of a version, worst first; none for a build with patches."""
        found = [hole for hole in self.holes if is_in(version, hole.first, hole.below)]
        return sorted(found, key=lambda hole: -SEVERITIES.index(hole.severity))

    def ended_on(self, version: str) -> date | None:
        """Return the day of the last security update of an ended series; None for others."""
        return self.ended.get(version.partition(".")[0]) if key_of(version) else None


class Reading(NamedTuple):
    """A library of a script, its version, and whether the content says so or only the address."""

    library: Library
    version: str
    is_in_content: bool


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The libraries of a file, and the day on which they were checked."""

    reviewed: date
    library: list[Library]


def _with_version(pattern: str) -> str:
    return pattern.replace("(V)", f"({VERSION})")


FILE = Path(__file__).with_suffix(".toml")
TABLE = msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), Table)


def readings_of(url: str, body: bytes, libraries: Sequence[Library]) -> list[Reading]:
    """Return the libraries of a script; what its content says wins over its address."""
    found: dict[tuple[str, str], Reading] = {}
    for library in libraries:
        inside = dict.fromkeys(map(without_form, library.versions_in_content(body)))
        versions = [*inside] or [*dict.fromkeys(map(without_form, library.versions_in_url(url)))]
        for version in versions[:_MAX_VERSIONS]:
            found[library.name, version] = Reading(library, version, bool(inside))
    return [*found.values()]
