"""gzip files: read whole or refused, within limits of the unpacked size."""

import gzip
import io
import tracemalloc
import zlib

import pytest

from dashboard_api import limits
from dashboard_api.scanners import READERS, read_report
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import unpack
from tests.dashboard_api.scanners.samples import json_lines, make_row, whole


def read(data, **options):
    return whole(read_report(io.BytesIO(data), **options))


def content(data):
    return unpack(io.BytesIO(data)).read()


LINES = json_lines(*(make_row(template_id=f"rule-{number}") for number in range(500)))


@pytest.mark.parametrize("options", [{}, {"format_name": "nuclei"}])
def test_a_gzip_file_is_the_report_in_it(options):
    assert read(gzip.compress(LINES), **options) == read(LINES)


@pytest.mark.parametrize("length", [2, 5, 10, 18, 100, -9, -8, -1])
def test_a_gzip_file_that_is_cut_off_is_refused(length):
    with pytest.raises(UnreadableReport, match="cut off"):
        content(gzip.compress(LINES)[:length])


def test_a_gzip_file_that_is_damaged_is_refused():
    packed = bytearray(gzip.compress(LINES))
    packed[-5] ^= 1  # of the checksum
    for data in (bytes(packed), gzip.compress(LINES) + b"more", b"\x1f\x8b\x00\x00garbage"):
        with pytest.raises(UnreadableReport, match="damaged"):
            content(data)


def test_what_is_unpacked_counts_against_the_limit_of_a_report(monkeypatch):
    packed = gzip.compress(LINES)
    monkeypatch.setattr(limits, "MAX_REPORT_BYTES", len(LINES))
    assert read(packed).rows == 500
    monkeypatch.setattr(limits, "MAX_REPORT_BYTES", len(LINES) - 1)
    with pytest.raises(UnreadableReport, match="larger than"):
        read(packed)


@pytest.mark.once
@pytest.mark.parametrize("name", ["sarif", "nuclei"])
def test_a_bomb_is_refused_in_little_memory(monkeypatch, name):
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 2 * 1024**2)
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 1024**2)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1024**2)) for _ in range(256)) + packer.flush()
    assert len(bomb) < 300_000
    tracemalloc.start()
    with pytest.raises(UnreadableReport, match=r"unpacks to more than 200 times its size|one document of"):
        whole(READERS[name].read(unpack(io.BytesIO(bomb))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 1024**2


def test_a_bomb_is_refused_before_much_of_it_is_unpack(monkeypatch):
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 2 * 1024**2)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1024**2)) for _ in range(64)) + packer.flush()
    stream = unpack(io.BytesIO(bomb))
    lengths = []

    def read_all():
        while part := stream.read(1024**2):
            lengths.append(len(part))

    with pytest.raises(UnreadableReport, match="unpacks to more than 200 times its size and more than 2 MB"):
        read_all()
    assert sum(lengths) < 20 * 1024**2


def test_a_report_that_packs_well_is_no_bomb(monkeypatch):
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 1024)
    assert read(gzip.compress(LINES)).rows == 500


def test_a_long_name_in_the_head_of_a_gzip_file_takes_no_memory():
    head = b"\x1f\x8b\x08\x08" + bytes(6)
    packed = gzip.compress(LINES)
    assert content(head + b"a" * 1024**2 + b"\0" + packed[10:]) == LINES


def test_a_gzip_file_in_a_gzip_file_is_refused_with_what_to_do():
    with pytest.raises(UnreadableReport, match=r"This is compressed twice\. Unpack it"):
        read(gzip.compress(gzip.compress(LINES)))
