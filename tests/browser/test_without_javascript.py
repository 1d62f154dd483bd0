"""The portal without JavaScript: every step is a link or a form."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import (
    PATH,
    chip,
    facet,
    findings,
    open_menu,
    pages,
    search_box,
    sign_in,
    the_finding,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def plain(open_page):
    """Return a visitor's browser without JavaScript."""
    return open_page(java_script_enabled=False)


def test_the_whole_journey_works_by_links_and_forms(plain, owner):
    plain.goto("/")
    plain.get_by_role("main").get_by_role("link", name="Sign in").click()
    sign_in(plain, owner.username)
    expect(plain).to_have_url("/")
    plain.get_by_role("main").get_by_role("link", name="shop.example.com").click()
    expect(plain).to_have_url(PATH)
    facet(plain, "Confirmed 33").click()
    expect(chip(plain, "Confidence: Confirmed")).to_be_visible()

    pages(plain).get_by_role("link", name="Page 2").click()
    expect(plain).to_have_url(f"{PATH}?kind=confirmed&page=2")
    expect(findings(plain)).to_have_count(13)
    facet(plain, "Low 12").click()
    expect(plain).to_have_url(f"{PATH}?severity=Low&kind=confirmed")

    search_box(plain).fill("flag")
    plain.get_by_role("search").get_by_role("button", name="Search").click()
    expect(plain).to_have_url(re.compile("severity=Low&kind=confirmed&query=flag$"))
    expect(findings(plain)).to_have_count(12)
    expect(search_box(plain)).to_have_value("flag")

    findings(plain).first.get_by_role("link").click()
    expect(plain).to_have_url(re.compile(r"findings/\d+/\?severity=Low&kind=confirmed&query=flag$"))
    expect(the_finding(plain).get_by_text("Change it.", exact=True)).to_be_visible()
    link = plain.get_by_label("Link to this finding")
    expect(link).to_have_value(re.compile(rf"{PATH}findings/\d+/$"))
    expect(plain.get_by_role("button", name="Copy link")).to_be_hidden()
    plain.get_by_role("link", name="All findings").click()
    expect(findings(plain)).to_have_count(12)
    plain.get_by_text("Export", exact=True).click()
    plain.get_by_role("link", name="Report to print").click()
    expect(plain).to_have_url(f"{PATH}report/?severity=Low&kind=confirmed&query=flag")
    expect(plain.get_by_text("Cookie without a flag 12").first).to_be_visible()
    plain.go_back()
    plain.get_by_role("link", name="Clear all").click()
    expect(plain).to_have_url(PATH)
    plain.go_back()
    expect(findings(plain)).to_have_count(12)
    open_menu(plain)
    plain.get_by_role("button", name="Sign out").click()
    expect(plain).to_have_url(re.compile("/accounts/login/"))


def test_charts_have_tables_and_page_sizes_are_links(plain, owner):
    plain.goto(PATH)
    sign_in(plain, owner.username)
    plain.locator("#chart-trend summary").click()
    expect(plain.get_by_role("table", name="New and fixed, week by week")).to_be_visible()
    expect(plain.get_by_role("slider")).to_have_count(0)
    pages(plain).get_by_role("link", name="100").click()
    expect(plain).to_have_url(f"{PATH}?page_size=100")
    expect(findings(plain)).to_have_count(45)


def test_times_are_in_utc_and_errors_are_whole_pages(plain, owner, link, watch):
    watch.expect("403 (Forbidden)")
    plain.goto(PATH)
    sign_in(plain, owner.username)
    expect(plain.locator("time[datetime*=T]:not([data-day])").first).to_contain_text("UTC")
    link.account.entitlement.status = "suspended"
    link.account.entitlement.save()
    facet(plain, "High 12").click()
    expect(plain.get_by_role("heading", name="Your plan does not cover this dashboard")).to_be_visible()
    expect(plain.get_by_role("heading", name="shop.example.com", level=1)).to_be_visible()
