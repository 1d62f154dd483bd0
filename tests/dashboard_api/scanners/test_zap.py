import json
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

import pytest

from dashboard_api.scanners import zap
from dashboard_api.scanners.report import Severity, UnreadableReport
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import make_zap_alert, make_zap_report, read_whole

INSTANCE = {"uri": "https://shop.example.com/a?q=1", "method": "GET", "param": "q", "attack": "<script>"}
INSTANCE |= {"evidence": "<script>", "otherinfo": "Seen twice.\nReally."}


def read(*alerts, **members):
    return read_whole(zap, json.dumps(make_zap_report(*alerts, **members)).encode())


def read_one(**members):
    report = read(make_zap_alert(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def as_xml(report):
    """Return the report in ZAP's XML."""

    def element(name, value):
        if isinstance(value, list):
            inner = "".join(element(name.removesuffix("s"), item) for item in value)
        elif isinstance(value, dict):
            inner = "".join(element(key.replace("-", "", 2), item) for key, item in value.items())
        else:
            inner = escape(value)
        return f"<{name}>{inner}</{name}>"

    head = {name.removeprefix("@"): value for name, value in report.items() if isinstance(value, str)}
    sites = "".join(
        f"<site name={quoteattr(site['@name'])}><alerts>"
        + "".join(element("alertitem", alert) for alert in site["alerts"])
        + "</alerts></site>"
        for site in report["site"]
    )
    attributes = " ".join(f"{name}={quoteattr(value)}" for name, value in head.items())
    return f'<?xml version="1.0"?><OWASPZAPReport {attributes}>{sites}</OWASPZAPReport>'.encode()


def test_report_names_its_source_version_and_time():
    report = read(make_zap_alert())
    assert (report.source, report.source_name, report.version) == ("zap", "ZAP", "2.16.1")
    assert report.scanned_at == datetime(2026, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)
    assert report.complete is None


@pytest.mark.parametrize(
    ("generated", "scanned_at"),
    [
        ("Wed, 3 Dec 2025 12:46:55", datetime(2025, 12, 3, 12, 46, 55, tzinfo=UTC)),
        ("Mi., 3 Dez. 2025 12:46:55", UnreadTime("Mi., 3 Dez. 2025 12:46:55")),
        ("", None),
    ],
)
def test_time_in_words_is_a_fallback(generated, scanned_at):
    assert read(make_zap_alert(), created="", **{"@generated": generated}).scanned_at == scanned_at


def test_xml_reads_as_json_does():
    plus = {
        "request-header": "GET / HTTP/1.1\r\nCookie: a=b",
        "request-body": "",
        "response-header": "HTTP/1.1 200",
    }
    report = make_zap_report(
        make_zap_alert(instances=[INSTANCE | plus | {"response-body": "<p>&amp;"}]),
        make_zap_alert(alertRef="7-1", confidence="0"),
    )
    assert zap.HEAD_PATTERN.search(as_xml(report))
    assert read_whole(zap, as_xml(report)) == read_whole(zap, json.dumps(report).encode())


def test_xml_that_was_indented_reads_alike():
    header = "\n        GET /a HTTP/1.1\n        authorization: s3cr3t\n        host: x\n      "
    report = make_zap_report(make_zap_alert(instances=[INSTANCE | {"request-header": header}]))
    (finding,) = read_whole(zap, as_xml(report)).findings
    assert "Request:\nGET /a HTTP/1.1\nauthorization: [redacted]\nhost: x" in finding.evidence


def test_xml_with_an_entity_is_refused():
    with pytest.raises(UnreadableReport, match="entity"):
        read_whole(zap, b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><OWASPZAPReport/>')


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<OWASPZAPReport><site>", "cut off"),
        (b'<?xml version="1.0" encoding="x-none"?><OWASPZAPReport/>', "encoding|not XML"),
        (b"<html></html>", "root"),
        (b"<a>" * 60, "nested too deeply"),
        (b"{}", "no site"),
        (b"[]", "no site"),
        (b"{", "is cut off"),
    ],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(zap, data)


def test_each_instance_is_a_row_and_a_place_of_one_problem():
    other = INSTANCE | {"uri": "https://shop.example.com/b"}
    report = read(make_zap_alert(instances=[INSTANCE, other]), make_zap_alert(alertRef="10055-5"))
    assert [(finding.row, finding.location) for finding in report.findings] == [
        (1, "https://shop.example.com/a?q=1"),
        (2, "https://shop.example.com/b"),
        (3, "https://shop.example.com/a?q=1"),
    ]
    assert [finding.identity for finding in report.findings] == [("10055-4",), ("10055-4",), ("10055-5",)]


def test_name_tells_alerts_apart_where_an_old_report_has_no_reference():
    finding = read_one(alertRef=None)
    assert (finding.identity, finding.rule) == (("10055", "CSP: Wildcard Directive"), "10055")
    assert finding.aliases == ()


def test_older_forms_of_an_alert_are_those_of_its_plugin():
    by_name = ("10055", "CSP: Wildcard Directive")
    assert read_one().aliases == (("10055",), by_name)
    assert read_one(alertRef="10055").aliases == (by_name,)
    assert read_one(pluginid=None).aliases == ()


@pytest.mark.parametrize(
    ("risk", "confidence", "severity", "kind"),
    [
        ("3", "4", Severity.HIGH, "confirmed"),
        ("3", "3", Severity.HIGH, "confirmed"),
        ("2", "2", Severity.MEDIUM, "suspected"),
        ("1", "1", Severity.LOW, "suspected"),
        ("0", "4", Severity.INFO, "informational"),
        (1, None, Severity.LOW, "suspected"),
    ],
)
def test_risk_is_the_severity_and_confidence_the_kind(risk, confidence, severity, kind):
    finding = read_one(riskcode=risk, confidence=confidence)
    assert (finding.severity, finding.kind, finding.severity_raw) == (severity, kind, "Medium (High)")


def test_false_positive_is_coverage():
    report = read(make_zap_alert(confidence="0", instances=[INSTANCE, INSTANCE]))
    assert (report.rows, len(report.coverage), report.findings) == (2, 2, ())


def test_site_without_alerts_is_coverage():
    report = read()
    assert [check.location for check in report.coverage] == ["https://shop.example.com"]


def test_paragraphs_go_and_other_markup_stays_text():
    finding = read_one(desc="<p>Use <b>one</b>.</p><p>Not <script>.</p>", solution="<p>A</p><p></p><p>B</p>")
    assert finding.description == "Use one.\nNot <script>."
    assert finding.remediation == "A\nB"


def test_references_are_split():
    finding = read_one(reference="<p>https://a.example/1</p><p>http://b.example</p><p>see there</p>")
    assert finding.references == ("https://a.example/1", "http://b.example")


@pytest.mark.parametrize(("cweid", "cwe"), [("693", (693,)), (79, (79,)), ("-1", ()), ("0", ()), ("", ())])
def test_cwe_is_a_positive_number(cweid, cwe):
    assert read_one(cweid=cweid).cwe == cwe


def test_cve_is_found_in_the_texts():
    assert read_one(name="Log4Shell (CVE-2021-44228)", desc="<p>cve-2021-45046</p>").cve == (
        "CVE-2021-44228",
        "CVE-2021-45046",
    )


def test_evidence_is_gathered_and_redacted():
    messages = {
        "request-header": "GET /a HTTP/1.1\r\nCookie: id=s3cr3t",
        "request-body": "",
        "response-header": "HTTP/1.1 200 OK\r\nSet-Cookie: id=s3cr3t",
        "response-body": "<p>hello</p>",
    }
    assert read_one(instances=[INSTANCE | messages]).evidence == (
        "URL: https://shop.example.com/a?q=1\nMethod: GET\nParameter: q\nWASC: 15\n\n"
        "Attack:\n<script>\n\nEvidence:\n<script>\n\nOther information:\nSeen twice.\nReally.\n\n"
        "Request:\nGET /a HTTP/1.1\nCookie: [redacted]\n\n"
        "Response:\nHTTP/1.1 200 OK\nSet-Cookie: [redacted]\n\n<p>hello</p>"
    )


def test_information_of_the_alert_is_shown_where_instances_have_none():
    bare = {"uri": "https://shop.example.com/"}
    assert "<p>" not in read_one(otherinfo="<p>All of them.</p>", instances=[bare]).evidence
    assert "All of them." in read_one(otherinfo="<p>All of them.</p>", instances=[bare]).evidence
    assert "All of them." not in read_one(otherinfo="All of them.").evidence


@pytest.mark.parametrize(
    ("alert", "reason"),
    [
        (make_zap_alert(alertRef=None, pluginid=None), "has neither alertRef nor pluginid"),
        (make_zap_alert(riskcode="4"), "has a riskcode that is not one of 0 to 3"),
        (make_zap_alert(instances=["x"]), "is not a JSON object"),
        ("x", "is not a JSON object"),
    ],
)
def test_broken_row_is_rejected_and_loses_no_other(alert, reason):
    report = read(alert, make_zap_alert())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert [finding.row for finding in report.findings] == [2]


def test_row_without_a_place_is_rejected():
    report = read_whole(zap, json.dumps({"site": [{"alerts": [make_zap_alert(instances=[])]}, 7]}).encode())
    assert [reject.reason[:14] for reject in report.rejects] == ["names no locat", "is not a JSON "]


def test_session_token_in_evidence_is_redacted():
    token = read_one(pluginid="10112", instances=[INSTANCE | {"evidence": "s3cr3t"}])
    assert "Evidence:\n[redacted]" in token.evidence
    cookies = INSTANCE | {"otherinfo": "The origin domain was:\nshop.example.com\nid=s3cr3t\n"}
    listed = read_one(pluginid="90033", instances=[cookies])
    assert "shop.example.com\nid=[redacted]" in listed.evidence
