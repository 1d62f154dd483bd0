"""A dashboard on a phone: the sheet of filters, notes before the list, and ten rows first."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import WAYS, barriers_in
from tests.browser.steps import PATH, facet, findings, the_finding

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 320, "height": 640}
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])


@pytest.fixture
def phone(open_page, owner):
    page = open_page(user=owner, viewport=PHONE)
    page.goto(PATH)
    return page


def filters(page):
    return page.get_by_role("button", name="Filter")


def rows(page):
    return page.locator("#finding-list .finding-row:visible")


def top(locator):
    return locator.bounding_box()["y"]


@SCRIPTS
def test_filters_are_in_one_sheet(open_page, owner, scripts):
    page = open_page(user=owner, viewport=PHONE, java_script_enabled=scripts)
    page.goto(PATH)
    expect(facet(page, "High 12")).to_be_hidden()
    expect(filters(page)).to_have_text("Filter")
    filters(page).click()
    facet(page, "High 12").click()
    expect(page).to_have_url(f"{PATH}?severity=High")
    expect(filters(page)).to_have_text("Filter (1)")


def test_the_sheet_stays_open_for_further_filters(phone):
    filters(phone).click()
    facet(phone, "High 12").click()
    expect(filters(phone)).to_have_text("Filter (1)")
    expect(facet(phone, "High 12")).to_be_focused()
    facet(phone, "Medium 20").click()
    expect(phone).to_have_url(f"{PATH}?severity=High%2CMedium")
    expect(facet(phone, "Medium 20")).to_be_focused()
    phone.get_by_role("button", name="Show the list").click()
    expect(facet(phone, "High 12")).to_be_hidden()
    expect(rows(phone)).to_have_count(10)


def test_a_laptop_shows_the_filters_without_a_sheet(dashboard):
    expect(facet(dashboard, "High 12")).to_be_visible()
    expect(filters(dashboard)).to_have_count(0)
    expect(dashboard.get_by_text("Show more")).to_be_hidden()
    expect(rows(dashboard)).to_have_count(20)


@pytest.mark.parametrize("width", [320, 1280])
def test_notes_are_before_the_list_that_about_the_website_in_full(open_page, owner, width):
    page = open_page(user=owner, viewport={"width": width, "height": 640})
    page.goto(PATH)
    notes = page.get_by_role("region", name="Notes from our analysts")
    assert top(notes) < top(page.locator("#findings-title"))
    expect(notes.get_by_text("Begin with the worst.")).to_be_visible()
    expect(notes.get_by_text("Seen by hand, too.")).to_be_hidden()
    notes.get_by_text("More").click()
    expect(notes.get_by_text("Seen by hand, too.")).to_be_visible()


@SCRIPTS
def test_ten_rows_come_first_and_the_others_on_demand(open_page, owner, scripts):
    page = open_page(user=owner, viewport=PHONE, java_script_enabled=scripts)
    page.goto(PATH)
    expect(rows(page)).to_have_count(10)
    page.get_by_text("Show more").click()
    expect(rows(page)).to_have_count(20)
    page.get_by_text("Show fewer").click()
    expect(rows(page)).to_have_count(10)


@pytest.mark.parametrize("way_back", ["link", "browser"])
def test_the_way_back_shows_the_row_again(phone, way_back):
    phone.get_by_text("Show more").click()
    name = findings(phone).nth(14).get_by_role("link").text_content()
    findings(phone).nth(14).get_by_role("link").click()
    expect(the_finding(phone)).to_contain_text(name)
    if way_back == "link":
        phone.get_by_role("link", name="All findings").click()
    else:
        phone.go_back()
    expect(findings(phone).get_by_role("link", name=name, exact=True)).to_be_focused()
    expect(findings(phone).get_by_role("link", name=name, exact=True)).to_be_in_viewport()


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_what_a_finding_is_and_its_fix_come_before_handing_it_over(open_page, owner, link, width):
    page = open_page(user=owner, viewport={"width": width, "height": 800})
    page.goto(f"{PATH}findings/{link.website.findings.first().pk}/")
    names = ["What it is", "How to fix it", "Share", "Evidence"]
    headings = [the_finding(page).get_by_role("heading", name=name, exact=True) for name in names]
    tops = [top(heading) for heading in headings]
    assert tops == sorted(tops)
    assert [
        text for text in the_finding(page).get_by_role("heading").all_text_contents() if text in names
    ] == names


def test_a_short_list_has_nothing_more_to_show_and_everything_is_printed(phone):
    phone.emulate_media(media="print")
    expect(rows(phone)).to_have_count(20)
    phone.emulate_media(media="screen")
    phone.goto(f"{PATH}?severity=Critical")
    expect(rows(phone)).to_have_count(1)
    expect(phone.get_by_text("Show more")).to_be_hidden()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_sheet_is_accessible(open_page, owner, way):
    page = open_page(user=owner, **way.options | {"viewport": PHONE})
    page.goto(f"{PATH}?severity=High")
    page.locator(".filter-button").click()
    page.evaluate("document.querySelector('.finding-list').hidden = true")  # axe takes it for the background
    assert barriers_in(page, way.schemes, within="#facets") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
