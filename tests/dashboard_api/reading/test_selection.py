"""The findings that a call about many of them chooses."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.contract.requests import read_request
from dashboard_api.errors import InvalidRequest, SelectionChanged, UnknownFinding
from dashboard_api.reading.selection import Selection, check_unchanged, chosen_ids
from signed_api.answering import ANSWER
from tests.dashboard_api import calls
from tests.dashboard_api.answers.acting import NOW, act
from tests.factories import make_account, make_finding, make_link, make_website

ids = st.sets(st.integers(1, 10**15), min_size=1, max_size=20)


def choose(link, **fields):
    request = read_request(ANSWER, calls.fields_for(link, act="fixed", **fields))
    return chosen_ids(calls.account_site(link), request, NOW)


@given(ids, ids)
def test_a_selection_is_unchanged_for_the_same_findings_only(before, after):
    selection = str(Selection.of(sorted(before)))
    assert len(selection) <= 100
    if before == after:
        check_unchanged(selection, after)
        return
    with pytest.raises(SelectionChanged) as changed:
        check_unchanged(selection, after)
    assert changed.value.details["total"] == len(after)


def test_without_a_selection_nothing_is_compared():
    check_unchanged("", [1, 2])


@given(st.text(max_size=100))
def test_any_other_text_is_a_selection_that_changed(text):
    if text:
        with pytest.raises(SelectionChanged):
            check_unchanged(text, [1, 2])


@pytest.mark.django_db
def test_listed_findings_are_chosen_once_and_in_order():
    link = make_link()
    first, second = (make_finding(link.website).pk for _ in range(2))
    assert choose(link, finding_ids=f"{second},{first},{second}") == [first, second]
    elsewhere = make_finding(make_website("other.example.com")).pk
    for unknown in (elsewhere, 10**17):
        with pytest.raises(UnknownFinding):
            choose(link, finding_ids=f"{first},{unknown}")


@pytest.mark.django_db
def test_filters_choose_what_the_list_of_open_findings_shows():
    link = make_link(make_account(high_days=2))
    old = NOW - timedelta(days=40)
    findings = [
        make_finding(link.website, severity=number % 5, first_seen=old, title=f"Title {number % 3}")
        for number in range(15)
    ]
    make_finding(link.website, status="accepted_risk", severity=3, first_seen=old)
    act(link, "will_fix", findings[3], assignee="user-9")
    act(link, "accepted", findings[8])
    for filters in (
        {"severity": "High"},
        {"severity": "High", "answer": "none"},
        {"answer": "accepted,will_fix"},
        {"assignee": "user-9"},
        {"due": "overdue"},
        {"query": "title 1", "severity": "Low,Medium"},
        {"source": "nuclei"},
        {"hosts": link.website.host},
    ):
        shown = calls.answer(link, now=NOW, page_size=100, **filters).threats
        assert choose(link, filters=filters) == sorted(int(threat.id) for threat in shown), filters
    with pytest.raises(InvalidRequest):
        choose(link, filters={"assignee": "user-8"})
