from datetime import date, datetime

import pytest

from portal.forms import Address, Filters
from portal.gateway.messages import Chart, Series
from portal.pages.drawings import drawings
from tests.portal.dashboards import NOW, make_charts, make_page

PATH = "/sites/shop.example.com/"
TODAY = NOW.date()


def draw(*charts, today=TODAY, page=(), **filters):
    address = Address(path=PATH, filters=Filters(**filters))
    made_at = datetime.combine(today, NOW.timetz())
    drawn = drawings(charts or make_charts(), make_page(generated_at=made_at, **dict(page)), address)
    return {drawing.id: drawing for drawing in drawn}


def make_chart(**fields):
    defaults = {
        "id": "kind",
        "title": "Ours",
        "type": "bar",
        "labels": ["Confirmed"],
        "series": [Series("n", [1])],
    }
    return Chart(**(defaults | fields))


def test_charts_use_the_portals_titles_and_fall_back_to_the_services():
    assert draw()["severity"].title == "By severity"
    assert draw(make_chart(id="country", title="By country"))["country"].title == "By country"


def test_bars_of_the_worst_alone_say_so_but_not_the_history():
    cut = draw(page={"total": 200, "total_relation": "at_least"})
    remarks = {name: drawing.remark for name, drawing in cut.items()}
    assert remarks == {"severity": "Of the worst 200.", "source": "Of the worst 200.", "trend": ""}
    assert {drawing.remark for drawing in draw().values()} == {""}


def test_a_segment_filters_and_the_active_one_stops_filtering():
    rows = {row.label: row for row in draw()["severity"].rows}
    assert rows["High"].url == PATH + "?severity=High"
    active = {row.label: row for row in draw(severity="High", kind="confirmed")["severity"].rows}
    assert (active["High"].is_active, active["High"].url) == (True, PATH + "?kind=confirmed")


def test_a_segment_of_zero_leads_nowhere():
    assert {row.label: row.url for row in draw()["severity"].rows}["Low"] == ""


def test_a_source_is_filtered_by_its_slug_though_named_by_its_name():
    (row,) = draw()["source"].rows
    assert (row.label, row.url) == ("Nuclei", PATH + "?source=nuclei")


def test_severities_keep_their_colours():
    (bar,) = (bar for row, bar in draw()["severity"].bars if row.label == "High")
    assert [segment.tone for segment in bar.segments] == ["high"]
    ((_row, stacked),) = draw()["source"].bars
    assert [segment.tone for segment in stacked.segments] == ["high"]


def test_the_table_has_the_numbers_of_the_drawing():
    trend = draw()["trend"]
    assert [series.label for series in trend.series] == ["New", "Fixed"]
    assert [(row.label, row.amounts) for row in trend.rows] == [
        ("2 Nov", (1, 0)),
        ("9 Nov", (0, 2)),
        ("16 Nov, so far", (1, 1)),
    ]
    assert [label for label, _tick in trend.ticks] == ["2 Nov", "9 Nov", "16 Nov, so far"]


@pytest.mark.parametrize(("today", "is_running"), [("2026-11-22", True), ("2026-11-23", False)])
def test_a_week_that_is_not_over_is_not_drawn_like_a_full_one(today, is_running):
    trend = draw(today=date.fromisoformat(today))["trend"]
    assert [row.is_running for row in trend.rows] == [False, False, is_running]
    assert [bool(stroke.tail) for stroke in trend.line_chart.strokes] == [is_running] * 2


def test_the_description_has_the_numbers_too():
    assert draw()["trend"].description == "New/Fixed: 2 Nov: 1/0; 9 Nov: 0/2; 16 Nov, so far: 1/1."


def test_the_trend_does_not_filter():
    assert not any(row.url for row in draw()["trend"].rows)


def test_a_chart_of_nothing_is_not_drawn():
    assert draw(make_chart(series=[Series("n", [0])])) == {}
    assert draw(make_chart(labels=[], series=[])) == {}


@pytest.mark.parametrize("kind", ["bar", "stacked", "line"])
def test_missing_values_count_as_zero(kind):
    drawn = draw(make_chart(type=kind, labels=["a", "b"], series=[Series("n", [1])]))["kind"]
    assert [row.amounts for row in drawn.rows] == [(1,), (0,)]


def test_a_type_the_portal_does_not_know_is_drawn_as_bars():
    assert draw(make_chart(type="radar"))["kind"].bar_chart


def test_a_long_label_is_cut_in_the_drawing_only():
    (row,) = draw(make_chart(id="country", labels=["x" * 60]))["country"].rows
    assert (len(row.label), len(row.short_label)) == (60, 24)
