import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import wapiti
from dashboard_api.scanners.report import Severity, UnreadableReport
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import make_wapiti, make_wapiti_entry, make_wapiti_xml, read_whole


def read(*entries, **members):
    return read_whole(wapiti, json.dumps(make_wapiti(*entries, **members)).encode())


def read_one(category="Open Redirect", group="vulnerabilities", **members):
    report = read(make_wapiti_entry(**members), category=category, group=group)
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_report_names_its_version_and_time():
    report = read()
    assert (report.source, report.version, report.complete) == ("wapiti", "3.2.3", None)
    assert report.scanned_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert read(date="2026-03-01 10:00:00").scanned_at == report.scanned_at
    assert read(date="yesterday").scanned_at == UnreadTime("yesterday")


def test_target_is_what_was_checked():
    assert [check.location for check in read().coverage] == ["https://shop.example.com/"]
    assert read(target="").rows == 0


def test_crawled_pages_are_what_was_checked():
    pages = [{"request": {"url": "https://shop.example.com/a", "method": "GET"}}, 7, {"request": None}]
    report = read(crawled_pages=pages)
    assert [check.location for check in report.coverage] == [
        "https://shop.example.com/",
        "https://shop.example.com/a",
    ]
    assert [reject.row for reject in report.rejects] == [3, 4]


@pytest.mark.parametrize(("pages", "error"), [(0, "Wapiti reached no page"), (7, "")])
def test_a_website_of_which_no_page_was_reached_is_a_failed_check(pages, error):
    document = make_wapiti(crawled_pages_nbr=pages)
    for data in (json.dumps(document).encode(), make_wapiti_xml(document)):
        assert [check.error for check in read_whole(wapiti, data).coverage] == [error]


@pytest.mark.parametrize(
    ("level", "severity"),
    [
        (4, Severity.CRITICAL),
        (3, Severity.HIGH),
        (2, Severity.MEDIUM),
        ("1", Severity.LOW),
        (0, Severity.INFO),
    ],
)
def test_level_is_the_severity(level, severity):
    finding = read_one(level=level)
    assert (finding.severity, finding.severity_raw) == (severity, f"level {level}")


@pytest.mark.parametrize(
    ("group", "level", "kind"),
    [
        ("vulnerabilities", 1, "confirmed"),
        ("anomalies", 1, "suspected"),
        ("additionals", 1, "informational"),
        ("vulnerabilities", 0, "informational"),
    ],
)
def test_group_is_the_kind(group, level, kind):
    assert read_one(group=group, level=level).kind == kind


def test_category_says_what_it_is_and_what_to_do():
    finding = read_one()
    assert (finding.title, finding.rule, finding.identity) == (
        "Open Redirect",
        "Open Redirect",
        ("Open Redirect", ""),
    )
    assert finding.description == "Visitors may be sent elsewhere."
    assert finding.remediation == "Check the address."
    assert finding.references == ("https://cwe.mitre.org/data/definitions/601.html",)
    assert finding.cwe == (601,)
    assert finding.location == "https://shop.example.com/go"


def test_names_tell_apart_what_one_category_gathers():
    cookie = read_one("HttpOnly Flag cookie", info="HttpOnly flag is not set in the cookie : sid")
    assert cookie.identity != read_one("HttpOnly Flag cookie", info="... in the cookie : csrf").identity
    assert cookie.title == "HttpOnly Flag cookie: HttpOnly flag is not set in the cookie : sid"


def test_software_is_distinguished_by_its_name_and_not_by_its_version():
    category = "Fingerprint web technology"
    info = '{"name": "jQuery", "versions": ["%s"], "cves": "CVE-2020-11022"}'
    old, new = (read_one(category, group="additionals", info=info % number) for number in ("1.11.0", "3.7.1"))
    assert old.identity == new.identity == (category, "jQuery")
    assert old.title == "Fingerprint web technology: jQuery"
    assert old.cve == ("CVE-2020-11022",)
    assert "1.11.0" in old.evidence


def test_evidence_is_gathered_and_redacted():
    response = {"status_code": 302, "headers": [["set-cookie", "id=s3cr3t"], ["x", "y"]], "body": "<p>"}
    assert read_one(detail={"response": response}).evidence == (
        "Open Redirect via injection in the parameter to\n\n"
        "Method: GET\nParameter: to\nModule: redirect\nTest: WSTG-CLNT-04\n\n"
        "Command:\ncurl \"https://shop.example.com/go?to=x\" -b '[redacted]'\n\n"
        "Request:\nGET /go?to=x HTTP/1.1\nCookie: [redacted]\n\n"
        "Response:\n302\nset-cookie: [redacted]\nx: y\n\n<p>"
    )


@pytest.mark.parametrize(
    ("entry", "reason"),
    [(7, "is not a JSON object"), (make_wapiti_entry(level=9), "has a level that is not one of 0 to 4")],
)
def test_broken_entry_is_rejected_and_loses_no_other(entry, reason):
    report = read(entry, make_wapiti_entry())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(2, reason)]
    assert [finding.row for finding in report.findings] == [3]


def test_address_that_is_none_is_rejected():
    report = read(make_wapiti_entry(), target="http://[")
    assert [reject.reason for reject in report.rejects] == ["names no address: /go"]


def test_xml_reads_as_json_does():
    response = {
        "status_code": 302,
        "headers": [["set-cookie", "id=s3cr3t"], ["x", "y"]],
        "body": "<p>&amp;]]",
    }
    entries = [
        make_wapiti_entry(detail={"response": response}, info="<b> & \u00fc"),
        make_wapiti_entry(level=9),
    ]
    document = make_wapiti(*entries, category="HttpOnly Flag cookie")
    from_xml = read_whole(wapiti, make_wapiti_xml(document))
    assert from_xml == read_whole(wapiti, json.dumps(document).encode())
    assert (len(from_xml.findings), len(from_xml.rejects)) == (1, 1)
    assert "s3cr3t" not in from_xml.findings[0].evidence


def is_sampled(document):
    json_report = read_whole(
        wapiti, json.dumps(document | {"suppressed_findings": {"Open Redirect": 7}}).encode()
    )
    counted = {"suppressed_findings": {"Open Redirect": {"suppressed": 7}}}
    reports = json_report, read_whole(wapiti, make_wapiti_xml(document | counted))
    return {finding.is_sampled for report in reports for finding in report.findings}


def test_category_with_suppressed_findings_lists_only_some_of_its_locations():
    assert is_sampled(make_wapiti(make_wapiti_entry())) == {True}
    assert is_sampled(make_wapiti(make_wapiti_entry(), category="CRLF Injection")) == {False}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'<report type="security"><generatedBy id="Wapiti 2.3.0"/></report>', "not a report of Wapiti 3"),
        (make_wapiti_xml(make_wapiti(make_wapiti_entry()))[:-20], "cut off"),
    ],
)
def test_other_xml_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(wapiti, data)
