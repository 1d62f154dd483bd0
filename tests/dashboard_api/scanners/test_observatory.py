import io
import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import observatory, read_report
from dashboard_api.scanners.report import Severity
from tests.dashboard_api.scanners.samples import make_observatory, make_test, read_whole, whole


def read(**tests):
    return read_whole(observatory, json.dumps(make_observatory(**tests)).encode())


def read_one(**members):
    (finding,) = read(content_security_policy=make_test(**members)).findings
    return finding


@pytest.mark.parametrize(
    ("points", "severity", "kind"),
    [
        (-50, Severity.HIGH, "confirmed"),
        (-40, Severity.HIGH, "confirmed"),
        (-25, Severity.MEDIUM, "confirmed"),
        (-5, Severity.LOW, "confirmed"),
        (0, Severity.INFO, "informational"),
    ],
)
@pytest.mark.parametrize("spelling", ["scoreModifier", "score_modifier"])
def test_points_taken_off_are_the_severity(points, severity, kind, spelling):
    test = make_test()
    del test["scoreModifier"]
    (finding,) = read(content_security_policy=test | {spelling: points}).findings
    assert (finding.severity, finding.kind) == (severity, kind)


@pytest.mark.parametrize("points", [None, "many", True, []])
def test_failed_test_without_a_score_is_rejected(points):
    report = read(a=make_test(scoreModifier=points), cookies=make_test())
    assert [reject.reason for reject in report.rejects] == [
        "failed, and has no score (scoreModifier or score_modifier)"
    ]
    assert len(report.findings) == 1


def test_api_gives_title_description_recommendation_and_link():
    finding = read_one(
        title="Content Security Policy",
        score_description="<p>The header is <code>missing</code>.</p>",
        recommendation="<p>Implement one.</p>",
        link="/en-US/docs/Web/Security/Practical_implementation_guides/CSP#problem",
    )
    assert finding.title == "Content Security Policy: not implemented"
    assert finding.description == "The header is missing."
    assert finding.remediation == "Implement one."
    assert finding.references == (
        "https://developer.mozilla.org/en-US/docs/Web/Security/Practical_implementation_guides/CSP#problem",
    )


def test_first_api_is_read_as_the_second_is():
    test = {"pass": False, "result": "csp-not-implemented", "score_modifier": -25, "name": "x"}
    document = {
        "scan": {
            "algorithm_version": 2,
            "end_time": "Wed, 05 May 2021 07:59:48 GMT",
            "state": "FINISHED",
            "tests_quantity": 2,
        },
        "tests": {
            "content-security-policy": test | {"output": {"data": {"policy": 1}}},
            "redirection": {"pass": True, "output": {"route": ["http://shop.example.com/"]}},
        },
    }
    report = read_whole(observatory, json.dumps(document).encode())
    (finding,) = report.findings
    assert (finding.location, finding.severity) == ("https://shop.example.com/", Severity.MEDIUM)
    assert "policy" in finding.evidence
    assert (report.version, report.complete) == ("2", True)
    assert report.scanned_at == datetime(2021, 5, 5, 7, 59, 48, tzinfo=UTC)


def test_answer_with_the_tests_alone_is_read():
    test = {"expectation": "a", "name": "x", "output": {}, "score_description": "None is sent."}
    tests = {
        "cookies": test | {"pass": False, "result": "cookies-without-secure", "score_modifier": -20},
        "redirection": test
        | {"pass": True, "result": "redirection-to-https", "output": {"route": ["http://shop.example.com/"]}},
    }
    report = whole(read_report(io.BytesIO(json.dumps(tests).encode())))
    assert [finding.location for finding in report.findings] == ["https://shop.example.com/"]
    assert (report.rows, report.complete, report.scanned_at) == (2, None, None)


@pytest.mark.parametrize("members", [{"error": "The site is down."}, {"state": "FAILED"}])
def test_scan_that_failed_is_not_complete(members):
    report = make_observatory(cookies={"pass": True})
    report["scan"] |= members
    assert read_whole(observatory, json.dumps(report).encode()).complete is False


@pytest.mark.parametrize(
    "key", [b"algorithmVersion", b"algorithm_version", b"scoreModifier", b"score_modifier"]
)
def test_both_spellings_are_recognised(key):
    assert observatory.HEAD_PATTERN.search(b'{"scan": {"' + key + b'": 4')


def test_test_is_what_is_recognised_again_whatever_its_result():
    finding = read_one()
    assert finding.identity == read_one(result="csp-implemented-with-unsafe-inline").identity
    assert finding.title == "Content Security Policy (CSP): not implemented"
    assert finding.severity_raw == "-25 points"
    assert finding.remediation.startswith("Send a Content-Security-Policy")
    assert finding.references == (
        "https://developer.mozilla.org/en-US/docs/Web/Security/Practical_implementation_guides/CSP",
    )
    assert finding.evidence == "Result: csp-not-implemented\nExpected: csp-implemented-with-no-unsafe"


def test_data_is_evidence():
    assert 'Seen:\n{\n  "sid": 1\n}' in read_one(data={"sid": 1}).evidence


def test_unknown_test_goes_by_its_name():
    (finding,) = read(new_test=make_test(result="new-test-failed")).findings
    assert (finding.title, finding.references) == ("new-test: failed", ())


@pytest.mark.parametrize(
    ("start", "location"),
    [
        ("http://shop.example.com/", "https://shop.example.com/"),
        ("https://ada@shop.example.com:443/a?b", "https://shop.example.com/"),
        ("http://shop.example.com:8080/a", "http://shop.example.com:8080/"),
        ("http://shop.example.com:x/", "/"),
        ("shop", "/"),
        (None, "/"),
    ],
)
def test_location_is_the_base_address_of_the_website(start, location):
    route = {"pass": True, "route": [start, "https://www.shop.example.com/"] if start else None}
    report = read(content_security_policy=make_test(), redirection=route)
    assert report.findings[0].location == location


def test_report_is_complete_with_as_many_tests_as_it_says():
    report = make_observatory(cookies={"pass": True})
    assert read_whole(observatory, json.dumps(report).encode()).complete is True
    report["scan"] |= {"testsQuantity": 10, "scanned_at": "2026-03-01T10:00:00Z"}
    short = read_whole(observatory, json.dumps(report).encode())
    assert (short.complete, short.scanned_at) == (False, datetime(2026, 3, 1, 10, tzinfo=UTC))
    del report["scan"]["testsQuantity"]
    assert read_whole(observatory, json.dumps(report).encode()).complete is None


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        (7, "is not a JSON object"),
        (make_test(**{"pass": "no"}), "has a pass that is neither true nor false"),
    ],
)
def test_broken_test_is_rejected_and_loses_no_other(test, reason):
    report = read(a=test, cookies=make_test())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert len(report.findings) == 1
