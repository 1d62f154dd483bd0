from datetime import date, timedelta

import pytest

from portal.gateway.messages import HistoryDay, NextGrade
from portal.page_urls import Address
from portal.view_models.score import score
from tests.portal.dashboards import NOW, make_dashboard, make_page, make_summary

TODAY = NOW.date()
PATH = "/sites/shop.example.com/"
AMONG = "among the Critical and High findings"


def day(days_ago, grade, points):
    return HistoryDay(TODAY - timedelta(days=days_ago), grade, points, 3)


def score_of(*history, grade="F", **fields):
    summary = make_summary(**({"score": 19.9, "history": list(history)} | fields))
    return score(make_dashboard(dashboard=make_page(grade=grade), summary=summary), Address(path=PATH))


def test_a_score_is_rounded_down_so_that_it_never_promises_too_much():
    assert score_of().value == 19


def test_without_a_grade_there_is_no_score():
    assert score_of(score=None, grade=None) is None


@pytest.mark.parametrize(
    ("history", "earlier"),
    [
        ([], ""),
        ([day(5, "F", 19.9)], ""),
        ([day(50, "A", 100), day(40, "D", 30), day(17, "F", 10), day(2, "F", 19.9)], "Grade D until 2 Nov"),
        ([day(60, "F", 9), day(40, "D", 30), day(1, "F", 19.9)], "Grade D until 18 Nov"),
    ],
)
def test_the_last_other_grade_has_its_last_day(history, earlier):
    assert score_of(*history).earlier == earlier


@pytest.mark.parametrize(
    ("next_grade", "text"),
    [
        (None, ""),
        (NextGrade("D", 1), "1 fix away from grade D"),
        (NextGrade("C", 22), "22 fixes away from grade C"),
    ],
)
def test_the_work_until_the_next_grade_is_named(next_grade, text):
    assert score_of(next_grade=next_grade).next_step == text


@pytest.mark.parametrize(
    ("grade", "counts", "fixes", "query", "remark"),
    [
        ("F", {"Critical": 34}, 22, "severity=Critical&kind=confirmed%2Cinformational", ""),
        ("D", {"High": 9}, 7, "severity=High&kind=confirmed%2Cinformational", ""),
        ("D", {"Critical": 3, "High": 9}, 12, "severity=Critical%2CHigh", ""),
        ("D", {"Critical": 3, "High": 9}, 8, "severity=Critical%2CHigh", AMONG),
        ("B", {"Medium": 1, "Low": 2}, 3, "severity=Medium%2CLow", ""),
    ],
)
def test_the_fixes_lead_to_their_findings_or_to_the_nearest_list(grade, counts, fixes, query, remark):
    """Suspected findings count as those of the next milder severity."""
    found = score_of(grade=grade, by_severity=counts, next_grade=NextGrade("C", fixes))
    assert (found.next_url, found.next_remark) == (f"{PATH}?{query}", remark)


def test_a_line_needs_two_days_and_lasts_until_today():
    assert score_of(day(9, "F", 19.9)).line is None
    drawn = score_of(day(80, "A", 100), day(40, "F", 20), day(0, "F", 19.9))
    assert drawn.line.points == "0,0 50,0 50,80 100,80 100,80.1 100,80.1"
    assert drawn.line_text == "1 Sep: 100; 11 Oct: 20; 20 Nov: 19"


def test_days_outside_the_period_are_left_out():
    drawn = score_of(
        HistoryDay(date(1, 1, 1), "A", 100, 0), day(-3, "A", 100), day(30, "D", 40), day(0, "F", 19.9)
    )
    assert drawn.line_text == "21 Oct: 40; 20 Nov: 19"
