"""Readers of scanners' reports, one module per format: a stream in, ``ScanReport`` out, no database."""

import codecs
from collections.abc import Mapping
from typing import BinaryIO, Protocol

from dashboard_api import limits
from dashboard_api.scanners import (
    finding_lines,
    nikto,
    nuclei,
    observatory,
    other_forms,
    sarif,
    sslyze,
    testssl,
    wapiti,
    zap,
)
from dashboard_api.scanners.compressed import unpacked
from dashboard_api.scanners.report import ScanReport, UnreadableReport
from dashboard_api.scanners.streams import joined, limited

_HEAD_BYTES = 1024**2  # what a format may be recognised by


class Reader(Protocol):
    """What a format's module offers."""

    def recognises(self, head: bytes) -> bool:
        """Whether a file with this beginning looks like this format: a cheap look, not a verdict."""

    def read(self, stream: BinaryIO) -> ScanReport:
        """The report in ``stream``; raises UnreadableReport, or its rows do when they are read."""


# In the order in which they are asked whether they recognise a file.
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
    """Read ``stream`` as the named format, or as the one that recognises it; raises UnreadableReport."""
    stream = unpacked(limited(stream, limits.MAX_REPORT_BYTES))
    head = stream.read(_HEAD_BYTES)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableReport("The file is UTF-16: save it as UTF-8 first.")
    reader = _recognising(head) if format_name == "auto" else _named(format_name, head)
    try:
        return reader.read(joined(head, stream))
    except UnreadableReport as error:
        if way_out := other_forms.way_out(head):
            raise UnreadableReport(way_out) from error
        raise


def _recognising(head: bytes) -> Reader:
    for reader in READERS.values():
        if reader.recognises(head):
            return reader
    known = ", ".join(READERS)
    raise UnreadableReport(
        other_forms.way_out(head)
        or f"The file is no report of a known format ({known}). For any other tool, convert its results to "
        "`findings` lines, which docs/scanner-formats.md describes."
    )


def _named(name: str, head: bytes) -> Reader:
    """Return the reader that the operator named; raises UnreadableReport for a file of another format."""
    if not READERS[name].recognises(head) and head.strip() not in (b"", b"[]"):
        if way_out := other_forms.way_out(head):
            raise UnreadableReport(way_out)
        if other := next((other for other, reader in READERS.items() if reader.recognises(head)), ""):
            raise UnreadableReport(f"The file is no report of {name}: it looks like one of {other}.")
    return READERS[name]
