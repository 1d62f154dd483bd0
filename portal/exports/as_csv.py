"""Findings as a table for spreadsheets (RFC 4180), without cells that could run as formulas."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from portal.exports.selection import Selection
from portal.gateway.messages import Threat

COLUMNS = (
    "severity",
    "kind",
    "status",
    "title",
    "location",
    "locations_count",
    "source",
    "source_name",
    "rule",
    "cve",
    "cwe",
    "first_seen",
    "last_seen",
    "description",
    "remediation",
    "evidence",
    "evidence_truncated",
    "references",
    "id",
    "link",
    "problem",
    "topic",
)
BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"  # without it Excel does not recognise UTF-8
_FORMULA_STARTS = set("=+-@")
_IGNORED = {"Cc", "Cf", "Zl", "Zp", "Zs"}  # categories that a spreadsheet may skip at the beginning


def write_csv(selection: Selection) -> Iterator[str]:
    """Yield the header, then the rows of each page."""
    yield BYTE_ORDER_MARK + _lines([COLUMNS])
    for page in selection.pages:
        yield _lines([_row(threat, selection.finding_url(threat.id)) for threat in page])


def inert(text: str) -> str:
    """Return ``text``, with an apostrophe before it if a spreadsheet could run it as a formula."""
    beginning = next((char for char in text if unicodedata.category(char) not in _IGNORED), "")
    is_formula = unicodedata.normalize("NFKC", beginning)[:1] in _FORMULA_STARTS
    return f"'{text}" if is_formula or text[:1] in ("\t", "\r", "\n") else text


def _lines(rows: Any) -> str:
    """Return ``rows`` with every cell quoted; rows end in CR LF, lines within a cell in LF."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _row(threat: Threat, link: str) -> list[str]:
    cells = {**msgspec.structs.asdict(threat), "link": link}
    cells["cwe"] = [f"CWE-{number}" for number in threat.cwe]
    return [_cell(cells[column]) for column in COLUMNS]


def _cell(value: Any) -> str:
    """Return ``value`` as text that is safe in a spreadsheet."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case list():
            return _cell("\n".join(value))
        case _:
            return inert(re.sub(r"\r\n?", "\n", str(value)).replace("\0", ""))
