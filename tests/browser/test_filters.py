"""Narrowing the list: by facets, and back."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PATH, chip, facet, findings, status

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_facet_filters_the_list_counts_without_itself_and_is_taken_back(dashboard):
    facet(dashboard, "High 12").click()
    expect(dashboard).to_have_url(f"{PATH}?severity=High")
    expect(findings(dashboard)).to_have_count(12)
    expect(dashboard.get_by_text("12 of 45 findings").first).to_be_visible()
    expect(status(dashboard)).to_have_text("12 of 45 findings")
    expect(chip(dashboard, "Severity: High")).to_be_visible()
    expect(facet(dashboard, "High 12")).to_have_attribute("aria-current", "true")
    expect(facet(dashboard, "High 12")).to_be_focused()
    expect(facet(dashboard, "Medium 20")).to_be_enabled()
    expect(facet(dashboard, "Suspected 12")).to_be_enabled()
    for nothing in ("Info 0", "Confirmed 0"):
        expect(facet(dashboard, nothing)).to_be_disabled()
    facet(dashboard, "High 12").click()
    expect(dashboard).to_have_url(PATH)
    expect(status(dashboard)).to_have_text("45 findings")


def test_filters_add_up_and_each_is_removed_by_its_chip(dashboard):
    facet(dashboard, "Confirmed 33").click()
    expect(chip(dashboard, "Confidence: Confirmed")).to_be_visible()
    facet(dashboard, "Low 12").click()
    expect(dashboard).to_have_url(f"{PATH}?severity=Low&kind=confirmed")
    expect(findings(dashboard)).to_have_count(12)
    chip(dashboard, "Severity: Low").click()
    expect(dashboard).to_have_url(f"{PATH}?kind=confirmed")
    expect(status(dashboard)).to_have_text("33 of 45 findings")
    expect(chip(dashboard, "Severity: Low")).to_have_count(0)
    expect(dashboard.locator("#results")).to_be_focused()


def test_an_address_begins_with_its_filters_without_what_is_invalid_and_each_way_out_of_them_works(dashboard):
    dashboard.goto(f"{PATH}?severity=Terrible&page=-1&page_size=7&nonsense=1")
    expect(findings(dashboard)).to_have_count(20)
    expect(dashboard.get_by_role("link", name="Clear all")).to_have_count(0)
    dashboard.goto(f"{PATH}?page=3")
    expect(findings(dashboard)).to_have_count(5)
    facet(dashboard, "Confirmed 33").click()
    expect(dashboard).to_have_url(f"{PATH}?kind=confirmed")
    expect(findings(dashboard)).to_have_count(20)
    dashboard.goto(f"{PATH}?severity=Critical&query=cookie")
    expect(dashboard.get_by_role("heading", name="Nothing matches these filters")).to_be_visible()
    expect(chip(dashboard, "Severity: Critical")).to_be_visible()
    chip(dashboard, "Search: “cookie”").click()
    expect(findings(dashboard)).to_have_count(1)
    expect(dashboard.get_by_role("searchbox")).to_have_value("")
    dashboard.goto(f"{PATH}?severity=High&source=zap&query=form&page_size=50")
    expect(findings(dashboard)).to_have_count(12)
    dashboard.get_by_role("link", name="Clear all").click()
    expect(dashboard).to_have_url(f"{PATH}?page_size=50")
    expect(findings(dashboard)).to_have_count(45)
    expect(dashboard.get_by_role("searchbox")).to_have_value("")
