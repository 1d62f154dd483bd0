"""Views that a colleague opens: saved from the filters, renamed and deleted, with and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from portal.models import SavedView
from tests.browser.steps import PATH, findings
from tests.factories import make_membership, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def view(page, name):
    return page.get_by_role("navigation", name="Filters").get_by_role("link", name=name, exact=True)


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_an_owner_saves_a_view_for_everyone_and_a_colleague_opens_it(open_page, owner, website, javascript):
    page = open_page(user=owner, java_script_enabled=javascript)
    page.goto(PATH)
    page.get_by_role("navigation", name="Filters").get_by_role("link", name="High 12").click()
    expect(page).to_have_url(f"{PATH}?severity=High")
    page.get_by_text("Save this view").click()
    page.get_by_label("Name", exact=True).fill("Serious ones")
    page.get_by_label("For everyone in the organization").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The view “Serious ones” is saved.")).to_be_visible()
    expect(page).to_have_url(f"{PATH}?severity=High")
    expect(view(page, "Serious ones")).to_have_attribute("aria-current", "true")

    colleague = make_user("colleague")
    make_membership(colleague, website.account, role="viewer")
    theirs = open_page(user=colleague, java_script_enabled=javascript)
    theirs.goto(f"{PATH}?query=cookie")
    expect(findings(theirs)).to_have_count(12)
    view(theirs, "Serious ones").click()
    expect(theirs).to_have_url(f"{PATH}?severity=High")
    expect(findings(theirs).first).to_contain_text("Cross-site scripting")
    expect(theirs.get_by_role("searchbox", name="Search findings")).to_have_value("")
    expect(view(theirs, "Serious ones")).to_have_attribute("aria-current", "true")

    page.get_by_role("link", name="Manage views").click()
    page.get_by_text("Rename", exact=False).first.click()
    page.get_by_label("Name", exact=True).fill("Urgent")
    page.get_by_role("button", name="Save the new name of Serious ones").click()
    expect(page.get_by_text("The view is now called “Urgent”.")).to_be_visible()
    page.locator("summary").filter(has_text="Delete").click()
    page.get_by_role("button", name="Delete Urgent now").click()
    expect(page.get_by_text("No saved views yet.")).to_be_visible()


def test_a_dropped_filter_is_named_after_a_click_and_a_reload(open_page, owner, website):
    query = "severity=High&source=zap,gone"
    SavedView.objects.create(account=website.account, name="Old scanner", query=query)
    page = open_page(user=owner)
    page.goto(PATH)
    view(page, "Old scanner").click()
    dropped = page.get_by_text("This view also filtered by Scanner: gone, which no longer exists.")
    expect(dropped).to_be_visible()
    expect(findings(page)).to_have_count(12)
    expect(page).to_have_url(re.compile("gone"))
    page.reload()
    expect(dropped).to_be_visible()
    expect(view(page, "Old scanner")).to_have_attribute("aria-current", "true")


@pytest.mark.slow
def test_the_pages_of_saved_views_in_every_look(tour, owner, website):
    for number in range(14):
        own = owner.memberships.get() if number % 2 else None
        SavedView.objects.create(
            account=website.account,
            membership=own,
            name=f"Serious findings of the form {number}",
            query=f"severity=High&source=zap%2Cgone&team=web{number}",
        )
    page = tour.open(user=owner)
    tour.visit(page, f"{PATH}?severity=High&source=zap%2Cgone&team=web1", "/views/")
    page.goto(f"{PATH}?severity=High")
    page.locator(".save-view summary").click()
    page.get_by_role("textbox").last.fill("serious findings of the form 1")
    page.locator(".save-view button").click()
    tour.look(page, "refused")
