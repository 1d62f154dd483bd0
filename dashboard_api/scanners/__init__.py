"""Readers of scanners' reports, one a format: a stream in, a ``ScanReport`` out, no database.

README.md says how to add one.
"""

import codecs
import re
from collections.abc import Mapping
from typing import BinaryIO, Protocol

from dashboard_api import limits
from dashboard_api.scanners import (
    finding_lines,
    nikto,
    nuclei,
    observatory,
    sarif,
    sslyze,
    testssl,
    wapiti,
    zap,
)
from dashboard_api.scanners.report import ScanReport, UnreadableReport
from dashboard_api.scanners.streams import joined, limited, unpack
from dashboard_api.scanners.unsupported import advice_on

_HEAD_BYTES = 1024**2


class Reader(Protocol):
    """The module of one format."""

    HEAD: re.Pattern[bytes]  # occurs in the first MB of its files: a cheap look, not a verdict

    def read(self, stream: BinaryIO) -> ScanReport:
        """Return the report in ``stream``; this, or iterating over it, may raise UnreadableReport."""


# The first reader whose pattern occurs in a file reads it.
READERS: Mapping[str, Reader] = {
    "findings": finding_lines,
    "nuclei": nuclei,
    "zap": zap,
    "sarif": sarif,
    "wapiti": wapiti,
    "testssl": testssl,
    "sslyze": sslyze,
    "observatory": observatory,
    "nikto": nikto,
}


def read_report(stream: BinaryIO, *, format_name: str = "auto") -> ScanReport:
    """Read ``stream`` as the named format, or as the one it looks like; raises UnreadableReport."""
    stream = unpack(limited(stream, limits.MAX_REPORT_BYTES))
    head = stream.read(_HEAD_BYTES)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableReport("The file is UTF-16: save it as UTF-8 first.")
    if format_name == "auto":
        format_name = _format_of(head)
    else:
        _check_format(format_name, head)
    try:
        return READERS[format_name].read(joined(head, stream))
    except UnreadableReport as error:
        if advice := advice_on(head):
            raise UnreadableReport(advice) from error
        raise


def _looks_like(head: bytes) -> str | None:
    return next((name for name, reader in READERS.items() if reader.HEAD.search(head)), None)


def _format_of(head: bytes) -> str:
    if name := _looks_like(head):
        return name
    raise UnreadableReport(
        advice_on(head)
        or f"The file is no report of a known format ({', '.join(READERS)}). For any other tool, convert its "
        "results to `findings` lines, which docs/scanner-formats.md describes."
    )


def _check_format(name: str, head: bytes) -> None:
    """Raise UnreadableReport if a file that is not empty looks like another format than ``name``."""
    if READERS[name].HEAD.search(head) or head.strip() in (b"", b"[]"):
        return
    if advice := advice_on(head):
        raise UnreadableReport(advice)
    if other := _looks_like(head):
        raise UnreadableReport(f"The file is no report of {name}: it looks like one of {other}.")
