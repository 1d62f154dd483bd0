import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import invicti
from dashboard_api.scanners.report import Severity
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import (
    make_invicti,
    make_invicti_row,
    make_invicti_xml,
    read_whole,
)


def read(*rows, **target):
    return read_whole(invicti, json.dumps(make_invicti(*rows, **target)).encode())


def read_one(**members):
    report = read(make_invicti_row(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_vulnerability_says_what_where_and_what_to_do():
    finding = read_one(
        KnownVulnerabilities=[{"Title": "CVE-2026-12345 in a library"}], ProofOfConcept="<b>x</b>"
    )
    assert (finding.title, finding.rule) == ("Cookie Not Marked as Secure", "CookieNotMarkedAsSecure")
    assert finding.location == "https://shop.example.com/login"
    assert finding.description == "A cookie is sent without Secure.\n\nOthers may read it."
    assert finding.remediation == "Mark it as secure."
    assert (finding.cwe, finding.cve, finding.references) == (
        (614,),
        ("CVE-2026-12345",),
        ("https://a.example/",),
    )
    assert finding.evidence == (
        "Certainty: 100 %\n\nProof:\nx\n\nFound:\nIdentified Cookie(s): sid\n\n"
        "Request:\nGET /login HTTP/1.1\nCookie: [redacted]\n\n"
        "Response:\nHTTP/1.1 200 OK\nSet-Cookie: [redacted]"
    )


@pytest.mark.parametrize(
    ("severity", "confirmed", "expected"),
    [
        ("Critical", True, (Severity.CRITICAL, "confirmed")),
        ("Medium", False, (Severity.MEDIUM, "suspected")),
        ("Low", None, (Severity.LOW, "suspected")),
        ("Best Practice", True, (Severity.INFO, "informational")),
        ("BestPractice", True, (Severity.INFO, "informational")),
        ("Information", True, (Severity.INFO, "informational")),
    ],
)
def test_severity_and_kind(severity, confirmed, expected):
    finding = read_one(Severity=severity, Confirmed=confirmed)
    assert (finding.severity, finding.kind) == expected


@pytest.mark.parametrize(
    "state", ["FalsePositive", "False Positive", "Fixed (Confirmed)", "Present, FalsePositive"]
)
def test_what_is_gone_or_false_is_coverage(state):
    report = read(make_invicti_row(State=state.replace("(", "").replace(")", "")))
    assert (len(report.coverage), report.findings) == (2, ())
    assert read_one(State="Present, AcceptedRisk").title


def test_xml_reads_as_json_does():
    document = make_invicti(
        make_invicti_row(KnownVulnerabilities=[{"Title": "CVE-2026-12345"}]), make_invicti_row()
    )
    expected = read_whole(invicti, json.dumps(document).encode())
    for root in ("invicti-enterprise", "netsparker-enterprise"):
        data = make_invicti_xml(document, root=root)
        assert invicti.HEAD_PATTERN.search(data)
        assert read_whole(invicti, data) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({}, datetime(2026, 3, 13, 9, 30, 20, tzinfo=UTC)),
        ({"Initiated": "03/01/2026 04:57 PM", "Duration": ""}, datetime(2026, 3, 1, 16, 57, tzinfo=UTC)),
        (
            {"Initiated": "03/02/2019 15:48:23 (UTC-06:00)", "Duration": "1.00:00:00"},
            datetime(2019, 3, 3, 21, 48, 23, tzinfo=UTC),
        ),
        ({"Initiated": "2026-01-26 05:18 PM", "Duration": "x"}, datetime(2026, 1, 26, 17, 18, tzinfo=UTC)),
        ({"Initiated": None}, datetime(2026, 3, 13, 11, tzinfo=UTC)),
        ({"Initiated": "01/01/0001 00:00:00"}, UnreadTime("01/01/0001 00:00:00")),
        ({"Initiated": "soon"}, UnreadTime("soon")),
    ],
)
def test_time_is_the_start_and_the_duration_else_that_of_the_report(target, expected):
    report = read(make_invicti_row(), **target)
    assert (report.scanned_at, report.complete) == (expected, None)


def test_target_is_what_was_checked():
    assert [check.location for check in read().coverage] == ["https://shop.example.com/"]
    assert read(Url="").rows == 0


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (7, "is not a JSON object"),
        (make_invicti_row(Url=None), "has no Url"),
        (make_invicti_row(Type=""), "has no Type"),
        (make_invicti_row(Name=None), "has no Name"),
        (
            make_invicti_row(Severity="Bad"),
            "has a Severity that is not one of Critical, High, Medium, Low, Information, BestPractice",
        ),
    ],
)
def test_broken_row_is_rejected_and_loses_no_other(row, reason):
    report = read(row, make_invicti_row())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(2, reason)]
    assert len(report.findings) == 1


AMBIGUOUS = "12/02/2024 04:29 PM"


@pytest.mark.parametrize(
    "proof",
    [
        {"FirstSeenDate": "28/01/2024 04:29 PM"},
        {"LastSeenDate": "27/02/2024 01:00 PM"},
        {"HttpResponse": {"Content": "HTTP/1.1 200 OK\nDate: Mon, 12 Feb 2024 16:30:00 GMT\n\n"}},
    ],
)
def test_a_vulnerability_says_whether_the_day_comes_first(proof):
    document = make_invicti(make_invicti_row(**proof), Initiated=AMBIGUOUS, Duration="")
    document["Generated"] = "12/03/2024 05:00 PM"
    for data in (json.dumps(document).encode(), make_invicti_xml(document)):
        assert read_whole(invicti, data).scanned_at == datetime(2024, 2, 12, 16, 29, tzinfo=UTC)


def test_a_time_that_may_be_in_two_months_is_not_clear():
    document = make_invicti(make_invicti_row(FirstSeenDate=AMBIGUOUS), Initiated=AMBIGUOUS)
    document["Generated"] = AMBIGUOUS
    assert read_whole(invicti, json.dumps(document).encode()).scanned_at == UnreadTime(AMBIGUOUS)
