import pytest

from dashboard_api import limits
from dashboard_api.models import Coverage, Finding, Kind, Source
from dashboard_api.models import Severity as StoredSeverity
from dashboard_api.scanners import report
from dashboard_api.scanners.report import ReportedFinding, Severity


def make_reported(**fields):
    defaults = {
        "row": 1,
        "identity": ("panel", ""),
        "rule": "panel",
        "severity": Severity.HIGH,
        "severity_raw": "high",
        "kind": "confirmed",
        "title": "Exposed panel",
        "location": "https://shop.example.com/admin",
    }
    return ReportedFinding(**(defaults | fields)).cleaned()


def test_severities_and_kinds_are_those_of_the_models():
    assert {member.name: member.value for member in Severity} == {
        member.name: member.value for member in StoredSeverity
    }
    assert set(report.Kind.__args__) == set(Kind.values)


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("title", report.TITLE_LENGTH),
        ("rule", report.RULE_LENGTH),
        ("severity_raw", report.SEVERITY_RAW_LENGTH),
    ],
)
def test_texts_are_cut_to_what_the_columns_hold(name, length):
    assert Finding._meta.get_field(name).max_length == length
    assert getattr(make_reported(**{name: "é" * (length + 1)}), name) == "é" * length


@pytest.mark.parametrize("name", ["description", "remediation", "evidence"])
def test_long_texts_are_cut_between_characters(name):
    limit = limits.MAX_STORED_EVIDENCE_BYTES
    text = getattr(make_reported(**{name: "x" + "漢" * limit}), name)
    assert limit - 3 < len(text.encode()) <= limit


def test_names_of_a_scan_are_cut_to_what_the_columns_hold():
    scan = report.ScanReport(source="x", source_name="\x00é" * 200, version="7" * 200, entries=iter(()))
    assert scan.source_name == "é" * Source._meta.get_field("name").max_length
    assert scan.version == "7" * Coverage._meta.get_field("version").max_length


def test_row_that_is_nested_too_deeply_loses_no_other():
    def convert(number, row):
        if row == "deep":
            raise RecursionError
        return make_reported(row=number)

    rows = list(report.convert_rows([(1, "deep"), (2, "flat")], convert))
    assert [rows[0].reason, rows[1].row] == ["is nested too deeply", 2]


@pytest.mark.parametrize("title", ["", "  ", "\0\x1b", "\u202e"])
def test_a_title_without_a_character_that_is_shown_is_the_rule(title):
    assert make_reported(title=title).title == "panel"


def test_every_text_is_cleaned():
    dirty = "a\x00\x1b[31mb\ud800"
    texts = ["rule", "severity_raw", "title", "description", "remediation", "location", "evidence"]
    finding = make_reported(identity=(dirty, dirty), **dict.fromkeys(texts, dirty))
    assert {getattr(finding, name) for name in texts} == {"ab\ufffd"}
    assert finding.identity == ("ab\ufffd", "ab\ufffd")


def test_evidence_is_redacted_even_behind_invisible_characters():
    assert make_reported(evidence="Coo\x00kie: id=s3cr3t").evidence == "Cookie: [redacted]"


def test_no_text_keeps_a_password_of_an_address():
    dirty = "see https://ada:s3cr3t@shop.example.com/a?api_key=s3cr3ts3cr3t"
    texts = ["title", "description", "remediation", "evidence"]
    finding = make_reported(references=[dirty], identity=(dirty,), **dict.fromkeys(texts, dirty))
    clear = "https://[redacted]@shop.example.com/a?api_key=[redacted]"
    assert {getattr(finding, name) for name in texts} == {f"see {clear}"}
    assert finding.references == (clear,)
    assert finding.identity == (dirty,)  # only its digest is stored


def test_advice_about_headers_stays():
    advice = "Send this header:\nSet-Cookie: id=1; Secure; HttpOnly"
    assert make_reported(remediation=advice).remediation == advice


def test_references_are_web_addresses_only():
    finding = make_reported(
        references=[
            "https://example.com/a",
            "- http://example.com/\x00b\n- <HTTPS://example.com/c>, https://example.com/a\n",
            "javascript:alert(1)",
            "see the manual",
            "ftp://example.com/d",
            f"https://example.com/{'e' * report.REFERENCE_LENGTH}",
        ]
    )
    assert finding.references == (
        "https://example.com/a",
        "http://example.com/b",
        "HTTPS://example.com/c",
    )


def test_references_are_limited():
    many = [f"https://example.com/{number}" for number in range(report.MAX_REFERENCES + 1)]
    assert make_reported(references=many).references == tuple(many[:-1])
