"""The page for those who call the API, and its test call."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_an_owner_reads_a_snippet_and_makes_a_test_call(open_page, owner, website, scripts):
    page = open_page(user=owner, java_script_enabled=scripts)
    page.goto("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="API").click()
    page.get_by_text("Call for shop.example.com with Python").click()
    expect(page.get_by_text(f'"link_id": "{website.link_id}"')).to_be_visible()
    page.get_by_role("button", name="Test call for shop.example.com").click()
    expect(page.get_by_role("status")).to_contain_text("works: 45 open findings")
    expect(page).to_have_url("/api/")
