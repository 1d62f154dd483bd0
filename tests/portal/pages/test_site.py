import pytest

from portal.forms import Address, Filters
from portal.pages import results_of
from portal.pages.site import count_text
from tests.portal.dashboards import make_clean_dashboard, make_dashboard, make_page, make_summary

HERE = Address(path="/sites/shop.example.com/")


def counted(total, everything, *, is_narrowed=True, **page):
    dashboard = make_dashboard(
        dashboard=make_page(total=total, **page), summary=make_summary(open=everything)
    )
    return count_text(dashboard, is_narrowed=is_narrowed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (counted(26, 137), "26 of 137 findings"),
        (counted(1, 1), "1 of 1 finding"),
        (counted(137, 137, is_narrowed=False), "137 findings"),
        (counted(1, 1, is_narrowed=False), "1 finding"),
        (counted(10000, 20500, total_relation="at_least"), "10,000 or more of 20,500 findings"),
    ],
)
def test_the_count_is_told_in_words(text, expected):
    assert text == expected


def test_list_facets_and_charts_come_from_one_answer():
    results = results_of(make_dashboard(), HERE)
    assert len(results.findings) == 2
    assert sum(option.count for option in results.facets[0].options) == 2
    assert sum(row.total for row in results.drawings[0].rows) == 2


def test_a_website_without_findings_offers_nothing_to_filter_by():
    assert results_of(make_clean_dashboard(), HERE).facets == ()
    at = Address(path="/s/", filters=Filters(severity="High"))
    assert results_of(make_clean_dashboard(), at).facets
