import pytest

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models import build_results
from portal.pages.view_models.site import count_text
from tests.portal.dashboards import (
    make_clean_dashboard,
    make_coverage,
    make_dashboard,
    make_page,
    make_summary,
)

HERE = Address(path="/sites/shop.example.com/")


HIGH = Filters(severity="High")


def counted(total, everything, *, filters=HIGH, **page):
    dashboard = make_dashboard(
        dashboard=make_page(total=total, **page), summary=make_summary(open=everything)
    )
    return count_text(dashboard, filters)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (counted(26, 137), "26 of 137 findings"),
        (counted(1, 1), "1 of 1 finding"),
        (counted(137, 137, filters=Filters()), "137 findings"),
        (counted(1, 1, filters=Filters()), "1 finding"),
        (counted(12, 3, filters=Filters(status="fixed", severity="High")), "12 findings"),
    ],
)
def test_the_count_has_a_text(text, expected):
    assert text == expected


def test_list_facets_and_charts_come_from_one_response():
    results = build_results(make_dashboard(), HERE)
    assert len(results.findings) == 2
    assert sum(option.count for option in results.facets[0].options) == 2
    assert [chart.id for chart in results.charts] == ["open", "trend", "age"]
    assert sum(entry.last for entry in results.charts[0].series) == 2


def offered(dashboard, **filters):
    at = Address(path="/s/", filters=Filters(**filters))
    return [facet.name for facet in build_results(dashboard, at).facets]


def test_only_useful_filters_are_shown():
    unchecked = make_clean_dashboard(
        dashboard=make_page(total=0, grade=None), coverage=[make_coverage("never")]
    )
    assert offered(make_dashboard()) == ["severity", "kind", "source", "since", "status"]
    assert offered(make_dashboard(), query="x") == ["severity", "kind", "source", "since", "status"]
    assert offered(make_clean_dashboard()) == ["status"]  # something may have been fixed
    filtered = offered(make_clean_dashboard(), severity="High")
    assert filtered == ["severity", "kind", "source", "since", "status"]
    assert offered(unchecked) == []
