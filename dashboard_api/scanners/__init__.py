"""Readers of scanner reports, one for each format: a stream in, a ``ScanReport`` out, no database.

README.md lists the modules and links the check-list for a new reader.
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
_BEFORE_XML = codecs.BOM_UTF8 + b" \t\r\n"  # bytes that may come before XML or JSON
_ONLY_CONTROLS = re.compile(rb"[\x00-\x20\x7f]+")
_EMPTY_IF_CLEAN = {"nuclei"}  # formats in which an empty file or list means: no findings


class Reader(Protocol):
    """Module that reads one format."""

    HEAD_PATTERN: re.Pattern[bytes]  # found in the first MB of its files: a guess, ``read`` makes sure

    def read(self, stream: BinaryIO) -> ScanReport:
        """Return the report in ``stream``; reading or iterating may raise UnreadableReport."""


# The order matters: the first reader with a matching HEAD reads the file.
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

# Sources that the product knows; open formats, such as SARIF, bring others.
SOURCES = (
    READERS.keys() - {"findings", "csv", "sarif", "observatory"} | {"mdn-observatory"} | limits.OWN_SOURCES
)

# Formats of JSON lines, of any length; every other format is one document.
LINES = {"findings", "nuclei"}


def max_sent_bytes(head: bytes, format_name: str) -> int:
    """Return the size limit in bytes for a report sent over HTTP, by format or by its first bytes."""
    if head.startswith(GZIP) or (_detected_format(head) if format_name == "auto" else format_name) in LINES:
        return limits.MAX_SENT_REPORT_BYTES
    return limits.MAX_DOCUMENT_BYTES


def read_report(
    stream: BinaryIO,
    *,
    format_name: str = "auto",
    max_bytes: int | None = None,
    budget: Budget | None = None,
) -> ScanReport:
    """Read ``stream`` as the named format, or as the detected one; raises UnreadableReport.

    ``budget`` limits processor time and staged bytes.
    """
    max_bytes = max_bytes or limits.MAX_REPORT_BYTES
    budget = budget or Budget()
    stream = counted(unpack(limited(stream, max_bytes), max_bytes), budget)  # before and after unpacking
    head = stream.read(_HEAD_BYTES)
    if advice := advice_on_bytes(head):
        raise UnreadableReport(advice)
    if head.startswith(UTF_16):
        stream = as_text(head, stream)
        head = stream.read(_HEAD_BYTES)
    if format_name == "auto":
        format_name = _detect_or_refuse(head)
    else:
        _check_format(format_name, head)
    try:
        # The CSV reader refuses other encodings: replacing bytes would lose the letters of a spreadsheet.
        whole = joined(head, stream) if format_name == "csv" else as_text(head, stream)
        report = READERS[format_name].read(whole)
    except UnreadableReport as error:
        is_xml = head.lstrip(_BEFORE_XML).startswith(b"<")
        is_known_xml = is_xml and READERS[format_name].HEAD_PATTERN.search(head)
        if not is_known_xml and (advice := advice_on(head)):
            raise UnreadableReport(advice) from error
        raise
    for each in (report, *report.others):
        each.budget = budget
    return report


def _detected_format(head: bytes) -> str | None:
    return next((name for name, reader in READERS.items() if reader.HEAD_PATTERN.search(head)), None)


def _detect_or_refuse(head: bytes) -> str:
    if name := _detected_format(head):
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
    """Raise UnreadableReport if the file is empty by mistake or looks like another format."""
    if READERS[name].HEAD_PATTERN.search(head) or (_is_empty(head) and name in _EMPTY_IF_CLEAN):
        return
    if _is_empty(head):
        raise UnreadableReport(
            f"The file is empty. Reports of {name} never are: check the scan and run it again."
        )
    if _ONLY_CONTROLS.fullmatch(head):  # as_text would drop them and leave an empty file
        raise UnreadableReport("The file holds control characters only. Let the scanner write it again.")
    if advice := advice_on(head):
        raise UnreadableReport(advice)
    if other := _detected_format(head):
        raise UnreadableReport(f"The file is not a report of {name}: it looks like one of {other}.")
