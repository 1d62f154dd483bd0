"""The weaknesses of the demo's websites, from ``sample_data.toml``."""

from pathlib import Path
from string import Template

import msgspec


class Page(msgspec.Struct, frozen=True):
    """A page of a website with one of its parameters."""

    path: str
    parameter: str


class Weakness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weakness; ``rules`` maps a source to the rule by which it reports the weakness."""

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
    """A page on a host."""

    host: str
    page: Page

    def fill(self, text: str) -> str:
        """Return ``text`` with the names of this location."""
        return Template(text).substitute(host=self.host, path=self.page.path, parameter=self.page.parameter)


class SampleData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of the file."""

    subdomains: list[str]
    pages: list[Page]
    sources: dict[str, str]
    weaknesses: list[Weakness]


def read_sample_data() -> SampleData:
    """Return the contents of ``sample_data.toml``."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=SampleData)
