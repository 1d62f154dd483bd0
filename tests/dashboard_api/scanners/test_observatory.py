import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import observatory
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import make_observatory, make_test, read_whole


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
        (None, Severity.INFO, "informational"),
    ],
)
def test_points_taken_off_are_the_severity(points, severity, kind):
    finding = read_one(scoreModifier=points)
    assert (finding.severity, finding.kind) == (severity, kind)


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


@pytest.mark.parametrize("passed", [True, None])
def test_what_passed_or_does_not_apply_is_coverage(passed):
    assert len(read(cookies=make_test(**{"pass": passed})).coverage) == 1


def test_place_is_where_redirections_began_or_the_root_of_the_base_url():
    assert read_one().location == "/"
    route = {"pass": True, "route": ["http://shop.example.com/", "https://shop.example.com/"]}
    report = read(content_security_policy=make_test(), redirection=route)
    assert report.findings[0].location == "http://shop.example.com/"


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


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"error": "The site seems to be down."}', b"{"])
def test_other_document_is_refused(data):
    with pytest.raises(UnreadableReport):
        read_whole(observatory, data)
