import io
import json
from datetime import UTC, datetime

import pytest

from dashboard_api import limits
from dashboard_api.scanners import nuclei, read_report
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import json_lines, make_row, read_whole, whole


def read_one(**members):
    report = read_whole(nuclei, json_lines(make_row(**members)))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def rejection(row):
    report = read_whole(nuclei, json_lines(row))
    assert (report.rows, report.findings, report.coverage) == (1, (), ())
    (reject,) = report.rejects
    assert reject.row == 1
    return reject.reason


def info(**members):
    return {"name": "Exposed panel", "severity": "high"} | members


def test_report_names_its_source_and_the_time_of_its_newest_row():
    later, check = "2026-03-01T09:00:00Z", "2026-03-01T09:30:00Z"
    report = read_whole(
        nuclei,
        json_lines(make_row(), make_row(timestamp=later), make_row(matcher_status=False, timestamp=check)),
    )
    assert (report.source, report.source_name, report.version, report.rows) == ("nuclei", "Nuclei", "", 3)
    assert report.complete is None
    assert report.scanned_at == datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def test_json_lines_an_array_and_a_single_result_read_alike():
    row = make_row()
    layouts = [
        json_lines(row),
        json.dumps([row]).encode(),
        json.dumps([row], indent=2).encode(),
        json.dumps(row, indent=2).encode(),
    ]
    assert len({read_whole(nuclei, data) for data in layouts}) == 1
    assert all(nuclei.HEAD_PATTERN.search(data) for data in layouts)


def test_older_spelling_of_keys_reads_alike():
    extracted = {"extracted_results": ["nginx/1.14.2"]}
    new = read_one(matcher_name="nginx", **{"extracted-results": ["nginx/1.14.2"]})
    row = make_row()
    row["templateID"], row["matched"] = row.pop("template-id"), row.pop("matched-at")
    row |= {"matcher_name": "nginx", **extracted}
    assert read_whole(nuclei, json_lines(row)).findings == (new,)


def test_rule_and_matcher_tell_problems_apart():
    assert read_one().identity == ("exposed-panel", "")
    assert read_one(matcher_name="wix").identity == ("exposed-panel", "wix")
    assert read_one(extractor_name="version").identity == ("exposed-panel", "version")
    assert read_one().rule == "exposed-panel"


@pytest.mark.parametrize(
    ("members", "title"),
    [
        ({}, "Exposed panel"),
        ({"matcher_name": "wix"}, "Exposed panel [wix]"),
        ({"extractor_name": "version"}, "Exposed panel [version]"),
        ({"info": {"severity": "low"}}, "exposed-panel"),
        ({"info": None}, "exposed-panel"),
    ],
)
def test_title_is_the_name_with_the_matcher(members, title):
    assert read_one(**members).title == title


@pytest.mark.parametrize(
    ("word", "severity", "kind"),
    [
        ("critical", Severity.CRITICAL, "confirmed"),
        ("High", Severity.HIGH, "confirmed"),
        ("MEDIUM", Severity.MEDIUM, "confirmed"),
        ("low", Severity.LOW, "confirmed"),
        ("info", Severity.INFO, "informational"),
        ("unknown", Severity.INFO, "informational"),
        ("grave", Severity.INFO, "informational"),
        (None, Severity.INFO, "informational"),
    ],
)
def test_severity_decides_the_kind_and_its_word_is_kept(word, severity, kind):
    finding = read_one(info=info(severity=word))
    assert (finding.severity, finding.kind, finding.severity_raw) == (severity, kind, word or "")


def test_template_that_did_not_match_is_coverage():
    report = read_whole(nuclei, json_lines(make_row(matcher_status=False)))
    assert report.findings == ()
    (check,) = report.coverage
    assert (check.row, check.location, check.error) == (1, "https://shop.example.com/admin", "")


@pytest.mark.parametrize("matched", [True, False])
def test_row_with_an_error_is_a_failed_check(matched):
    report = read_whole(nuclei, json_lines(make_row(matcher_status=matched, error="connection\x00 refused")))
    assert report.findings == ()
    assert [check.error for check in report.coverage] == ["connection refused"]


def test_description_holds_impact_and_scores():
    finding = read_one(
        info=info(
            description="A panel.\nOpen to all.",
            impact="Anyone may enter.",
            classification={
                "cvss-metrics": "CVSS:3.1/AV:N",
                "cvss-score": 9.8,
                "epss-score": 0.97,
                "epss-percentile": 0.99,
                "cpe": "cpe:2.3:a:x",
            },
        )
    )
    assert finding.description == (
        "A panel.\nOpen to all.\n\nImpact: Anyone may enter.\n\n"
        "CVSS score: 9.8\nCVSS vector: CVSS:3.1/AV:N\n"
        "EPSS score: 0.97\nEPSS percentile: 0.99\nCPE: cpe:2.3:a:x"
    )
    assert read_one().description == ""


def test_remediation_is_kept():
    assert read_one(info=info(remediation="Close it.")).remediation == "Close it."


@pytest.mark.parametrize(
    ("reference", "references"),
    [
        (None, ()),
        ("https://a.example/1", ("https://a.example/1",)),
        (["https://a.example/1", "http://b.example"], ("https://a.example/1", "http://b.example")),
        ("- http://a.example\n- http://b.example\n", ("http://a.example", "http://b.example")),
        (["javascript:alert(1)", 7, None], ()),
    ],
)
def test_references_are_read_in_every_shape(reference, references):
    assert read_one(info=info(reference=reference)).references == references
    template = "https://templates.example/x"
    assert read_one(info=info(reference=reference), template_url=template).references == (
        *references,
        template,
    )


@pytest.mark.parametrize(
    ("value", "cwe"),
    [
        (None, ()),
        (["CWE-22", "cwe-200", "CWE-22"], (22, 200)),
        ("CWE-79,CWE-80", (79, 80)),
        (["CWE-noinfo", "CWE-0", "", None, 89], (89,)),
        (["CWE-" + "9" * 30, "CWE-²"], ()),
    ],
)
def test_cwe_numbers_are_read_in_every_shape(value, cwe):
    assert read_one(info=info(classification={"cwe-id": value})).cwe == cwe


@pytest.mark.parametrize(
    ("value", "cve"),
    [
        (None, ()),
        (["cve-2021-44228", "CVE-2021-44228"], ("CVE-2021-44228",)),
        ("CVE-2016-6210", ("CVE-2016-6210",)),
        (["none", 5, None], ()),
    ],
)
def test_cve_names_are_read_in_every_shape(value, cve):
    assert read_one(info=info(classification={"cve-id": value})).cve == cve


@pytest.mark.parametrize(
    ("members", "location"),
    [
        ({}, "https://shop.example.com/admin"),
        ({"matched_at": "www.shop.example.com"}, "www.shop.example.com"),
        ({"matched_at": None, "url": "https://shop.example.com/u"}, "https://shop.example.com/u"),
        ({"matched_at": None}, "https://shop.example.com"),
        ({"matched_at": None, "path": "/p"}, "https://shop.example.com/p"),
        ({"matched_at": None, "host": "shop.example.com", "port": "22"}, "shop.example.com:22"),
        ({"matched_at": None, "host": "shop.example.com:22", "port": 22}, "shop.example.com:22"),
        (
            {"matched_at": None, "host": "shop.example.com", "port": "443", "scheme": "https", "path": "/p"},
            "https://shop.example.com:443/p",
        ),
        ({"matched_at": None, "host": "::1", "port": "22"}, "[::1]:22"),
    ],
)
def test_location_is_the_most_precise_of_the_row(members, location):
    assert read_one(**members).location == location


@pytest.mark.parametrize(
    ("timestamp", "seen_at"),
    [
        ("2026-03-01T10:00:00.123456789+02:00", datetime(2026, 3, 1, 8, 0, 0, 123456, tzinfo=UTC)),
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+05:00", None),
        ("9999-12-31T23:59:59-05:00", None),
        ("Sun, 1 Mar 2026 10:00:00 +0000", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("yesterday", None),
        (None, None),
        (1234, None),
    ],
)
def test_time_is_read_with_its_zone(timestamp, seen_at):
    assert read_one(timestamp=timestamp).seen_at == seen_at


def test_evidence_is_gathered_with_what_is_long_last():
    finding = read_one(
        matched_at="https://shop.example.com/admin?q=%3Cscript%3E",
        ip="192.0.2.7",
        matched_line=[3, 7],
        extracted_results=["admin", "root"],
        request="GET /admin HTTP/1.1\r\nCookie: id=s3cr3t\r\n\r\n",
        response="HTTP/1.1 200 OK\r\nSet-Cookie: id=s3cr3t\r\n\r\n<h1>Admin</h1>",
        curl_command="curl -H 'Authorization: Bearer s3cr3t' -b 'id=s3cr3t' https://shop.example.com/admin",
        interaction={
            "protocol": "http",
            "full-id": "abc",
            "remote-address": "192.0.2.8",
            "raw-request": "GET / HTTP/1.1\r\nAuthorization: s3cr3t",
            "raw-response": "HTTP/1.1 204 No Content",
        },
        template_encoded="c2VjcmV0",
        template_path="/home/ada/templates/x.yaml",
    )
    assert finding.evidence == (
        "Matched at: https://shop.example.com/admin?q=%3Cscript%3E\n"
        "Matched lines: 3, 7\nProtocol: http\nIP address: 192.0.2.7\n\n"
        "Extracted:\nadmin\nroot\n\n"
        "Command:\ncurl -H 'Authorization: [redacted]' -b '[redacted]' https://shop.example.com/admin\n\n"
        "Request:\nGET /admin HTTP/1.1\nCookie: [redacted]\n\n"
        "Interaction: http\nInteraction's name: abc\nInteraction's address: 192.0.2.8\n\n"
        "Interaction's request:\nGET / HTTP/1.1\nAuthorization: [redacted]\n\n"
        "Interaction's response:\nHTTP/1.1 204 No Content\n\n"
        "Response:\nHTTP/1.1 200 OK\nSet-Cookie: [redacted]\n\n<h1>Admin</h1>"
    )


def test_evidence_members_may_be_null():
    absent = json.loads('{"matched-line": null, "extracted-results": null, "interaction": null}')
    report = read_whole(nuclei, json_lines(make_row() | absent))
    assert [finding.evidence for finding in report.findings] == ["Protocol: http"]


def test_evidence_is_capped():
    finding = read_one(response="漢" * limits.MAX_STORED_EVIDENCE_BYTES)
    assert len(finding.evidence.encode()) <= limits.MAX_STORED_EVIDENCE_BYTES


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (make_row(template_id=None), "has no template-id"),
        (make_row(template_id="\x00"), "has no template-id"),
        (make_row(template_id=["x"]), "has no template-id"),
        (make_row(matched_at=None, host=None), "names no location: matched-at, url and host are all missing"),
        (make_row(matcher_status="false"), "has a matcher-status that is neither true nor false"),
        ({}, "has no template-id"),
    ],
)
def test_row_without_what_counts_is_rejected(row, reason):
    assert rejection(row) == reason


@pytest.mark.parametrize("data", [b"", b" \n", b"[]\n"])
def test_empty_file_is_a_report_without_rows(data):
    assert whole(read_report(io.BytesIO(data), format_name="nuclei")).rows == 0


@pytest.mark.parametrize(
    "data",
    [
        b"<html></html>",
        b'{"runs": [], "version": "2.1.0"}',
        b'{"text": "\\"template-id\\": 1"}',
        b"template-id: x",
    ],
)
def test_other_files_are_not_recognised(data):
    assert not nuclei.HEAD_PATTERN.search(data)


@pytest.mark.parametrize("data", [b"{" * 200_000, b'{"a":' * 100_000, b"-" + b"9" * 10_000, b'"\\ud800"'])
def test_bytes_that_strain_a_decoder_are_refused(data):
    with pytest.raises(UnreadableReport):
        read_whole(nuclei, data)
