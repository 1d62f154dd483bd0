import io

import pytest

from dashboard_api import limits
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import UnreadableReport
from tests.dashboard_api.scanners.samples import json_lines, make_row, whole


def read(data, **options):
    return whole(read_report(io.BytesIO(data), **options))


def test_format_is_recognised_behind_a_scanners_own_messages():
    report = read(json_lines(b"[INF] Templates loaded: 1", make_row()))
    assert (len(report.findings), [reject.row for reject in report.rejects]) == (1, [1])


@pytest.mark.parametrize("data", [b"hello", b'{"alerts": []}', b"\x00\x01"])
def test_unknown_file_is_refused_with_the_known_formats(data):
    with pytest.raises(UnreadableReport, match=r"not a report of a known format \(findings, csv, "):
        read(data)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_an_unknown_file_in_utf_16_is_refused_like_any_other(encoding):
    for text, words in (("<html></html>", "a web page"), ("hello", "not a report of a known format")):
        with pytest.raises(UnreadableReport, match=words):
            read(f"\ufeff{text}".encode(encoding))


def test_report_that_is_too_large_is_refused_as_a_whole(monkeypatch):
    data = json_lines(*[make_row()] * 3)
    monkeypatch.setattr(limits, "MAX_REPORT_BYTES", len(data))
    assert read(data).rows == 3
    monkeypatch.setattr(limits, "MAX_REPORT_BYTES", len(data) - 1)
    with pytest.raises(UnreadableReport, match="larger than 0 MB"):
        read(data)


class Endless(io.RawIOBase):
    """A pipe into which a scanner keeps writing."""

    def readable(self):
        return True

    def readinto(self, buffer):
        row = json_lines(make_row())
        chunk = (row * (len(buffer) // len(row) + 1))[: len(buffer) // len(row) * len(row)]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def test_rows_come_while_the_scanner_still_writes():
    report = read_report(io.BufferedReader(Endless(), buffer_size=65536))
    assert next(iter(report)).row == 1
