from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import burp
from dashboard_api.scanners.report import Severity
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import make_burp, make_issue, read_whole


def read(*issues, **members):
    return read_whole(burp, make_burp(*issues, **members))


def read_one(**members):
    report = read(make_issue(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_issue_says_what_where_and_what_to_do():
    finding = read_one()
    assert (finding.title, finding.rule, finding.identity) == (
        "Cookie without HttpOnly flag set",
        "5244416",
        ("5244416",),
    )
    assert finding.location == "https://shop.example.com/login"
    assert (finding.description, finding.remediation) == ("Scripts can read it.", "Set HttpOnly.")
    assert (finding.cwe, finding.references) == ((16,), ("https://cwe.mitre.org/data/definitions/16.html",))
    assert finding.evidence == (
        "Where: /login [sid cookie]\nIP address: 192.0.2.7\n\nDetail:\nThe value was <i>."
    )


@pytest.mark.parametrize(
    ("severity", "confidence", "expected"),
    [
        ("High", "Certain", (Severity.HIGH, "confirmed")),
        ("Medium", "Firm", (Severity.MEDIUM, "suspected")),
        ("Low", "Tentative", (Severity.LOW, "suspected")),
        ("Low", "", (Severity.LOW, "suspected")),
        ("Information", "Certain", (Severity.INFO, "informational")),
    ],
)
def test_severity_and_confidence(severity, confidence, expected):
    finding = read_one(severity=severity, confidence=confidence)
    assert (finding.severity, finding.kind) == expected


def test_false_positive_is_coverage():
    report = read(make_issue(severity="False positive"))
    assert [check.location for check in report.coverage] == ["https://shop.example.com/login"]


def test_messages_are_decoded_bounded_and_redacted():
    request = (
        "POST /a HTTP/1.1\r\nAuthorization: Bearer s3cr3t\r\nCookie: sid=s3cr3t\r\n\r\nü" + "a" * 300_000
    )
    finding = read_one(requests=[request, "GET /b", "GET /c", "GET /d"])
    assert "s3cr3t" not in finding.evidence
    assert (
        "Request:\nPOST /a HTTP/1.1\nAuthorization: [redacted]\nCookie: [redacted]\n\nü" in finding.evidence
    )
    assert len(finding.evidence.encode()) <= 64 * 1024
    short = read_one(requests=["GET /a", "GET /b", "GET /c", "GET /d"]).evidence
    assert ("GET /c" in short, "GET /d" in short) == (True, False)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("R0VUIC9h", "GET /a"), ("R0VU IC9h\n", "GET /a"), ("R0V", ""), ("ü=", ""), ("ü000", "")],
)
def test_base64_that_is_none_is_left_out(raw, shown):
    data = make_burp(make_issue(requests=["x"])).replace(b">eA==<", f">{raw}<".encode())
    (finding,) = read_whole(burp, data).findings
    assert finding.evidence.endswith(f"Request:\n{shown}" if shown else "The value was <i>.")


def test_messages_without_base64_are_read():
    data = make_burp(make_issue(requests=["x"])).replace(b'base64="true">eA==', b'base64="false">GET /a')
    assert "Request:\nGET /a" in read_whole(burp, data).findings[0].evidence


def test_one_type_is_one_finding_wherever_it_is_and_issues_of_extensions_go_by_name():
    identities = [
        read_one(**members).identity
        for members in (
            {"path": "/a", "serialNumber": "1", "severity": "High"},
            {"path": "/b", "name": "Cookie without HttpOnly flag"},
            {"type": "134217728", "name": "One"},
            {"type": "134217728", "name": "Two"},
        )
    ]
    assert identities[0] == identities[1]
    assert len(set(identities)) == 3


@pytest.mark.parametrize(
    ("exported", "expected"),
    [
        ("Sat Sep 13 22:39:44 CEST 2014", datetime(2014, 9, 13, 20, 39, 44, tzinfo=UTC)),
        ("Sat Sep 13 22:39:44 EST 2014", datetime(2014, 9, 14, 3, 39, 44, tzinfo=UTC)),
        ("Wed Jan 27 22:43:35 WIB 2021", datetime(2021, 1, 27, 22, 43, 35, tzinfo=UTC)),
        ("yesterday", UnreadTime("yesterday")),
        ("", None),
    ],
)
def test_time_is_that_of_the_export_and_in_utc_if_its_zone_is_unknown(exported, expected):
    report = read(make_issue(), exported=exported)
    assert (report.scanned_at, report.complete, report.version) == (expected, None, "2025.1")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"host": "shop"}, "names no host"),
        ({"host": "https://["}, "names no address: /login"),
        ({"severity": "Worst"}, "has a severity that is not one of High, Medium, Low, Information"),
        ({"type": None}, "has no type"),
        ({"name": None}, "has no name"),
    ],
)
def test_broken_issue_is_rejected_and_loses_no_other(members, reason):
    report = read(make_issue(**members), make_issue())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert len(report.findings) == 1
