"""The weaknesses of the demo's websites, from ``sample_data.toml``."""

from pathlib import Path
from string import Template

import msgspec


class Page(msgspec.Struct, frozen=True):
    """A page of a website with one of its parameters."""

    path: str
    parameter: str


class Weakness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cause of findings; ``rules`` name it in the reports of the sources."""

    title: str
    severity: str
    kind: str
    weight: int  # how often it occurs, compared with the others
    rules: dict[str, str]  # by source
    description: str
    remediation: str
    evidence: str
    only_location: str = ""  # where it is once on a host; without one, it can be on every page
    references: list[str] = []
    cwe: list[int] = []
    cve: list[str] = []


class PageOnHost(msgspec.Struct, frozen=True):
    """A page of a website, on one of its hosts."""

    host: str
    page: Page

    def fill_in(self, text: str) -> str:
        """Return ``text`` with its placeholders $host, $path and $parameter filled in."""
        return Template(text).substitute(host=self.host, path=self.page.path, parameter=self.page.parameter)


class SampleData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of the file."""

    subdomains: list[str]  # with a dot at the end, or empty
    pages: list[Page]
    sources: dict[str, str]  # names by slug
    weaknesses: list[Weakness]


def read_sample_data() -> SampleData:
    """Return the contents of ``sample_data.toml``."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=SampleData)
