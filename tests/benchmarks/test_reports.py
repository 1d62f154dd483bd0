"""Generated reports are read as the format that they imitate."""

import io
from itertools import islice

import pytest

from benchmarks import reports
from dashboard_api.importing.staging import stage
from dashboard_api.scanners import READERS, read_report

HOST = "shop.example.com"
ROWS = 12


NAME_THEIR_TARGET = {"wapiti", "wpscan", "nessus", "acunetix", "invicti", "nmap"}


@pytest.fixture(scope="module")
def findings():
    return [reports.move_to(HOST, row) for row in islice(reports.findings(), ROWS)]


def make_report(format_name, findings):
    return read_report(io.BytesIO(reports.REPORTS[format_name](findings)))


def test_formats_are_those_of_readers():
    assert reports.REPORTS.keys() <= READERS.keys()


@pytest.mark.parametrize("format_name", reports.REPORTS)
def test_report_is_recognised_and_has_as_many_rows_as_findings(format_name, findings):
    report = make_report(format_name, findings)
    rows = stage(report, HOST, base_url=None)
    checks = 1 if format_name in NAME_THEIR_TARGET else 0
    assert report.source == {
        "findings": "port-watch",
        "csv": "spreadsheet",
        "sarif": "code-scanner",
        "observatory": "mdn-observatory",
    }.get(format_name, format_name)
    assert (report.rows, rows.coverage, rows.rejected.count) == (ROWS, checks, 0)


@pytest.mark.parametrize("format_name", sorted(reports.REPORTS.keys() - {"sslyze"}))
def test_every_row_is_a_different_finding(format_name, findings):
    staged = stage(make_report(format_name, findings), HOST, base_url=None)
    assert staged.findings == staged.finding_rows
