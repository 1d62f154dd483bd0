from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import acunetix
from dashboard_api.scanners.report import Severity, UnreadableReport
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import (
    make_acunetix,
    make_acunetix_item,
    make_acunetix_scan,
    read_whole,
)


def read(*items, **scan):
    return read_whole(acunetix, make_acunetix(make_acunetix_scan(*items, **scan)))


def read_one(**members):
    report = read(make_acunetix_item(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_item_says_what_where_and_what_to_do():
    finding = read_one(cve=["CVE-2026-12345"], Parameter="to", request="GET / HTTP/1.1\nCookie: sid=s3cr3t")
    assert finding.title == finding.rule == "Clickjacking: X-Frame-Options header"
    assert finding.location == "https://shop.example.com/"
    assert finding.description == (
        "The header is missing.\nOthers can frame the page.\n\nVisitors may be tricked."
    )
    assert finding.remediation == "Send the header."
    assert (finding.cwe, finding.cve, finding.references) == (
        (693,),
        ("CVE-2026-12345",),
        ("https://a.example/",),
    )
    assert finding.evidence == (
        "Parameter: to\nModule: /httpdata/X_Frame_Options_not_implemented.js\nCVSS: 5.3 CVSS:3.0/AV:N\n\n"
        "Details:\nPaths: /\n\nRequest:\nGET / HTTP/1.1\nCookie: [redacted]"
    )


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        ("critical", (Severity.CRITICAL, "confirmed")),
        ("High", (Severity.HIGH, "confirmed")),
        ("informational", (Severity.INFO, "informational")),
        ("info", (Severity.INFO, "informational")),
    ],
)
def test_severity(severity, expected):
    finding = read_one(Severity=severity)
    assert (finding.severity, finding.kind) == expected


@pytest.mark.parametrize(("responsive", "error"), [("False", "the website did not respond"), ("True", "")])
def test_a_website_that_did_not_respond_is_a_failed_check(responsive, error):
    assert [check.error for check in read(Responsive=responsive).coverage] == [error]


def test_what_is_possible_is_suspected():
    assert read_one(Name="[Possible] Internal path disclosure").kind == "suspected"


@pytest.mark.parametrize(
    ("affects", "location"),
    [
        ("/a?b=c", "https://shop.example.com/a?b=c"),
        ("https://shop.example.com/a", "https://shop.example.com/a"),
        ("//admin/x", "https://shop.example.com//admin/x"),
        ("Web Server", "https://shop.example.com/"),
        ("", "https://shop.example.com/"),
    ],
)
def test_location_is_what_is_affected(affects, location):
    assert read_one(Affects=affects).location == location


def test_false_positive_is_coverage():
    report = read(make_acunetix_item(IsFalsePositive="True"))
    assert (len(report.coverage), report.findings) == (2, ())


@pytest.mark.parametrize(
    ("texts", "scanned_at", "complete"),
    [
        ({}, datetime(2026, 3, 13, 10, tzinfo=UTC), None),
        ({"FinishTime": "2026-03-01T10:00:00+01:00"}, datetime(2026, 3, 1, 9, tzinfo=UTC), None),
        ({"FinishTime": "soon", "Aborted": "True"}, UnreadTime("soon"), False),
    ],
)
def test_time_and_completeness(texts, scanned_at, complete):
    report = read(make_acunetix_item(), **texts)
    assert (report.scanned_at, report.complete) == (scanned_at, complete)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"Name": ""}, "has no Name"),
        ({"Severity": "bad"}, "has a Severity that is not one of critical, high, medium, low, informational"),
        ({"Affects": "http://["}, "names no address: http://["),
    ],
)
def test_broken_item_is_rejected_and_loses_no_other(members, reason):
    report = read(make_acunetix_item(**members), make_acunetix_item())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert len(report.findings) == 1


def test_items_of_a_scan_without_address_are_rejected():
    assert {reject.reason for reject in read(make_acunetix_item(), start="").rejects} == {
        "names no website: neither StartUrl nor StartURL"
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"<ScanGroup></ScanGroup>", "no scan"), (make_acunetix(make_acunetix_scan())[:-5], "cut off")],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(acunetix, data)


@pytest.mark.parametrize(
    ("start", "exported", "expected"),
    [
        ("02/03/2024, 09:00:00", "13/03/2026, 11:00:00", datetime(2024, 3, 2, 10, tzinfo=UTC)),
        ("02/03/2024, 09:00:00", "03/13/2026, 11:00:00", datetime(2024, 2, 3, 10, tzinfo=UTC)),
        ("02/03/2024, 09:00:00", "02/03/2024, 11:00:00", UnreadTime("02/03/2024, 10:00:00")),
    ],
)
def test_other_dates_say_whether_the_day_comes_first(start, exported, expected):
    scan = make_acunetix_scan(make_acunetix_item(), StartTime=start, FinishTime="02/03/2024, 10:00:00")
    data = make_acunetix(scan).replace(b"13/03/2026, 11:00:00", exported.encode())
    assert read_whole(acunetix, data).scanned_at == expected


def test_the_date_of_a_response_says_whether_the_day_comes_first():
    response = "HTTP/1.1 200 OK\r\nDate: Sat, 02 Mar 2024 09:10:00 GMT\r\n\r\n"
    item = make_acunetix_item(response=response)
    scan = make_acunetix_scan(item, StartTime="02/03/2024, 09:00:00", FinishTime="02/03/2024, 10:00:00")
    data = make_acunetix(scan).replace(b"13/03/2026, 11:00:00", b"")
    assert read_whole(acunetix, data).scanned_at == datetime(2024, 3, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "texts", [{"FinishTime": "", "StartTime": "13/03/2026, 11:00:00"}, {"FinishTime": ""}]
)
def test_a_scan_without_an_end_is_of_its_start_or_of_the_export(texts):
    assert read(make_acunetix_item(), **texts).scanned_at == datetime(2026, 3, 13, 11, tzinfo=UTC)
