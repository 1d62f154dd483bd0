"""Findings as a table for spreadsheets (RFC 4180), without cells that could run as formulas."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from portal.exports.selection import Selection
from portal.files.spreadsheets import BYTE_ORDER_MARK, csv_lines, without_formula
from signed_api.findings import Threat

_FIRST_COLUMNS = (
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
    "answer",
    "due",
    "accepted_until",
    "assignee",
)
COLUMNS = (*_FIRST_COLUMNS, *(name for name in Threat.__struct_fields__ if name not in _FIRST_COLUMNS))


def write_csv(selection: Selection) -> Iterator[str]:
    """Yield the header, then the rows of each page."""
    yield BYTE_ORDER_MARK + csv_lines([COLUMNS])
    for page in selection.pages:
        yield csv_lines([_row(threat, selection) for threat in page])


def _row(threat: Threat, selection: Selection) -> list[str]:
    answer = threat.answer
    cells = {
        **msgspec.structs.asdict(threat),
        "link": selection.finding_url(threat.id),
        "answer": answer.answer if answer else "",
        "accepted_until": answer.until if answer else None,
        "assignee": selection.assignee_of(threat),
    }
    cells["cwe"] = [f"CWE-{number}" for number in threat.cwe]
    return [cell(cells[column]) for column in COLUMNS]


def cell(value: Any) -> str:
    """Return ``value`` as text that is safe in a spreadsheet."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case list():
            return cell("\n".join(value))
        case _:
            return without_formula(re.sub(r"\r\n?", "\n", str(value)).replace("\0", ""))
