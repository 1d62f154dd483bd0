"""A finding, opened in place."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_finding_opens_with_its_details_and_its_note(dashboard):
    finding = findings(dashboard).filter(has_text="SQL injection")
    expect(finding.get_by_text("Change it.")).to_be_hidden()
    finding.get_by_role("heading", name="SQL injection in the list of orders").click()
    for text in ("About sql injection in the list of orders.", "Change it.", "<script>alert(1)</script>"):
        expect(finding.get_by_text(text, exact=True)).to_be_visible()
    expect(finding.locator("strong")).to_have_text("by hand")
    expect(finding.get_by_role("link", name="example.com/advice")).to_have_attribute(
        "rel", "noopener noreferrer"
    )
    expect(dashboard.get_by_text("Only for us.")).to_have_count(0)


def test_a_finding_opens_by_the_keyboard(dashboard):
    finding = findings(dashboard).first
    finding.locator("summary").focus()
    dashboard.keyboard.press("Enter")
    expect(finding.get_by_text("Change it.")).to_be_visible()


def test_a_note_on_the_website_stands_apart(dashboard):
    notes = dashboard.get_by_role("region", name="Notes from our analysts")
    expect(notes.locator("strong")).to_have_text("worst")
    expect(notes).not_to_contain_text("by hand")


def test_times_are_those_of_the_reader(open_page, owner):
    page = open_page(user=owner, timezone_id="America/New_York")
    page.goto("/sites/shop.example.com/")
    shown = page.locator("time[datetime*=T]").first
    expect(shown).not_to_contain_text("UTC")
    expect(shown).to_have_attribute("title", re.compile(" UTC$"))
