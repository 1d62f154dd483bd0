"""Readers of scanners' reports, one a format: a stream in, a ``ScanReport`` out, no database.

README.md says how to add one.
"""

import codecs
import re
from collections.abc import Mapping
from typing import BinaryIO, Protocol

from dashboard_api import limits
from dashboard_api.scanners import (
    acunetix,
    burp,
    finding_csv,
    finding_lines,
    greenbone,
    invicti,
    nessus,
    nikto,
    nmap,
    nuclei,
    observatory,
    qualys_was,
    sarif,
    sslyze,
    testssl,
    wapiti,
    wpscan,
    zap,
)
from dashboard_api.scanners.report import Budget, EmptyReport, ScanReport, UnreadableReport
from dashboard_api.scanners.streams import GZIP, UTF_16, as_text, counted, joined, limited, unpack
from dashboard_api.scanners.unsupported import advice_on, advice_on_bytes

_HEAD_BYTES = 1024**2
_BEFORE_XML = codecs.BOM_UTF8 + b" \t\r\n"
_NO_TEXT = re.compile(rb"[\x00-\x20\x7f]+")  # control characters alone
_EMPTY_IF_CLEAN = {"nuclei"}  # scanners that write an empty file, or an empty list, if they find nothing


class Reader(Protocol):
    """The module of one format."""

    HEAD: re.Pattern[bytes]  # occurs in the first MB of its files: a cheap look, not a verdict

    def read(self, stream: BinaryIO) -> ScanReport:
        """Return the report in ``stream``; this, or iterating over it, may raise UnreadableReport."""


# The first reader whose pattern occurs in a file reads it.
READERS: Mapping[str, Reader] = {
    "findings": finding_lines,
    "csv": finding_csv,
    "burp": burp,
    "acunetix": acunetix,
    "invicti": invicti,
    "greenbone": greenbone,
    "nessus": nessus,
    "nmap": nmap,
    "qualys-was": qualys_was,
    "wpscan": wpscan,
    "nuclei": nuclei,
    "zap": zap,
    "sarif": sarif,
    "wapiti": wapiti,
    "testssl": testssl,
    "sslyze": sslyze,
    "observatory": observatory,
    "nikto": nikto,
}

# Sources of the product itself; reports in an open format, such as SARIF, bring others.
SOURCES = (
    READERS.keys() - {"findings", "csv", "sarif", "observatory"} | {"mdn-observatory"} | limits.OWN_SOURCES
)

# Their reports are JSON lines, of any length; those of the others are one document.
LINES = {"findings", "nuclei"}


def max_sent_bytes(head: bytes, format_name: str) -> int:
    """Return the most bytes that a report sent over HTTP may have, by its beginning or its named format."""
    if head.startswith(GZIP) or (_looks_like(head) if format_name == "auto" else format_name) in LINES:
        return limits.MAX_SENT_REPORT_BYTES
    return limits.MAX_DOCUMENT_BYTES


def read_report(
    stream: BinaryIO,
    *,
    format_name: str = "auto",
    max_bytes: int | None = None,
    budget: Budget | None = None,
) -> ScanReport:
    """Read ``stream`` as the named format, or as the one it looks like; raises UnreadableReport.

    ``budget`` counts what the report costs.
    """
    most = max_bytes or limits.MAX_REPORT_BYTES
    budget = budget or Budget()
    stream = counted(unpack(limited(stream, most), most), budget)
    head = stream.read(_HEAD_BYTES)
    if advice := advice_on_bytes(head):
        raise UnreadableReport(advice)
    if head.startswith(UTF_16):
        stream = as_text(head, stream)
        head = stream.read(_HEAD_BYTES)
    if format_name == "auto":
        format_name = _format_of(head)
    else:
        _check_format(format_name, head)
    try:
        # A spreadsheet may have another encoding, so that many of its letters were lost.
        whole = joined(head, stream) if format_name == "csv" else as_text(head, stream)
        report = READERS[format_name].read(whole)
    except UnreadableReport as error:
        is_known_xml = head.lstrip(_BEFORE_XML).startswith(b"<") and READERS[format_name].HEAD.search(head)
        if not is_known_xml and (advice := advice_on(head)):
            raise UnreadableReport(advice) from error
        raise
    for each in (report, *report.others):
        each.budget = budget
    return report


def _looks_like(head: bytes) -> str | None:
    return next((name for name, reader in READERS.items() if reader.HEAD.search(head)), None)


def _format_of(head: bytes) -> str:
    if name := _looks_like(head):
        return name
    if _is_empty(head):
        raise EmptyReport
    raise UnreadableReport(
        advice_on(head)
        or f"The file is not a report of a known format ({', '.join(READERS)}). For any other tool, convert "
        "its results to `findings` lines, which docs/scanner-formats.md describes."
    )


def _is_empty(head: bytes) -> bool:
    return head.strip(_BEFORE_XML) in (b"", b"[]")


def _check_format(name: str, head: bytes) -> None:
    """Raise UnreadableReport if a file looks like another format than ``name``, or is empty by mistake."""
    if READERS[name].HEAD.search(head) or (_is_empty(head) and name in _EMPTY_IF_CLEAN):
        return
    if _is_empty(head):
        raise UnreadableReport(f"The file is empty, as no report of {name} is: see why, and scan again.")
    if _NO_TEXT.fullmatch(head):  # without its control characters it would count as empty
        raise UnreadableReport("The file holds control characters only. Let the scanner write it again.")
    if advice := advice_on(head):
        raise UnreadableReport(advice)
    if other := _looks_like(head):
        raise UnreadableReport(f"The file is not a report of {name}: it looks like one of {other}.")
