"""The SARIF log: valid, with each finding as a result."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.exports import as_sarif
from portal.exports.as_sarif import absolute_uri, write_sarif
from signed_api.answers import AnswerSummary
from tests.portal.dashboards import make_threat
from tests.portal.exports.sarif import check, check_uri
from tests.portal.exports.selections import make_selection

anything = st.text(st.characters(exclude_categories=["Cs"]))


def run_of(*pages, **fields):
    """Return the run of the checked log."""
    return check(json.loads("".join(write_sarif(make_selection(*pages, **fields)))))


def result_of(**fields):
    return run_of([make_threat(**fields)])["results"][0]


def test_a_log_names_its_schema_its_tool_and_its_list():
    log = json.loads("".join(write_sarif(make_selection())))
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    run = check(log)
    assert run["tool"]["driver"]["name"] == "Threat Dashboard"
    assert run["automationDetails"]["id"] == "threat-dashboard/shop.example.com/"
    properties = run["properties"]
    assert (properties["host"], properties["filters"], properties["total"]) == (
        "shop.example.com", {"severity": "High"}, 2,
    )  # fmt: skip
    assert properties["coverage"][0]["state"] == "ok"


@pytest.mark.parametrize(
    ("severity", "level", "score"),
    [
        ("Critical", "error", "9.5"),
        ("High", "error", "8.0"),
        ("Medium", "warning", "5.5"),
        ("Low", "note", "2.0"),
    ],
)
def test_a_severity_is_a_level_and_a_score(severity, level, score):
    run = run_of([make_threat(severity=severity)])
    (result,), (rule,) = run["results"], run["tool"]["driver"]["rules"]
    assert (result["kind"], result["level"]) == ("fail", level)
    assert result["properties"]["security-severity"] == rule["properties"]["security-severity"] == score


def test_informational_severity_is_a_note_without_a_score():
    result = result_of(severity="Info")
    assert result["level"] == "note"
    assert "security-severity" not in result["properties"]


def test_informational_and_fixed_findings_are_not_failures():
    assert (result_of(kind="informational")["kind"], result_of(status="fixed")["kind"]) == (
        "informational",
        "pass",
    )


@pytest.mark.parametrize("verified", [True, False])
def test_a_result_says_whether_an_analyst_confirmed_it(verified):
    assert result_of(verified=verified)["properties"]["verified"] is verified


@pytest.mark.parametrize(
    ("status", "reasons"),
    [("open", []), ("accepted_risk", ["Accepted risk"]), ("false_positive", ["False positive"])],
)
def test_findings_with_a_decision_are_suppressed(status, reasons):
    assert [it["justification"] for it in result_of(status=status)["suppressions"]] == reasons


@pytest.mark.parametrize(
    ("status", "kind", "reasons"),
    [
        ("open", "accepted", ["Risk accepted"]),
        ("open", "disputed", []),
        ("open", "waiting", []),
        ("fixed", "accepted", []),
        ("false_positive", "accepted", ["False positive"]),
    ],
)
def test_only_a_risk_that_the_account_accepts_suppresses_an_open_finding(status, kind, reasons):
    result = result_of(status=status, answer=AnswerSummary(answer=kind, assignee="user-7"))
    assert [it["justification"] for it in result["suppressions"]] == reasons
    assert result["properties"]["assignee"] == "grace"


def test_findings_of_one_rule_share_the_texts_of_the_worst():
    run = run_of(
        [make_threat(1, rule="a", severity="Critical", title="Worst", cwe=[79], references=["javascript:x", "https://example.com/a"])],
        [make_threat(2, rule="b"), make_threat(3, rule="a", severity="Low", title="Better")],
    )  # fmt: skip
    first, second = run["tool"]["driver"]["rules"]
    assert [result["ruleIndex"] for result in run["results"]] == [0, 1, 0]
    assert (first["id"], second["id"]) == ("nuclei/a", "nuclei/b")
    assert first["shortDescription"]["text"] == "Worst"
    assert first["properties"]["tags"] == ["security", "external/cwe/cwe-079"]
    assert first["helpUri"] == "https://example.com/a"


def test_the_same_rule_of_two_engines_is_two():
    run = run_of([make_threat(1, rule="a"), make_threat(2, rule="a", source="zap")])
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["nuclei/a", "zap/a"]


def test_without_a_rule_the_scanner_is_the_rule():
    run = run_of([make_threat(1, rule=""), make_threat(2, rule="", source="", source_name="")])
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["nuclei", "finding"]


def test_a_finding_has_a_fingerprint_and_a_link_to_the_portal():
    result = result_of(number=7)
    assert result["fingerprints"] == {"threatDashboardFinding/v1": "shop.example.com/7"}
    assert result["hostedViewerUri"].endswith("/findings/7/")
    assert result["provenance"]["firstDetectionTimeUtc"] == "2026-11-01T08:00:00Z"


def test_no_text_of_a_finding_becomes_a_link_of_a_viewer():
    """Viewers show "[text](address)" in a message as a link [3.11.6]."""
    result = result_of(title="Read [all details](https://evil.example/) and [this](1)")
    assert result["message"]["text"] == "Read [all details] (https://evil.example/) and [this] (1)"


def test_a_location_that_is_not_a_url_is_a_name_at_the_website():
    location = result_of(location="shop.example.com:443")["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "https://shop.example.com/"
    assert location["logicalLocations"] == [{"fullyQualifiedName": "shop.example.com:443"}]


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("https://a.example/b?c=d#e", "https://a.example/b?c=d#e"),
        ("https://a.example/ä ö", "https://a.example/%C3%A4%20%C3%B6"),
        ("https://a.example/100%/%41", "https://a.example/100%25/%41"),
        ("https://a.example/?q=<script>\"'", "https://a.example/?q=%3Cscript%3E%22'"),
        ("https://[::1]:8000/[x]", "https://[::1]:8000/%5Bx%5D"),
        ("https://[::1", ""),
        ("javascript:alert(1)", ""),
        ("/path", ""),
        ("https://", ""),
    ],
)
def test_an_address_becomes_a_uri(text, uri):
    assert absolute_uri(text, default="") == uri


@given(anything)
def test_any_text_after_a_host_becomes_a_uri(text):
    check_uri(absolute_uri(f"https://a.example/{text}", default="https://a.example/"))


@given(anything, anything)
def test_any_text_makes_a_valid_log(one, other):
    threat = make_threat(
        title=one or "x", location=one, rule=other, description=other, remediation=one, evidence=other,
        references=[one, other], source=one, source_name=other, severity=one, kind=other, status=one,
    )  # fmt: skip
    run_of([threat])


def test_a_reference_without_a_host_is_no_link_to_help():
    run = run_of([make_threat(references=["http://", "https://a.example/fix"])])
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://a.example/fix"


def test_many_rules_wait_in_a_file(monkeypatch):
    monkeypatch.setattr(as_sarif, "_IN_MEMORY", 10)
    run = run_of([make_threat(number, rule=f"r{number}", description="ä" * 100) for number in range(300)])
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [f"nuclei/r{n}" for n in range(300)]


def test_every_result_has_a_line_and_there_are_two_more():
    pages = [[make_threat(1), make_threat(2, evidence="a\r\nb", rule="x")], [make_threat(3)]]
    assert "".join(write_sarif(make_selection(*pages))).count("\n") == 5


def test_a_part_of_it_is_no_log():
    chunks = list(write_sarif(make_selection([make_threat(1)], [make_threat(2)])))
    for end in range(1, len(chunks)):
        with pytest.raises(json.JSONDecodeError):
            json.loads("".join(chunks[:end]))
