"""The problems that the demo's engines find, read from ``catalogue.toml``."""

from pathlib import Path
from string import Template

import msgspec


class Page(msgspec.Struct, frozen=True):
    """A page of a website, and a parameter that it takes."""

    path: str
    parameter: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of problem; ``rules`` maps the engines that notice it to their names for it."""

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


class Place(msgspec.Struct, frozen=True):
    """Where a problem is: a host, and one of its pages."""

    host: str
    page: Page

    def fill(self, text: str) -> str:
        """``text`` with this place's names in it."""
        return Template(text).substitute(host=self.host, path=self.page.path, parameter=self.page.parameter)


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it."""

    subdomains: list[str]
    pages: list[Page]
    engines: dict[str, str]
    problems: list[Problem]


def read_catalogue() -> Catalogue:
    """The catalogue that lies beside this module."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=Catalogue)
