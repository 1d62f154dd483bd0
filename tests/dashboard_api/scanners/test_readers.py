import pytest

from dashboard_api.scanners import READERS, read_report
from dashboard_api.scanners.report import UnreadableReport
from tests.dashboard_api.scanners.samples import json_lines, make_row


@pytest.mark.parametrize("format_name", ["auto", *READERS])
def test_report_is_read_by_name_and_by_its_content(format_name):
    assert len(read_report(json_lines(make_row()), format_name=format_name).findings) == 1


def test_format_is_recognised_behind_a_scanners_own_messages():
    report = read_report(json_lines(b"[INF] Templates loaded: 1", make_row()))
    assert (len(report.findings), [reject.row for reject in report.rejects]) == (1, [1])


@pytest.mark.parametrize("data", [b"hello", b'{"alerts": []}', b"\x89PNG\r\n"])
def test_unknown_file_is_refused_with_the_known_formats(data):
    with pytest.raises(UnreadableReport, match=r"no report of a known format \(nuclei"):
        read_report(data)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_what_to_do(encoding):
    data = "\ufeff{}".encode(encoding)
    with pytest.raises(UnreadableReport, match="save it as UTF-8"):
        read_report(data)
