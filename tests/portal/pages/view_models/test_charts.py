from datetime import date, datetime

import pytest

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.charts import chart_views
from signed_api.findings import Chart, Series
from tests.portal.dashboards import NOW, make_charts, make_page
from tests.structs import build

PATH = "/sites/shop.example.com/"
TODAY = NOW.date()


def views_by_id(*charts, today=TODAY, **filters):
    address = Address(path=PATH, filters=Filters(**filters))
    generated_at = datetime.combine(today, NOW.timetz())
    views = chart_views(charts or make_charts(), make_page(generated_at=generated_at), address)
    return {drawing.id: drawing for drawing in views}


def make_chart(**fields):
    defaults = {
        "id": "age",
        "title": "Ours",
        "type": "bar",
        "labels": ["Up to 7 days"],
        "series": [build(Series, "n", [1])],
    }
    return build(Chart, **(defaults | fields))


def test_the_page_has_three_charts_with_its_own_titles():
    views = views_by_id()
    assert {name: view.title for name, view in views.items()} == {
        "open": "Open, week by week",
        "trend": "New and fixed, week by week",
        "age": "Age of open findings",
    }
    assert views_by_id(make_chart(id="country")) == {}


@pytest.mark.parametrize(
    "filters", [{"severity": "High"}, {"query": "sql"}, {"status": "fixed"}, {"page": 2}]
)
def test_a_narrowed_list_and_later_pages_have_no_charts(filters):
    assert views_by_id(**filters) == {}
    assert len(views_by_id(sort="newest", view="problems", page_size=50)) == 3


def test_severities_keep_their_colours_and_fixed_is_green():
    assert {entry.label: entry.tone for entry in views_by_id()["open"].series} == {
        "Critical": "critical",
        "High": "high",
        "Medium": "medium",
        "Low": "low",
        "Info": "info",
    }
    assert [entry.tone for entry in views_by_id()["trend"].series] == ["new", "fixed"]


def test_open_findings_are_layers_and_the_legend_has_their_last_values():
    view = views_by_id()["open"]
    assert view.is_layered
    assert [stroke.tone for stroke in view.line_chart.strokes] == ["high"]
    assert [entry.last for entry in view.series] == [0, 2, 0, 0, 0]


def test_bars_are_ages_with_their_numbers():
    view = views_by_id(
        make_chart(labels=["Up to 7 days", "Very old"], series=[build(Series, "Findings", [1, 4])])
    )["age"]
    assert [(bar.label, bar.amount, bar.width) for bar in view.bars] == [
        ("Up to 7 days", 1, "25%"),
        ("Very old", 4, "100%"),
    ]
    assert [bar.url.partition("?")[2] for bar in view.bars] == ["since=0-7", ""]  # an unknown age has no list


def test_the_table_has_the_numbers_of_the_drawing():
    trend = views_by_id()["trend"]
    assert [series.label for series in trend.series] == ["New", "Fixed"]
    assert [(row.label, row.amounts) for row in trend.rows] == [
        ("2 Nov", (1, 0)),
        ("9 Nov", (0, 2)),
        ("16 Nov, so far", (1, 1)),
    ]
    assert [label for label, _tick in trend.ticks] == ["2 Nov", "9 Nov", "16 Nov, so far"]


@pytest.mark.parametrize(("today", "is_running"), [("2026-11-22", True), ("2026-11-23", False)])
def test_the_current_week_looks_different(today, is_running):
    trend = views_by_id(today=date.fromisoformat(today))["trend"]
    assert [row.is_running for row in trend.rows] == [False, False, is_running]
    assert [bool(stroke.tail) for stroke in trend.line_chart.strokes] == [is_running] * 2


def test_the_description_has_the_numbers_too():
    assert views_by_id()["trend"].description == "New/Fixed: 2 Nov: 1/0; 9 Nov: 0/2; 16 Nov, so far: 1/1."


def test_an_empty_chart_and_a_line_of_one_week_are_left_out():
    assert views_by_id(make_chart(series=[build(Series, "n", [0])])) == {}
    assert views_by_id(make_chart(labels=[], series=[])) == {}
    assert views_by_id(make_chart(id="open", labels=["2026-11-16"])) == {}


@pytest.mark.parametrize("name", ["open", "trend", "age"])
def test_missing_values_count_as_zero(name):
    view = views_by_id(make_chart(id=name, labels=["a", "9999-12-31"], series=[build(Series, "n", [1])]))[
        name
    ]
    assert [row.amounts for row in view.rows] == [(1,), (0,)]
    assert [row.label for row in view.rows] == ["a", "9999-12-31"]
