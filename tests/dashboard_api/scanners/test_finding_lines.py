import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.scanners import finding_lines
from dashboard_api.scanners.report import RULE_LENGTH, Severity
from tests.dashboard_api.scanners.samples import SCAN, json_lines, make_finding_line, read_whole

DOCS = Path(__file__).parents[3] / "docs"
TIMES = jsonschema.FormatChecker(formats=[])


@TIMES.checks("date-time", raises=ValueError)
def _is_time(text):
    return not isinstance(text, str) or datetime.fromisoformat(text).tzinfo is not None


def read(*lines):
    return read_whole(finding_lines, json_lines(SCAN, *lines))


def read_one(**members):
    report = read(make_finding_line(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def rejection(line):
    (reject,) = read(line).rejects
    assert reject.row == 2
    return reject.reason


def test_first_line_names_the_scan():
    report = read()
    assert (report.source, report.source_name, report.version) == ("port-watch", "Port Watch", "2.1")
    bare = read_whole(finding_lines, json_lines({"scan": "findings/1", "source": "x"}))
    assert (bare.source_name, bare.version, bare.complete, bare.rows) == ("x", "", None, 0)


def test_a_name_that_does_not_spell_its_source_is_not_shown_to_all_accounts():
    first = {"scan": "findings/1", "source": "acunetix"}
    named = read_whole(finding_lines, json_lines({**first, "name": "Your licence ended: other.example"}))
    assert named.source_name == "acunetix"
    assert read_whole(finding_lines, json_lines({**first, "name": "Acunetix"})).source_name == "Acunetix"


def test_finding_is_read_as_it_is_written():
    finding = read_one(
        matcher="8443",
        kind="suspected",
        description="Why.",
        remediation="What to do.",
        references=["https://a.example/1"],
        cwe=[200],
        cve=["CVE-2020-0001"],
        seen_at="2026-03-01T10:00:00+02:00",
    )
    assert (finding.identity, finding.rule) == (("open-port", "8443"), "open-port")
    assert (finding.severity, finding.severity_raw, finding.kind) == (Severity.MEDIUM, "medium", "suspected")
    assert (finding.title, finding.description) == ("A port is open to everybody", "Why.")
    assert (finding.remediation, finding.evidence) == ("What to do.", "8443/tcp open")
    assert finding.references == ("https://a.example/1",)
    assert (finding.cwe, finding.cve) == ((200,), ("CVE-2020-0001",))
    assert finding.location == "https://shop.example.com:8443/"
    assert finding.seen_at == datetime(2026, 3, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize(("severity", "kind"), [("high", "confirmed"), ("info", "informational")])
def test_kind_follows_from_the_severity_by_default(severity, kind):
    assert read_one(severity=severity).kind == kind


def test_checks_are_coverage():
    report = read({"checked": "https://a.example/"}, {"checked": "/b", "error": "timeout"})
    assert [(check.row, check.location, check.error) for check in report.coverage] == [
        (2, "https://a.example/", ""),
        (3, "/b", "timeout"),
    ]


def test_a_failed_check_may_name_rules():
    report = read({"checked": "/b", "error": "timeout", "rules": ["one", " two\t", "x" * 400]})
    assert [check.rules for check in report.coverage] == [("one", "two", "x" * RULE_LENGTH)]
    assert read({"checked": "/b", "error": "timeout", "rules": ["one"] * 21}).rejects


def test_last_line_says_how_the_scan_ended():
    report = read(make_finding_line(), {"complete": True, "scanned_at": "2026-03-01T10:00:00Z"})
    assert (report.rows, report.complete) == (1, True)
    assert report.scanned_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert read({"complete": False}).complete is False


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1]", "is not a JSON object"),
        ({}, "is not a finding, a check or the end line"),
        (make_finding_line(title=None), "is not valid: Object missing required field `title`"),
        (make_finding_line(severity="bad"), "is not valid: Invalid enum value 'bad' - at `$.severity`"),
        (make_finding_line(unknown=1), "is not valid: Object contains unknown field `unknown`"),
        (make_finding_line() | {"\ud800": 1}, "holds half of a character"),
        (SCAN, "is not a finding, a check or the end line"),
    ],
)
def test_broken_line_is_rejected_with_what_is_wrong(line, reason):
    assert rejection(line) == reason


def test_schema_in_the_documents_is_the_readers():
    assert json.loads((DOCS / "findings.schema.json").read_text()) == finding_lines.schema()


def test_sample_in_the_documents_is_read_and_valid():
    data = (DOCS / "samples" / "findings.jsonl").read_bytes()
    report = read_whole(finding_lines, data)
    assert (len(report.findings), len(report.coverage), report.rejects, report.complete) == (2, 1, (), True)
    for line in data.splitlines():
        jsonschema.validate(json.loads(line), finding_lines.schema())


anything = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.lists(st.text(max_size=3), max_size=2)
)
MEMBERS = {
    "title": st.sampled_from(["t", ""]),
    "severity": st.sampled_from(["high", "High", "info"]),
    "kind": st.sampled_from(["suspected", "sure"]),
    "location": st.sampled_from(["/", ""]),
    "references": st.lists(st.sampled_from(["https://a.example", ""]), max_size=2),
    "cwe": st.lists(st.sampled_from([0, 79, 1_000_000, 1.5]), max_size=2),
    "cve": st.lists(st.sampled_from(["CVE-2020-0001", "CVE-1"]), max_size=2),
    "seen_at": st.sampled_from(["2026-03-01T10:00:00Z", "2026-03-01T10:00:00", "soon"]),
    "matcher": st.text(max_size=3),
    "evidence": st.text(max_size=3),
    "unknown": st.integers(),
}
findings = st.builds(
    lambda members: make_finding_line(**members),
    st.fixed_dictionaries({}, optional={name: value | anything for name, value in MEMBERS.items()}),
)
checks = st.fixed_dictionaries(
    {"checked": st.sampled_from(["/", ""]) | anything},
    optional={"error": st.text(max_size=250) | anything, "rules": anything},
)
ends = st.fixed_dictionaries({"complete": anything}, optional={"scanned_at": MEMBERS["seen_at"] | anything})


@pytest.mark.once
@given(findings | checks | ends)
def test_reader_accepts_what_the_schema_allows_and_nothing_else(line):
    schema = jsonschema.Draft202012Validator(finding_lines.schema(), format_checker=TIMES)
    assert schema.is_valid(line) == (read(line).rejects == ())
