from datetime import date, datetime

import pytest

from portal.forms import Filters
from portal.gateway.messages import Chart, Series
from portal.page_urls import Address
from portal.view_models.charts import chart_views
from tests.portal.dashboards import NOW, make_charts, make_facets, make_page

PATH = "/sites/shop.example.com/"
TODAY = NOW.date()


def views_by_id(*charts, today=TODAY, page=(), **filters):
    address = Address(path=PATH, filters=Filters(**filters))
    generated_at = datetime.combine(today, NOW.timetz())
    views = chart_views(charts or make_charts(), make_page(generated_at=generated_at, **dict(page)), address)
    return {drawing.id: drawing for drawing in views}


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
    assert views_by_id()["severity"].title == "By severity"
    assert views_by_id(make_chart(id="country", title="By country"))["country"].title == "By country"


def test_bars_of_the_worst_alone_say_so_but_not_the_history():
    cut = views_by_id(page={"total": 200, "total_relation": "at_least"})
    remarks = {name: drawing.remark for name, drawing in cut.items()}
    assert remarks == {
        "severity": "Counted in the 200 worst matches.",
        "source": "Counted in the 200 worst matches.",
        "trend": "",
    }
    assert {drawing.remark for drawing in views_by_id().values()} == {""}


def test_a_segment_filters_and_the_active_one_stops_filtering():
    rows = {row.label: row for row in views_by_id()["severity"].rows}
    assert rows["High"].url == PATH + "?severity=High"
    active = {row.label: row for row in views_by_id(severity="High", kind="confirmed")["severity"].rows}
    assert (active["High"].is_active, active["High"].url) == (True, PATH + "?kind=confirmed")


FACETS = make_facets(
    severity={"Critical": 34, "High": 2, "Low": 0}, source={"nuclei": 2, "zap": 5, "wapiti": 0}
)


def test_a_chart_that_filters_counts_like_its_facet_and_dims_the_others():
    drawing = views_by_id(page={"facets": FACETS}, severity="High")["severity"]
    rows = {row.label: (row.total, row.is_active, row.is_dimmed) for row in drawing.rows}
    assert rows == {"Critical": (34, False, True), "High": (2, True, False), "Low": (0, False, True)}
    assert drawing.rows[0].url == PATH + "?severity=Critical"
    assert not any(row.is_dimmed for row in views_by_id(page={"facets": FACETS})["severity"].rows)


def test_the_other_charts_count_what_the_filters_leave():
    drawing = views_by_id(page={"facets": FACETS}, severity="High")["source"]
    assert [(row.label, row.total, row.is_dimmed) for row in drawing.rows] == [("Nuclei", 2, False)]


def test_an_active_source_stays_among_sources_with_findings():
    drawing = views_by_id(page={"facets": FACETS}, source="nuclei")["source"]
    assert [(row.label, row.total, row.is_dimmed) for row in drawing.rows] == [
        ("Nuclei", 2, False),
        ("ZAP", 5, True),
    ]
    assert [series.label for series in drawing.series] == ["Findings"]


def test_a_chart_with_a_bounded_facet_has_no_zeros():
    page = {"facets": FACETS, "bounded_facets": ["severity"], "total": 200, "total_relation": "at_least"}
    drawing = views_by_id(page=page, severity="High", query="sql")["severity"]
    assert [(row.label, row.total) for row in drawing.rows] == [("High", 2)]


@pytest.mark.parametrize(
    ("filters", "remark"),
    [
        ({}, ""),
        ({"severity": "High", "status": "fixed"}, ""),
        ({"query": "sql"}, "All findings; the search does not apply here."),
        (
            {"query": "sql", "severity": "High", "kind": "confirmed", "source": "nuclei"},
            "All findings (High, Confirmed, Nuclei); the search does not apply here.",
        ),
    ],
)
def test_the_trend_says_that_it_does_not_follow_the_words(filters, remark):
    assert views_by_id(**filters)["trend"].remark == remark


def test_a_segment_of_zero_leads_nowhere():
    assert {row.label: row.url for row in views_by_id()["severity"].rows}["Low"] == ""


def test_a_source_is_filtered_by_its_slug_though_named_by_its_name():
    (row,) = views_by_id()["source"].rows
    assert (row.label, row.url) == ("Nuclei", PATH + "?source=nuclei")


def test_severities_keep_their_colours():
    (bar,) = (bar for row, bar in views_by_id()["severity"].bars if row.label == "High")
    assert [segment.tone for segment in bar.segments] == ["high"]
    ((_row, stacked),) = views_by_id()["source"].bars
    assert [segment.tone for segment in stacked.segments] == ["high"]


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


def test_the_trend_does_not_filter():
    assert not any(row.url for row in views_by_id()["trend"].rows)


def test_an_empty_chart_is_left_out():
    assert views_by_id(make_chart(series=[Series("n", [0])])) == {}
    assert views_by_id(make_chart(labels=[], series=[])) == {}


@pytest.mark.parametrize("kind", ["bar", "stacked", "line"])
def test_missing_values_count_as_zero(kind):
    views = views_by_id(make_chart(type=kind, labels=["a", "b"], series=[Series("n", [1])]))["kind"]
    assert [row.amounts for row in views.rows] == [(1,), (0,)]
    page = {"bounded_facets": ["kind"]}
    views = views_by_id(make_chart(type=kind, labels=["a", "b"], series=[Series("n", [1])]), page=page)[
        "kind"
    ]
    assert [row.amounts for row in views.rows] == [(1,)]


def test_a_chart_of_an_unknown_type_has_bars():
    assert views_by_id(make_chart(type="radar"))["kind"].bar_chart


def test_a_long_label_is_cut_in_the_drawing_only():
    (row,) = views_by_id(make_chart(id="country", labels=["x" * 60]))["country"].rows
    assert (len(row.label), len(row.short_label)) == (60, 24)
