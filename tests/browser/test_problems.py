"""The panel "Do first", the list of problems, its orders, and several values of a filter."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PATH, chip, facet, findings, sign_in, status

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def do_first(page):
    return page.get_by_role("region", name="Do first")


def test_the_worst_problem_leads_to_its_findings(dashboard):
    panel = do_first(dashboard)
    expect(panel).to_contain_text("One problem causes the only Critical finding")
    problem = panel.get_by_role("heading", level=3).nth(1)
    title = problem.text_content().strip()
    problem.get_by_role("link").click()
    expect(dashboard).to_have_url(re.compile(r"\?problem=[0-9a-f]{16}$"))
    expect(chip(dashboard, f"Problem: {title}")).to_be_visible()
    expect(dashboard.get_by_role("heading", name="Findings", exact=True)).to_be_focused()
    expect(do_first(dashboard)).to_have_count(0)


@pytest.mark.parametrize("width", [320, 1280])
def test_each_row_of_the_panel_has_a_button_that_leads_to_the_fix(open_page, owner, width):
    page = open_page(user=owner, viewport={"width": width, "height": 800})
    page.goto(PATH)
    row = do_first(page).get_by_role("listitem").nth(1)
    button = row.get_by_text("How to fix it", exact=True)
    expect(button).to_be_visible()
    button.scroll_into_view_if_needed()
    area = button.bounding_box()
    page.mouse.click(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    expect(page).to_have_url(re.compile(r"\?problem=[0-9a-f]{16}$"))


@pytest.mark.parametrize("width", [320, 1280])
def test_a_problem_that_is_opened_by_its_address_comes_first(open_page, owner, width):
    page = open_page(user=owner, viewport={"width": width, "height": 800})
    page.goto(PATH)
    page.goto(do_first(page).get_by_role("heading", level=3).get_by_role("link").nth(1).get_attribute("href"))
    fix = page.get_by_role("heading", name="How to fix it", exact=True)
    expect(fix).to_be_in_viewport()
    overview = page.get_by_role("region", name="Overview", exact=True)
    assert fix.bounding_box()["y"] < overview.bounding_box()["y"]


def test_the_list_switches_to_problems_takes_several_severities_and_begins_with_the_oldest(dashboard):
    dashboard.get_by_role("link", name="Problems", exact=True).click()
    expect(dashboard).to_have_url(f"{PATH}?view=problems")
    expect(status(dashboard)).to_have_text("45 problems with 45 findings")
    expect(findings(dashboard)).to_have_count(20)
    facet(dashboard, "High 12").click()
    expect(dashboard).to_have_url(f"{PATH}?severity=High&view=problems")
    expect(findings(dashboard)).to_have_count(12)
    dashboard.get_by_role("link", name="Findings", exact=True).click()
    expect(dashboard).to_have_url(f"{PATH}?severity=High")
    facet(dashboard, "Critical 1").click()
    expect(status(dashboard)).to_have_text("13 of 45 findings")
    expect(chip(dashboard, "Severity: High")).to_be_visible()
    chip(dashboard, "Severity: Critical").click()
    expect(dashboard).to_have_url(f"{PATH}?severity=High")
    dashboard.goto(PATH)
    worst = findings(dashboard).first.get_by_role("heading").text_content()
    dashboard.get_by_role("link", name="Oldest first").click()
    expect(dashboard).to_have_url(f"{PATH}?sort=oldest")
    expect(dashboard.get_by_role("link", name="Oldest first")).to_have_attribute("aria-current", "true")
    expect(findings(dashboard).first.get_by_role("heading")).to_have_text(worst)  # it was stored first
    dashboard.get_by_role("link", name="Newest first").click()
    expect(findings(dashboard).first.get_by_role("heading")).not_to_have_text(worst)


def test_all_of_it_works_without_javascript(open_page, owner):
    page = open_page(java_script_enabled=False)
    page.goto(PATH)
    sign_in(page, owner.username)
    do_first(page).get_by_role("link", name="All problems").click()
    expect(page).to_have_url(f"{PATH}?view=problems")
    facet(page, "Last 7 days").click()
    facet(page, "Critical 1").click()
    expect(page).to_have_url(f"{PATH}?severity=Critical&since=7&view=problems")
    findings(page).first.locator("h3 a").click()
    expect(page).to_have_url(re.compile("severity=Critical&since=7&problem="))
    expect(findings(page)).to_have_count(1)
    findings(page).first.get_by_role("link").click()
    page.get_by_role("link", name="Findings with this cause").click()
    expect(page).to_have_url(re.compile(r"/\?problem=[0-9a-f]{16}$"))
