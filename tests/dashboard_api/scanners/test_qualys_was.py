from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import qualys_was
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import make_qualys, make_qualys_row, read_whole


def read(*rows, **members):
    return read_whole(qualys_was, make_qualys(*rows, **members))


def read_one(row=None, **members):
    report = read(make_qualys_row() if row is None else row, **members)
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_row_gets_its_texts_from_the_glossary():
    finding = read_one(make_qualys_row(payloads=["sid=s3cr3t"], AUTHENTICATION="Not Required"))
    assert (finding.title, finding.rule, finding.identity) == ("Clickjacking", "150081", ("150081",))
    assert finding.location == "https://shop.example.com/login"
    assert finding.description == "Others can frame the page.\nSee here."
    assert (finding.remediation, finding.cwe) == ("Send the header.", (1021,))
    assert finding.references == ("https://a.example/",)
    assert finding.evidence == (
        "Parameter: next\nAuthentication: Not Required\nCVSS: 4.3\n\nPayload:\na=b\n\n"
        "Request:\nGET https://shop.example.com/login\nCookie: [redacted]\n\nEvidence:\nseen"
    )


@pytest.mark.parametrize(
    ("level", "severity"),
    [
        ("5", Severity.CRITICAL),
        ("4", Severity.HIGH),
        ("3", Severity.MEDIUM),
        ("2", Severity.LOW),
        ("1", Severity.INFO),
    ],
)
def test_level_is_the_severity(level, severity):
    finding = read_one(SEVERITY=level)
    assert (finding.severity, finding.severity_raw) == (severity, f"level {level}")


@pytest.mark.parametrize(
    ("row", "glossary", "kind"),
    [
        ({}, {}, "confirmed"),
        ({"POTENTIAL": "true"}, {}, "suspected"),
        ({}, {"CATEGORY": "Potential Vulnerability"}, "suspected"),
        ({}, {"SEVERITY": "1"}, "informational"),
    ],
)
def test_potential_is_suspected(row, glossary, kind):
    assert read_one(make_qualys_row(**row), **glossary).kind == kind


def test_gathered_information_is_info_and_about_the_website():
    finding = read_one(make_qualys_row("INFORMATION_GATHERED", URL=None))
    assert (finding.severity, finding.location) == (Severity.INFO, "https://shop.example.com")
    assert read_one(make_qualys_row("SENSITIVE_CONTENT")).severity is Severity.MEDIUM


def test_web_application_report_reads_as_a_scan_report_does():
    row = make_qualys_row()
    assert read(row, root="WAS_WEBAPP_REPORT") == read(row)


def test_websites_are_what_was_checked():
    report = read()
    assert [check.location for check in report.coverage] == ["https://shop.example.com"]
    assert read(website="").rows == 0


def test_fixed_and_ignored_are_coverage_and_ignored_stays_open():
    report = read(make_qualys_row(STATUS="FIXED"), make_qualys_row(IGNORED="true"))
    assert report.findings == ()
    _, fixed, ignored = report.coverage
    assert (fixed.rules, fixed.suppressed) == (("150081",), "")
    assert (ignored.suppressed, ignored.identities) == ("Clickjacking", (("150081",),))


def test_row_without_glossary_goes_by_its_number():
    data = make_qualys(make_qualys_row()).replace(b"QID_LIST", b"NO_LIST")
    (finding,) = read_whole(qualys_was, data).findings
    assert (finding.title, finding.severity) == ("QID 150081", Severity.MEDIUM)


@pytest.mark.parametrize(
    ("status", "scanned_at", "complete"),
    [
        ("Finished", datetime(2026, 3, 1, 14, tzinfo=UTC), None),
        ("Canceled", datetime(2026, 3, 1, 14, tzinfo=UTC), False),
    ],
)
def test_time_and_completeness(status, scanned_at, complete):
    report = read(make_qualys_row(), status=status)
    assert (report.scanned_at, report.complete) == (scanned_at, complete)


def test_a_scan_without_an_end_is_of_its_start():
    data = make_qualys(make_qualys_row()).replace(b"END_DATE", b"START_DATE")
    assert read_whole(qualys_was, data).scanned_at == datetime(2026, 3, 1, 14, tzinfo=UTC)


def test_time_of_the_report_counts_without_that_of_a_scan():
    data = make_qualys(make_qualys_row()).replace(b"END_DATE", b"OTHER")
    assert read_whole(qualys_was, data).scanned_at == datetime(2026, 3, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("row", "glossary", "reason"),
    [
        ({"QID": None}, {}, "has no QID"),
        ({"URL": None}, {"website": ""}, "has no URL, and no WEBAPP has one"),
        ({}, {"SEVERITY": "9"}, "has a SEVERITY that is not one of 1 to 5"),
    ],
)
def test_broken_row_is_rejected(row, glossary, reason):
    assert [reject.reason for reject in read(make_qualys_row(**row), **glossary).rejects] == [reason]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"<WAS_SCAN_REPORT/>", "no RESULTS"), (make_qualys(make_qualys_row())[:-5], "cut off")],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(qualys_was, data)
