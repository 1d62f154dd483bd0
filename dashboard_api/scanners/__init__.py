"""Readers of scanners' reports, one module per format: bytes in, ``ScanReport`` out, no database."""

import codecs
from collections.abc import Mapping
from typing import Protocol

from dashboard_api.scanners import nuclei
from dashboard_api.scanners.report import ScanReport, UnreadableReport


class Reader(Protocol):
    """What a format's module offers."""

    def recognises(self, data: bytes) -> bool:
        """Whether ``data`` looks like this format: a cheap look, not a verdict."""

    def read(self, data: bytes) -> ScanReport:
        """The report in ``data``; raises UnreadableReport."""


# In the order in which they are asked whether they recognise a file.
READERS: Mapping[str, Reader] = {"nuclei": nuclei}


def read_report(data: bytes, *, format_name: str = "auto") -> ScanReport:
    """Read ``data`` as the named format, or as the one that recognises it; raises UnreadableReport."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableReport("The file is UTF-16: save it as UTF-8 first.")
    if format_name != "auto":
        return READERS[format_name].read(data)
    for reader in READERS.values():
        if reader.recognises(data):
            return reader.read(data)
    known = ", ".join(READERS)
    raise UnreadableReport(f"The file is no report of a known format ({known}).")
