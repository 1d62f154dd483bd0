"""Reports of our own making are what the readers take them for."""

import io
from itertools import islice

import pytest

from benchmarks import reports
from dashboard_api.importing.staging import stage
from dashboard_api.scanners import READERS, read_report

HOST = "shop.example.com"
ROWS = 12


@pytest.fixture(scope="module")
def found():
    return [reports.on(HOST, row) for row in islice(reports.findings(), ROWS)]


def make_report(format_name, found):
    return read_report(io.BytesIO(reports.REPORTS[format_name](found)))


def test_every_format_has_reports():
    assert reports.REPORTS.keys() == READERS.keys()


@pytest.mark.parametrize("format_name", READERS)
def test_report_is_recognised_and_has_as_many_rows_as_findings(format_name, found):
    report = make_report(format_name, found)
    rows = stage(report, HOST, base_url=None)
    checks = {"wapiti": 1}.get(format_name, 0)
    assert report.source == {
        "findings": "port-watch",
        "sarif": "code-scanner",
        "observatory": "mdn-observatory",
    }.get(format_name, format_name)
    assert (report.rows, rows.coverage, rows.rejected.count) == (ROWS, checks, 0)


@pytest.mark.parametrize("format_name", sorted(READERS.keys() - {"sslyze"}))
def test_every_row_tells_of_a_problem_of_its_own(format_name, found):
    staged = stage(make_report(format_name, found), HOST, base_url=None)
    assert staged.findings == staged.finding_rows
