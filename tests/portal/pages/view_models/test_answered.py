"""Answers in the lists, as a reader sees them."""

from dataclasses import replace
from datetime import date

import pytest
from django.utils.translation import override

from portal.pages.forms import NOT_ACCEPTED, Filters
from portal.pages.urls import Address
from portal.pages.view_models import build_results
from portal.pages.view_models.answered import answer_badge, counted_answers
from portal.pages.view_models.filters import chips
from portal.pages.view_models.problems import problem_rows
from portal.pages.view_models.reader import VISITOR, Reader
from signed_api.answers import AnswerSummary, FixTime
from tests.portal.dashboards import (
    make_dashboard,
    make_facets,
    make_page,
    make_problem,
    make_summary,
    make_threat,
)

PATH = "/sites/shop.example.com/"
TODAY = date(2026, 11, 20)
ADA = Reader(names={"user-1": "ada", "user-2": "grace"}, me="user-1")
ANSWER_FACETS = {
    "answer": {"none": 3, "will_fix": 2, "accepted": 1, "waiting": 0, "disputed": 0, "fixed": 0},
    "due": {"overdue": 1, "this_week": 1, "later": 0, "none": 4},
    "assignee": {"none": 4, "user-2": 1, "user-1": 1},
}
ANSWERED = make_summary(answers={"none": 3, "will_fix": 2, "accepted": 1}, overdue=1, due_this_week=1)


def at(**filters):
    return Address(path=PATH, filters=Filters(**filters))


def results(address=None, *, reader=ADA, may_answer=True, summary=ANSWERED, total=2, **fields):
    page = make_page(facets=make_facets(**ANSWER_FACETS), total=total)
    dashboard = make_dashboard(**{"dashboard": page, "summary": summary} | fields)
    return build_results(dashboard, address or at(), reader=reader, may_answer=may_answer)


def facet_of(name, shown):
    (facet,) = (facet for facet in shown.facets if facet.name == name)
    return [(option.label, option.count, option.is_active) for option in facet.options]


def will_fix(due, assignee="", **fields):
    return make_threat(answer=AnswerSummary(answer="will_fix", due=due, assignee=assignee), due=due, **fields)


@pytest.mark.parametrize(
    ("threat", "text", "is_overdue"),
    [
        (make_threat(), "", False),
        (make_threat(due=date(2026, 11, 30)), "Due by 30 Nov 2026", False),
        (make_threat(due=date(2026, 11, 19)), "Overdue since 19 Nov 2026", True),
        (will_fix(TODAY, "user-2"), "Will be fixed · Due by 20 Nov 2026 · grace", False),
        (will_fix(date(2026, 11, 1), "user-1"), "Will be fixed · Overdue since 1 Nov 2026 · Me", True),
        (will_fix(date(2026, 12, 1), "user-9"), "Will be fixed · Due by 1 Dec 2026 · A former member", False),
        (make_threat(answer=AnswerSummary(answer="disputed")), "Disputed", False),
        (
            make_threat(answer=AnswerSummary(answer="accepted", until=date(2027, 3, 3))),
            "Risk accepted · until 3 Mar 2027",
            False,
        ),
    ],
)
def test_a_row_says_the_answer_its_day_and_who_fixes_it(threat, text, is_overdue):
    badge = answer_badge(threat, ADA, TODAY)
    assert str(badge or "") == text
    assert bool(badge and badge.is_overdue) is is_overdue


def test_a_visitor_reads_no_name():
    assert answer_badge(will_fix(TODAY, "user-2"), VISITOR, TODAY).assignee == "A member"


def test_a_problem_counts_its_answers_in_words():
    assert counted_answers({"accepted": 74, "disputed": 3, "waiting": 1}) == (
        "74 accepted · 3 disputed · 1 waits for a second person"
    )
    assert counted_answers({"none": 5, "accepted": 0}) == ""
    with override("de"):
        assert counted_answers({"accepted": 1, "will_fix": 2}) == "1 akzeptiert · 2 werden behoben"


def test_the_readers_own_findings_come_first_among_the_assignees():
    assert facet_of("assignee", results()) == [
        ("Me", 1, False),
        ("grace", 1, False),
        ("Unassigned", 4, False),
    ]
    assert facet_of("due", results(at(due="overdue")))[0] == ("Overdue", 1, True)
    assert ("Risk accepted", 1, False) in facet_of("answer", results())


@pytest.mark.parametrize("chosen", ["me", "user-1", "user-1,me"])
def test_me_and_the_own_reference_are_one_value(chosen):
    shown = results(at(assignee=chosen))
    assert facet_of("assignee", shown)[0] == ("Me", 1, True)
    (facet,) = (facet for facet in shown.facets if facet.name == "assignee")
    assert facet.options[0].url == PATH
    assert facet.options[1].url == f"{PATH}?assignee=me%2Cuser-2"


def test_an_account_that_never_answered_sees_no_filter_for_it():
    quiet = make_page(facets=make_facets(answer={"none": 2}, due={"none": 2}, assignee={"none": 2}))
    shown = results(dashboard=quiet, summary=make_summary(answers={"none": 2}))
    assert {"answer", "due", "assignee"}.isdisjoint(facet.name for facet in shown.facets)
    assert shown.shortcuts == ()


def test_nobody_assigned_is_no_filter():
    facets = make_facets(**ANSWER_FACETS | {"assignee": {"none": 6}})
    shown = results(dashboard=make_page(facets=facets))
    assert "assignee" not in {facet.name for facet in shown.facets}


def shortcuts(**filters):
    return {each.key.removeprefix("shortcut-"): each for each in results(at(**filters)).shortcuts}


def test_one_click_shows_what_is_overdue_what_is_mine_or_hides_accepted_risks():
    found = shortcuts(severity="High")
    assert (found["overdue"].count, found["overdue"].url) == (1, f"{PATH}?severity=High&due=overdue")
    assert (found["mine"].count, found["mine"].url) == (1, f"{PATH}?severity=High&assignee=me")
    assert found["accepted"].url.endswith("answer=none%2Cwill_fix%2Cwaiting%2Cdisputed%2Cfixed")
    assert not any(each.is_active for each in found.values())


def test_another_click_takes_a_shortcut_back():
    found = shortcuts(due="overdue", assignee="me", answer=NOT_ACCEPTED)
    assert all(each.is_active for each in found.values())
    assert found["accepted"].url == f"{PATH}?due=overdue&assignee=me"
    assert "assignee" not in found["mine"].url
    assert "due" not in found["overdue"].url


def test_a_shortcut_without_findings_leads_nowhere():
    facets = make_facets(**ANSWER_FACETS | {"due": {"overdue": 0, "none": 6}})
    overdue, *_ = results(dashboard=make_page(facets=facets)).shortcuts
    assert (overdue.count, overdue.url) == (0, "")


def test_chips_name_people_and_one_chip_hides_accepted_risks():
    shown = chips(make_facets(), at(assignee="me,user-2,user-9,none", due="overdue"), reader=ADA)
    assert [(chip.title, chip.value) for chip in shown] == [
        ("Due", "Overdue"),
        ("Assigned to", "Me"),
        ("Assigned to", "grace"),
        ("Assigned to", "A former member"),
        ("Assigned to", "Unassigned"),
    ]
    (chip,) = chips(make_facets(), at(answer=NOT_ACCEPTED), reader=ADA)
    assert (chip.title, chip.value, chip.url) == ("Answer", "all but accepted risks", PATH)


def test_only_open_findings_can_be_chosen_and_only_by_people_who_may_answer():
    threats = [make_threat(1), make_threat(2, status="fixed")]
    assert [row.id for row in results(threats=threats).findings] == ["1", ""]
    assert [row.id for row in results(threats=threats, may_answer=False).findings] == ["", ""]
    assert results(may_answer=False).bulk is None
    assert results(at(status="fixed"), threats=threats[1:]).bulk is None


@pytest.mark.parametrize(
    ("filters", "total", "url"),
    [
        ({"severity": "High", "page": 2, "page_size": 50}, 74, f"{PATH}answer/?severity=High"),
        ({"assignee": "me"}, 74, f"{PATH}answer/?assignee=user-1"),
        ({}, 74, ""),  # the service answers no whole website
        ({"severity": "High"}, 1, ""),
        ({"severity": "High"}, 5_001, ""),
        ({"severity": "High", "status": "all"}, 74, ""),
    ],
)
def test_all_that_match_can_be_answered_under_filters(filters, total, url):
    bulk = results(at(**filters), total=total).bulk
    assert (bulk.url, bulk.all_url) == (f"{PATH}answer/", url)
    assert bulk.all_text.startswith("Answer")


def test_a_problem_is_answered_under_the_filters_of_its_list():
    (row,) = problem_rows(
        [make_problem(7, answers={"accepted": 2})],
        make_dashboard(),
        at(kind="confirmed", view="problems"),
        answering=ADA,
    )
    assert row.answer_url == f"{PATH}answer/?kind=confirmed&problem={7:016x}"
    assert row.answers == "2 accepted"
    here = at(view="problems")
    (row,) = problem_rows([make_problem(7)], make_dashboard(), here)
    assert row.answer_url == ""
    (row,) = problem_rows([make_problem(7)], make_dashboard(), replace(here, filters=Filters(status="fixed")),
                          answering=ADA)  # fmt: skip
    assert row.answer_url == ""


def test_the_overview_counts_answers_and_days_with_links():
    shown = results(at(severity="High")).overview
    assert [(each.text, each.url) for each in shown.answers] == [
        ("2 will be fixed", f"{PATH}?answer=will_fix"),
        ("1 accepted", f"{PATH}?answer=accepted"),
        ("1 overdue", f"{PATH}?due=overdue"),
        ("1 due this week", f"{PATH}?due=this_week"),
    ]
    assert [each.is_overdue for each in shown.answers] == [False, False, True, False]


def test_the_overview_has_the_median_days_to_fix_with_the_number_of_fixes():
    times = [
        FixTime(severity="Critical", median_days=1, findings=3),
        FixTime(severity="Low", median_days=40, findings=1200),
    ]
    shown = results(summary=make_summary(fix_times=times)).overview
    assert shown.fix_times == ("Critical: 1 day (3 fixed)", "Low: 40 days (1,200 fixed)")
