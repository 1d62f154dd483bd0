"""Our own CSV, for findings from a spreadsheet; docs/samples/findings.csv is generated from this module.

The first line names columns of ``COLUMNS``, in any order. Each further line is a finding at one location.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

from dashboard_api.scanners.csv_rows import CsvRow, CsvRows
from dashboard_api.scanners.report import (
    SEVERITIES,
    BadRow,
    Kind,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.text import checked_source_name, cves_in, numbers_in, one_line, slug
from dashboard_api.scanners.times import parse_time

_REQUIRED = ("title", "severity", "location")
_SEVERITIES = {**SEVERITIES, "information": Severity.INFO, "informational": Severity.INFO}
_KINDS: dict[str, Kind] = {
    "confirmed": "confirmed",
    "suspected": "suspected",
    "informational": "informational",
}
_DEFAULT_SCANNER = "Spreadsheet"
# Each required name is a cell of the first line, in any order and with or without quotes.
_HAS_CELL = rb"(?=(?:[^\r\n<{]{0,500}[,;\t])? ?\"? ?%s ?\"? ?(?:[,;\t\r\n]|\Z))"
HEAD_PATTERN = re.compile(
    rb"(?i)\A(?:\xef\xbb\xbf)?" + b"".join(_HAS_CELL % name.encode() for name in _REQUIRED),
)


class Column(NamedTuple):
    """Column with its meaning and an example."""

    name: str
    meaning: str
    example: str


COLUMNS = [
    Column("title", "what is wrong (required)", "Directory listing"),
    Column("severity", "critical, high, medium, low or info (required)", "medium"),
    Column(
        "location", "an address, or a path below --base-url (required)", "https://shop.example.com/backup/"
    ),
    Column(
        "finding", "the rule: an id or a name that stays the same; without it, the title", "directory-listing"
    ),
    Column("matcher", "distinguishes problems of one rule", ""),
    Column("kind", "confirmed, suspected or informational", "confirmed"),
    Column("description", "what it means", "Anyone can see all files in this directory."),
    Column("remediation", "how to fix it", "Turn off autoindex for this location."),
    Column("evidence", "what was seen", "Index of /backup/"),
    Column(
        "references",
        "web addresses, with spaces in between",
        "https://cwe.mitre.org/data/definitions/548.html",
    ),
    Column("cwe", "numbers, such as CWE-548", "CWE-548"),
    Column("cve", "names, such as CVE-2024-12345", ""),
    Column("seen_at", "a date or time; without a zone, UTC", "2026-03-01"),
    Column("scanner", "who found it, the same in every row", "Penetration test"),
]
_NAMES = {column.name for column in COLUMNS}


def template() -> str:
    """Return a CSV file to fill in, with every column and one example row."""
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow([column.name for column in COLUMNS])
    writer.writerow([column.example for column in COLUMNS])
    return target.getvalue()


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    rows = CsvRows(stream)
    if missing := [name for name in _REQUIRED if name not in rows.columns]:
        raise UnreadableReport(f"The file's first line does not name the column {missing[0]}.")
    if unknown := [name for name in rows.columns if name not in _NAMES]:
        names = ", ".join(column.name for column in COLUMNS)
        raise UnreadableReport(f"The file has a column {unknown[0][:100]!r}, which is not one of: {names}.")
    lines = iter(rows)
    first = next(lines, None)
    scanner = _scanner_of(first[1]) if first and not isinstance(first[1], BadRow) else _DEFAULT_SCANNER
    source = slug(scanner) or slug(_DEFAULT_SCANNER)
    return ScanReport(
        source=source,
        source_name=checked_source_name(scanner, source),
        entries=convert_rows(
            _reject_others(chain([first] if first else [], lines), scanner),
            _convert,
        ),
    )


def _scanner_of(row: CsvRow) -> str:
    return one_line(row.get("scanner", "")) or _DEFAULT_SCANNER


def _reject_others(
    lines: Iterable[tuple[int, CsvRow | BadRow]], scanner: str
) -> Iterator[tuple[int, CsvRow | BadRow]]:
    for number, row in lines:
        if not isinstance(row, BadRow) and _scanner_of(row) != scanner:
            yield number, BadRow(f"is from another scanner than the first row, {scanner[:100]}")
        else:
            yield number, row


def _convert(number: int, row: CsvRow) -> ReportedFinding:
    texts = {name: one_line(row.get(name, "")) for name in _NAMES}
    if missing := [name for name in _REQUIRED if not texts[name]]:
        raise BadRow(f"has no {missing[0]}")
    severity = _SEVERITIES.get(texts["severity"].lower())
    if severity is None:
        raise BadRow("has a severity that is not one of critical, high, medium, low, info")
    kind = texts["kind"].lower()
    if kind and kind not in _KINDS:
        raise BadRow("has a kind that is not one of confirmed, suspected, informational")
    seen_at = parse_time(texts["seen_at"])
    if texts["seen_at"] and seen_at is None:
        raise BadRow("has a seen_at that is not a time: write 2026-03-01 or 2026-03-01T10:00:00Z")
    rule = texts["finding"] or texts["title"].lower()
    return ReportedFinding(
        row=number,
        identity=(rule, texts["matcher"]),
        rule=rule,
        severity=severity,
        severity_raw=texts["severity"],
        kind=_KINDS.get(kind) or ("informational" if severity is Severity.INFO else "confirmed"),
        title=texts["title"],
        description=row.get("description", ""),
        remediation=row.get("remediation", ""),
        references=[row.get("references", "")],
        cwe=numbers_in([texts["cwe"]]),
        cve=cves_in([texts["cve"]]),
        location=texts["location"],
        evidence=row.get("evidence", ""),
        seen_at=seen_at,
    )
