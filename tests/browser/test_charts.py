"""The charts of a website: their numbers by mouse, by keyboard and as a table."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from dashboard_api.models import OpenCount, Website
from tests.browser.steps import PATH, expect_same_place, facet

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
NONE = dict.fromkeys(
    ("medium", "low", "info", "suspected_critical", "suspected_high", "suspected_medium", "suspected_low"), 0
)


@pytest.fixture
def charts(dashboard):
    """The dashboard of a website whose open findings are known for five weeks."""
    website = Website.objects.get(host="shop.example.com")
    today = datetime.now(UTC).date()
    for weeks, high in ((4, 9), (2, 5)):
        OpenCount.objects.create(
            website_id=website.pk, day=today - timedelta(weeks=weeks), critical=1, high=high, **NONE
        )
    website.findings.first().save()  # a new data version, so that no cached response is shown
    dashboard.reload()
    return dashboard


def legend(page):
    return page.locator("#chart-open .legend")


def test_the_arrow_keys_and_the_pointer_choose_a_week(charts):
    slider = charts.get_by_role("slider", name="Week: Open, week by week")
    expect(legend(charts)).to_contain_text("High 12")
    slider.focus()
    for _ in range(4):
        slider.press("ArrowLeft")
    expect(legend(charts)).to_contain_text("Critical 1 High 9 Medium 0")
    assert "Critical 1, High 9, Medium 0" in slider.evaluate("it => it.ariaValueText")
    expect(charts.locator("#chart-open .chosen")).to_have_attribute("x1", "0%")
    slider.hover(position={"x": slider.bounding_box()["width"] / 2, "y": 60})
    expect(legend(charts)).to_contain_text("Critical 1 High 5 Medium 0")


@pytest.mark.parametrize("width", [320, 1280])
def test_the_numbers_of_one_chart_do_not_resize_the_others(charts, width):
    charts.set_viewport_size({"width": width, "height": 800})
    cards = charts.locator(".chart > .card")
    before = [card.bounding_box()["height"] for card in cards.all()]
    charts.get_by_text("Numbers").first.click()
    expect(charts.get_by_role("table", name="Open, week by week")).to_be_visible()
    assert [card.bounding_box()["height"] for card in cards.all()] == before


def test_charts_leave_with_a_filter_and_come_back(charts):
    expect(charts.get_by_role("figure")).to_have_count(3)
    link = facet(charts, "High 12")
    link.scroll_into_view_if_needed()
    before = link.bounding_box()["y"]
    link.click()
    expect(charts).to_have_url(f"{PATH}?severity=High")
    expect(charts.get_by_role("figure")).to_have_count(0)
    expect_same_place(facet(charts, "High 12"), before)
    facet(charts, "High 12").click()
    expect(charts.get_by_role("figure")).to_have_count(3)
