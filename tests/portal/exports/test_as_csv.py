"""The table for spreadsheets, which never has a formula."""

import csv
import io
from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.exports.as_csv import COLUMNS, write_csv
from portal.files.spreadsheets import BYTE_ORDER_MARK, without_formula
from signed_api.answers import AnswerSummary
from signed_api.findings import Threat
from tests.portal.dashboards import make_threat
from tests.portal.exports.selections import make_selection

anything = st.text(st.characters(exclude_categories=["Cs"]))
formulas = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", " ", "\t", "\r", "\n", "\ufeff", "\u200b"]),
        st.sampled_from("=+-@＝＋－＠"),
        anything,
    ),
)


def table(selected):
    """Return the rows of the file as dictionaries."""
    text = "".join(write_csv(selected))
    assert text.startswith(BYTE_ORDER_MARK)
    return list(csv.DictReader(io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="")))


def test_a_row_has_everything_that_the_list_knows_of_a_finding():
    threat = make_threat(
        7,
        cve=["CVE-2024-12345", "CVE-2024-2"],
        cwe=[79],
        references=["https://example.com/a", "https://example.com/b"],
        evidence="GET /",
        evidence_truncated=True,
        description="It is “bad”, and\nlong.",
        first_seen=datetime(2026, 11, 1, 9, 0, tzinfo=timezone(timedelta(hours=1))),
        problem="no-csp",
        topic="no-csp",
        verified=True,
        answer=AnswerSummary(answer="will_fix", due=date(2026, 12, 3), assignee="user-7"),
        due=date(2026, 12, 3),
    )
    (row,) = table(make_selection([threat]))
    assert row.keys() == {*Threat.__struct_fields__, "link", "accepted_until", "assignee"}
    assert row.items() >= {
        "severity": "High", "kind": "confirmed", "status": "open", "title": "Finding 7",
        "location": "https://shop.example.com/page/7", "locations_count": "1", "source": "nuclei",
        "source_name": "Nuclei", "rule": "http/missing-header", "cve": "CVE-2024-12345\nCVE-2024-2",
        "cwe": "CWE-79", "first_seen": "2026-11-01T08:00:00Z", "last_seen": "2026-11-19T22:15:00Z",
        "description": "It is “bad”, and\nlong.", "remediation": "", "evidence": "GET /",
        "evidence_truncated": "true", "references": "https://example.com/a\nhttps://example.com/b",
        "id": "7", "link": "https://portal.example.com/sites/shop.example.com/findings/7/",
        "problem": "no-csp", "topic": "no-csp", "verified": "true", "answer": "will_fix", "due": "2026-12-03",
        "accepted_until": "", "assignee": "grace",
    }.items()  # fmt: skip


def test_an_accepted_risk_has_its_end():
    threat = make_threat(answer=AnswerSummary(answer="accepted", until=date(2027, 3, 3)))
    (row,) = table(make_selection([threat]))
    assert (row["answer"], row["due"], row["accepted_until"], row["assignee"]) == (
        *("accepted", "", "2027-03-03", ""),
    )


def test_a_table_without_findings_has_its_head():
    assert "".join(
        write_csv(make_selection([]))
    ) == f"{BYTE_ORDER_MARK}{','.join(f'{it!r}' for it in COLUMNS)}\r\n".replace("'", '"')


def test_every_page_is_written_by_itself():
    pages = write_csv(make_selection([make_threat(1)], [make_threat(2), make_threat(3)]))
    assert [page.count("\r") for page in pages] == [1, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\tx",
        "\rx",
        "\nx",
        " =1",
        "＝1+1",
        "－1",
        "\ufeff=1",
        "\u200b@x",
        "=cmd|' /C calc'!A0",
    ],
)
def test_possible_formulas_are_text(text):
    assert without_formula(text) == f"'{text}"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("x;=A1", "x;'=A1"),
        (" \n", "' \n"),
        ("x; +1;-2", "x;' +1;'-2"),
        ("a\t@x", "a\t'@x"),
        ("a\n=1\n\nb;c", "a\n'=1\n\nb;c"),
        ('x;"=A1"', 'x;\'"=A1"'),
    ],
)
def test_a_part_that_becomes_a_cell_with_another_separator_is_text(text, safe):
    assert without_formula(text) == safe


@pytest.mark.parametrize(
    "text", ["", "x", "'=1", "1-1", "a;b", "a\n\nb", "https://shop.example.com/?a=1", "(=1)", "Ünï"]
)
def test_other_text_is_unchanged(text):
    assert without_formula(text) == text


@given(st.one_of(anything, formulas), st.one_of(anything, formulas))
def test_no_cell_begins_as_a_formula(one, other):
    threat = make_threat(
        title=one, location=other, description=one, evidence=other, rule=one, remediation=other,
        references=[one, other], cve=[other], source=one, source_name=other, severity=one, kind=other,
    )  # fmt: skip
    (row,) = table(make_selection([threat], finding_url=lambda _: one))
    assert set(row) == set(COLUMNS)
    for cell in row.values():
        assert not cell.lstrip(" \ufeff\u200b\x00").startswith(
            ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
        )


@given(anything)
def test_no_text_ends_a_line_of_the_file(text):
    threat = make_threat(title=text, evidence=f"{text}\r\n{text}\r{text}", references=[text, "\r"])
    assert "".join(write_csv(make_selection([threat]))).count("\r") == 2
