"""The URL is the whole state: Back, Forward, reload and a copied URL show the same page."""

from contextlib import suppress

import pytest
from playwright.sync_api import Error, expect

from tests.browser.steps import PATH, chip, expect_same_place, facet, findings, pages, search_box

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

STEPS = [
    ("", "45 findings", ""),
    ("?kind=confirmed", "33 of 45 findings", ""),
    ("?kind=confirmed&page=2", "33 of 45 findings", ""),
    ("?kind=confirmed&query=cookie", "12 of 45 findings", "cookie"),
]


def expect_step(page, number):
    query, count, typed = STEPS[number]
    expect(page).to_have_url(PATH + query)
    expect(page.get_by_text(count, exact=True).first).to_be_visible()
    expect(search_box(page)).to_have_value(typed)
    expect(chip(page, "Confidence: Confirmed")).to_have_count(1 if number else 0)


@pytest.fixture
def travelled(dashboard):
    """Return a dashboard with four history entries."""
    expect_step(dashboard, 0)
    facet(dashboard, "Confirmed 33").click()
    expect_step(dashboard, 1)
    pages(dashboard).get_by_role("link", name="Page 2").click()
    expect_step(dashboard, 2)
    search_box(dashboard).fill("cookie")
    expect_step(dashboard, 3)
    return dashboard


def test_back_and_forward_show_the_same_page_which_still_works(travelled):
    for number in (2, 1, 0):
        travelled.go_back()
        expect_step(travelled, number)
    for number in (1, 2):
        travelled.go_forward()
        expect_step(travelled, number)
    pages(travelled).get_by_role("link", name="Previous").click()
    expect_step(travelled, 1)
    search_box(travelled).fill("library")
    expect(travelled).to_have_url(f"{PATH}?kind=confirmed&query=library")
    expect(findings(travelled)).to_have_count(20)


def test_a_reload_a_copied_url_and_a_detour_show_the_same_page(travelled, open_page, owner):
    travelled.reload()
    expect_step(travelled, 3)
    elsewhere = open_page(user=owner)
    elsewhere.goto(travelled.url)
    expect_step(elsewhere, 3)
    travelled.get_by_role("main").get_by_role("link", name="Websites").click()
    expect(travelled).to_have_url("/")
    travelled.go_back()
    expect_step(travelled, 3)


def test_the_last_of_several_quick_steps_back_counts(travelled):
    for _ in range(3):
        with suppress(Error):  # the next step may cut this one short
            travelled.go_back(wait_until="commit")
    expect_step(travelled, 0)
    travelled.wait_for_load_state("networkidle")
    expect_step(travelled, 0)


@pytest.mark.parametrize("javascript", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_back_from_a_finding_shows_the_list_where_it_was_left(open_page, owner, javascript):
    page = open_page(user=owner, java_script_enabled=javascript)
    page.goto(PATH)
    row = findings(page).nth(15).get_by_role("link")
    row.scroll_into_view_if_needed()
    before = row.bounding_box()["y"]
    row.click()
    expect(page.locator("#the-finding")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(PATH)
    expect(row).to_be_in_viewport()
    expect_same_place(row, before)
    if javascript:
        expect(row).to_be_focused()
