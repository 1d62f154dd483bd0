"""Findings as a table for spreadsheets (RFC 4180), in which no cell can be a formula."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from portal.exports.selection import Selected
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
)
BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"  # without it Excel takes UTF-8 for something else
_ACTIVE = set("=+-@")
_UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Zs"}  # categories that a spreadsheet may skip at the beginning


def write_csv(selected: Selected) -> Iterator[str]:
    """The head, then the rows of each page."""
    yield BYTE_ORDER_MARK + _lines([COLUMNS])
    for page in selected.pages:
        yield _lines([_row(threat, selected.finding_url(threat.id)) for threat in page])


def inert(text: str) -> str:
    """``text``, after an apostrophe where a spreadsheet could take it for a formula."""
    beginning = next((char for char in text if unicodedata.category(char) not in _UNSEEN), "")
    is_active = unicodedata.normalize("NFKC", beginning)[:1] in _ACTIVE or text[:1] in ("\t", "\r", "\n")
    return f"'{text}" if is_active else text


def _lines(rows: Any) -> str:
    """``rows`` with every cell quoted; a line ends in CR LF, and within a cell only in LF."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _row(threat: Threat, link: str) -> list[str]:
    cells = {**msgspec.structs.asdict(threat), "link": link}
    cells["cwe"] = [f"CWE-{number}" for number in threat.cwe]
    return [_cell(cells[column]) for column in COLUMNS]


def _cell(value: Any) -> str:
    """``value`` as text, inert."""
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
