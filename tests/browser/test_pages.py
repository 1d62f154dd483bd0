"""Pages and page sizes."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PATH, findings, pages, status

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_page_links_go_through_the_list_each_from_its_top_and_keep_the_page_size(dashboard):
    pages(dashboard).get_by_role("link", name="Page 3").click()
    expect(dashboard).to_have_url(f"{PATH}?page=3")
    expect(findings(dashboard)).to_have_count(5)
    expect(pages(dashboard).get_by_role("link", name="3")).to_have_attribute("aria-current", "page")
    pages(dashboard).get_by_role("link", name="Previous").click()
    expect(dashboard).to_have_url(f"{PATH}?page=2")
    expect(findings(dashboard)).to_have_count(20)
    pages(dashboard).get_by_role("link", name="Page 1").click()
    expect(dashboard).to_have_url(PATH)
    expect(pages(dashboard).get_by_role("link", name="Previous")).to_have_count(0)
    pages(dashboard).get_by_role("link", name="Next", exact=True).click()
    heading = dashboard.get_by_role("heading", name="Findings", exact=True)
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    expect(status(dashboard)).to_have_text("45 findings")
    pages(dashboard).get_by_role("link", name="50").click()
    expect(dashboard).to_have_url(f"{PATH}?page_size=50")
    expect(findings(dashboard)).to_have_count(45)
    pages(dashboard).get_by_role("link", name="20").click()
    expect(dashboard).to_have_url(PATH)
    expect(findings(dashboard)).to_have_count(20)
    dashboard.goto(f"{PATH}?page=9")
    expect(dashboard.get_by_role("heading", name="Page not found")).to_be_visible()
    dashboard.get_by_role("link", name="Go to the last page").click()
    expect(dashboard).to_have_url(f"{PATH}?page=3")
    expect(findings(dashboard)).to_have_count(5)
