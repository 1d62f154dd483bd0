from datetime import date, timedelta

import pytest

from portal.pages.urls import Address
from portal.pages.view_models.trend import trend
from signed_api.findings import HistoryDay, NextGrade
from tests.portal.dashboards import NOW, make_dashboard, make_page, make_summary
from tests.structs import build

TODAY = NOW.date()
PATH = "/sites/shop.example.com/"
AMONG = "among the Critical and High findings"


def day(days_ago, grade, fixes=0, found=3):
    return build(HistoryDay, TODAY - timedelta(days=days_ago), grade, found, fixes)


def trend_of(*history, grade="F", **fields):
    summary = make_summary(history=list(history), **fields)
    return trend(make_dashboard(dashboard=make_page(grade=grade), summary=summary), Address(path=PATH))


def test_without_a_grade_there_is_no_trend():
    assert trend_of(grade=None) is None


@pytest.mark.parametrize(
    ("history", "earlier"),
    [
        ([], ""),
        ([day(5, "F")], ""),
        ([day(50, "A"), day(40, "D"), day(17, "F"), day(2, "F")], "Grade D until 2 Nov"),
        ([day(60, "F"), day(40, "D"), day(1, "F")], "Grade D until 18 Nov"),
    ],
)
def test_the_last_other_grade_has_its_last_day(history, earlier):
    assert trend_of(*history).earlier == earlier


@pytest.mark.parametrize(
    ("next_grade", "text"),
    [
        (None, ""),
        (build(NextGrade, "D", 1), "1 fix away from grade D"),
        (build(NextGrade, "C", 22), "22 fixes away from grade C"),
    ],
)
def test_the_work_until_the_next_grade_is_named(next_grade, text):
    assert trend_of(next_grade=next_grade).next_step == text


@pytest.mark.parametrize(
    ("history", "text"),
    [
        ([day(40, "F", 34), day(17, "F", 40), day(2, "F", 31)], " (40 on 3 Nov)"),
        ([day(40, "F", 34), day(17, "D", 40), day(9, "F", 33), day(2, "F", 31)], " (33 on 11 Nov)"),
        ([day(40, "F", 34), day(17, "D", 40), day(2, "F", 31)], ""),
        ([day(40, "F", 12), day(2, "F", 31)], ""),
    ],
)
def test_the_most_fixes_since_the_grade_is_the_same_show_progress(history, text):
    assert (
        trend_of(*history, next_grade=build(NextGrade, "D", 31)).next_step
        == f"31 fixes away from grade D{text}"
    )


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
    found = trend_of(grade=grade, by_severity=counts, next_grade=build(NextGrade, "C", fixes))
    assert (found.next_url, found.next_remark) == (f"{PATH}?{query}", remark)


def test_a_line_needs_two_days_and_lasts_until_today():
    assert trend_of(day(9, "F")).line is None
    drawn = trend_of(day(80, "A", found=0), day(40, "F", found=20), day(0, "F", found=15))
    assert drawn.line.points == "0,100 50,100 50,0 100,0 100,25 100,25"
    assert drawn.line_text == "1 Sep: 0 (A); 11 Oct: 20 (F); 20 Nov: 15 (F)"


def test_a_website_that_never_had_a_finding_has_a_line_at_the_bottom():
    assert (
        trend_of(day(9, "A", found=0), day(0, "A", found=0), grade="A").line.points
        == "0,100 100,100 100,100 100,100"
    )


def test_days_outside_the_period_are_left_out():
    drawn = trend_of(
        build(HistoryDay, date(1, 1, 1), "A", 0, 0), day(-3, "A"), day(30, "D", found=4), day(0, "F")
    )
    assert drawn.line_text == "21 Oct: 4 (D); 20 Nov: 3 (F)"
