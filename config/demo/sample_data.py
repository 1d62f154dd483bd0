"""The problems that the demo's scanners find, read from ``sample_data.toml``."""

from pathlib import Path
from string import Template

import msgspec


class Page(msgspec.Struct, frozen=True):
    """A page of a website, with one of its parameters."""

    path: str
    parameter: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of problem; ``rules`` maps sources to their rule for it."""

    title: str
    severity: str
    kind: str
    weight: int
    rules: dict[str, str]
    description: str
    remediation: str
    evidence: str
    location: str = ""
    references: list[str] = []
    cwe: list[int] = []
    cve: list[str] = []


class Location(msgspec.Struct, frozen=True):
    """The location of a problem: a host, and one of its pages."""

    host: str
    page: Page

    def fill(self, text: str) -> str:
        """Return ``text`` with the names of this location."""
        return Template(text).substitute(host=self.host, path=self.page.path, parameter=self.page.parameter)


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole catalogue."""

    subdomains: list[str]
    pages: list[Page]
    sources: dict[str, str]
    problems: list[Problem]


def read_catalogue() -> Catalogue:
    """Return the catalogue next to this module."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=Catalogue)
