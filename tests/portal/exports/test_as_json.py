"""The JSON document: the API's names, one line for each finding, and a mark that it is complete."""

import json

import msgspec
import pytest

from portal.exports.as_json import write_json
from signed_api.answers import AnswerSummary
from signed_api.findings import DashboardResponse, Threat
from tests.portal.dashboards import make_note, make_threat
from tests.portal.exports.selections import make_selection


def document(selection):
    return json.loads("".join(write_json(selection)))


def test_the_document_names_its_list_and_is_complete():
    selection = make_selection([make_threat(1)], [make_threat(2)])
    parsed = document(selection)
    assert list(parsed) == [
        "host", "link", "dashboard", "summary", "coverage", "analyst_notes", "threats", "complete",
    ]  # fmt: skip
    assert parsed["host"] == "shop.example.com"
    assert parsed["link"] == selection.list_url
    assert parsed["dashboard"] == {
        "generated_at": "2026-11-20T09:30:00Z", "grade": "D", "grade_provisional": False,
        "filters": {"severity": "High"}, "total": 2,
    }  # fmt: skip
    assert parsed["coverage"][0]["state"] == "ok"
    assert [threat["id"] for threat in parsed["threats"]] == ["1", "2"]
    assert parsed["complete"] is True


def test_a_finding_has_the_members_of_the_api_and_its_address():
    answer = AnswerSummary(answer="will_fix", assignee="user-7")
    threat = make_threat(1, cve=["CVE-2024-1"], evidence="\r\n\u2028", answer=answer)
    (parsed,) = document(make_selection([threat]))["threats"]
    assert list(parsed) == [*Threat.__struct_fields__, "link", "assignee"]
    assert parsed["assignee"] == "grace"
    assert parsed["answer"] == {"answer": "will_fix", "due": None, "until": None, "assignee": "user-7"}
    assert parsed["evidence"] == "\r\n\u2028"
    assert parsed["first_seen"] == "2026-11-01T08:00:00Z"
    assert parsed["link"].endswith("/findings/1/")


def test_the_portal_can_read_the_document():
    first = make_selection([make_threat(1)]).first
    first = msgspec.structs.replace(first, analyst_notes=[make_note()])
    parsed = document(make_selection([make_threat(1)], first=first))
    whole = json.loads(msgspec.json.encode(first))
    whole = whole | parsed | {"dashboard": whole["dashboard"]}
    again = msgspec.convert(whole, DashboardResponse)
    assert (again.threats, again.summary, again.analyst_notes) == (
        first.threats,
        first.summary,
        first.analyst_notes,
    )


def test_every_finding_has_a_line_and_there_are_two_more():
    pages = [[make_threat(1), make_threat(2, evidence="a\r\nb")], [make_threat(3)]]
    assert "".join(write_json(make_selection(*pages))).count("\n") == 5
    assert "".join(write_json(make_selection([]))).count("\n") == 2


def test_a_part_of_it_is_no_document():
    chunks = list(write_json(make_selection([make_threat(1)], [make_threat(2)])))
    for end in range(1, len(chunks)):
        with pytest.raises(json.JSONDecodeError):
            json.loads("".join(chunks[:end]))


def test_no_findings_are_an_empty_list():
    assert document(make_selection([]))["threats"] == []
