"""Software of a website without support by its project: versions in headers and of the page.

The table is end_of_life.toml. Headers and names come in, problems come out; nothing is asked for here.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple

import msgspec

RULE = "platform-end-of-life"
_HEADERS = ("Server", "X-Powered-By", "X-Generator")
# Where a version follows the name of a product; TYPO3 and Drupal name only the first part of it.
_PRODUCTS = {
    "PHP": re.compile(r"\bPHP/([\w.+~:-]{1,40})"),
    "nginx": re.compile(r"\bnginx/([\w.+~:-]{1,40})"),
    "Apache": re.compile(r"\bApache/([\w.+~:-]{1,40})"),
    "IIS": re.compile(r"\bMicrosoft-IIS/([\d.]{1,10})"),
    "OpenSSL": re.compile(r"\bOpenSSL/([\w.+~:-]{1,40})"),
    "Tomcat": re.compile(r"\b(?:Apache )?Tomcat[-/ ]v?(\d[\w.+~:-]{0,40})"),
    "WordPress": re.compile(r"\bWordPress (\d[\w.+~:-]{0,40})"),
    "Drupal": re.compile(r"\bDrupal (\d[\w.+~:-]{0,40})"),
    "Joomla": re.compile(r"\bJoomla! (\d[\w.+~:-]{0,40})"),
    "TYPO3": re.compile(r"\bTYPO3 (?:CMS )?(\d[\w.+~:-]{0,40})"),
}
_OF_PAGES = {"WordPress", "Drupal", "Joomla", "TYPO3"}
# A distribution patches its versions for as long as it supports its own release, which no header names.
_DISTRIBUTION = re.compile(
    r"ubuntu|debian|\bdeb\d|~|\+dfsg|red hat|rhel|centos|almalinux|rocky|oracle|amazon|fedora|suse|\bel\d"
    r"|-fips|alpine|\bamzn|freebsd|gentoo|mageia|raspbian",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,6}){0,3}")


class Shipped(NamedTuple):
    """A version that a distribution patches under the same number."""

    product: str
    version: str
    by: str


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last days by product and series, and the day on which they were checked."""

    reviewed: date
    product: dict[str, dict[str, date]]
    shipped: list[Shipped] = []


class Ended(NamedTuple):
    """Software without support: its product and version, what a finding shows, and how bad it is."""

    product: str
    version: str
    evidence: str
    severity: str


FILE = Path(__file__).with_suffix(".toml")
TABLE = msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), Table)


def of_headers(headers: Mapping[str, str], today: date) -> Iterator[Ended]:
    """Yield software without support that headers name; none if they name a distribution."""
    values = {name: headers.get(name, "")[:500] for name in _HEADERS}
    is_of_distribution = any(_DISTRIBUTION.search(value) for value in values.values())
    for name, value in values.items():
        for ended in _in_text(value, f"{name}: {value}", today):
            if not is_of_distribution or ended.product in _OF_PAGES:
                yield ended


def of_page(generators: Iterable[str], today: date) -> Iterator[Ended]:
    """Yield systems without support that the page says it was made with."""
    for text in generators:
        for ended in _in_text(text, f'<meta name="generator" content="{text}">', today):
            if ended.product in _OF_PAGES:
                yield ended


def _in_text(text: str, source: str, today: date) -> Iterator[Ended]:
    for product, pattern in _PRODUCTS.items():
        if not (match := pattern.search(text)) or not (number := _VERSION.match(match[1])):
            continue
        version = number[0]
        series = _series_of(product, version)
        last_day = TABLE.product[product].get(series)
        if last_day is None or last_day >= today:
            continue
        lines = [f"{product} {series} was supported until {last_day}.", source]
        by = next((each.by for each in TABLE.shipped if each[:2] == (product, version)), "")
        if by:
            lines.append(f"{by} ships this version, and patches it for longer under the same number.")
        elif product not in _OF_PAGES and product != "IIS":
            lines.append("A distribution that still patches its own build may show the same version.")
        yield Ended(product, series, "\n".join(lines), "low" if by else "medium")


def _series_of(product: str, version: str) -> str:
    """Return the longest series of the table with which a version begins; empty if there is none."""
    parts = version.split(".")
    names = (".".join(parts[:number]) for number in range(len(parts), 0, -1))
    return next((name for name in names if name in TABLE.product[product]), "")
