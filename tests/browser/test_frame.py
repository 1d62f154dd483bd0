"""The frame of every page: header, menus, skip links and footer, with and without JavaScript."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import WAYS, barriers_in
from tests.browser.steps import PATH, open_menu
from tests.factories import make_portal_website, make_user

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

MOST_TABS = 15
PHONE = {"width": 320, "height": 640}
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])


def navigation(page):
    return page.get_by_role("navigation", name="Main")


def menu_button(page):
    return page.get_by_role("button", name="Menu", exact=True)


def box_of_header(page):
    return page.get_by_role("banner").bounding_box()


@SCRIPTS
def test_the_navigation_leads_through_the_portal(open_page, owner, scripts):
    page = open_page(user=owner, java_script_enabled=scripts)
    page.goto(PATH)
    expect(menu_button(page)).to_be_hidden()
    for name, heading in (
        ("What is new", "What is new"),
        ("Team", "Team"),
        ("Notifications", "Notifications"),
        ("Help", "Help"),
        ("Websites", "Websites"),
    ):
        navigation(page).get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        expect(navigation(page).get_by_role("link", name=name)).to_have_attribute("aria-current", "true")


@SCRIPTS
def test_on_a_phone_the_header_is_one_row_and_the_navigation_opens(open_page, owner, scripts):
    page = open_page(user=owner, java_script_enabled=scripts, viewport=PHONE)
    page.goto("/help/")
    assert box_of_header(page)["height"] < 60
    expect(navigation(page)).to_be_hidden()
    menu_button(page).click()
    navigation(page).get_by_role("link", name="Notifications").click()
    expect(page).to_have_url("/notifications/")


@SCRIPTS
def test_the_account_menu_opens_closes_and_signs_out(open_page, owner, scripts):
    page = open_page(user=owner, java_script_enabled=scripts, viewport=PHONE)
    page.goto(PATH)
    sign_out = page.get_by_role("button", name="Sign out")
    expect(sign_out).to_be_hidden()
    open_menu(page)
    expect(sign_out).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(sign_out).to_be_hidden()
    open_menu(page)
    sign_out.click()
    expect(page).to_have_url("/accounts/login/")
    page.goto(PATH)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_menu_is_reached_by_keyboard_alone(open_page, owner):
    page = open_page(user=owner)
    page.goto("/help/")
    page.get_by_role("button", name="Your account: owner").press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Your account")).to_be_focused()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_open_menus_are_accessible(open_page, owner, way):
    page = open_page(user=owner, **way.options)
    page.goto("/help/")
    for button in page.locator("[popovertarget]:visible").all():
        button.click()
        assert barriers_in(page, way.schemes, within=":popover-open") == []


def test_the_skip_links_lead_to_the_first_finding_in_a_few_tabs(dashboard):
    first = dashboard.locator("#finding-list .finding-row a").first
    for name in ("Skip to content", "Skip to the findings"):
        dashboard.keyboard.press("Tab")
        skip = dashboard.get_by_role("link", name=name)
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
    dashboard.keyboard.press("Enter")
    for _ in range(MOST_TABS - 2):
        dashboard.keyboard.press("Tab")
        if first.evaluate("it => it === document.activeElement"):
            return
    pytest.fail(f"The first finding is more than {MOST_TABS} tabs away.")


@SCRIPTS
def test_a_dot_says_that_there_is_something_new(open_page, owner, scripts):
    page = open_page(user=owner, java_script_enabled=scripts, viewport=PHONE)
    page.goto(PATH)
    page.goto("/help/")
    assert box_of_header(page)["height"] < 60
    expect(page.get_by_role("button", name="Menu (1 website has new findings)")).to_be_visible()
    page.get_by_role("button", name="Menu").click()
    navigation(page).get_by_role("link", name="What is new (1 website has new findings)").click()
    expect(page.locator(".unread")).to_have_count(0)


@SCRIPTS
@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 800}], ids=["phone", "laptop"])
def test_a_website_can_be_switched(open_page, owner, website, scripts, viewport):
    make_portal_website(website.account, "other.example.com")
    page = open_page(user=owner, java_script_enabled=scripts, viewport=viewport)
    page.goto(PATH)
    page.get_by_role("link", name="Switch website").click()
    if scripts:
        expect(page.get_by_role("dialog", name="Go to").get_by_role("searchbox")).to_be_focused()
        expect(page.get_by_role("dialog").get_by_role("link", name="other.example.com")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Switch website")).to_be_focused()
    else:
        expect(page).to_have_url("/")


def test_there_is_no_link_to_findings_where_there_are_none(open_page, owner, watch):
    watch.expect("404 (Not Found)")
    page = open_page(user=owner)
    for path in ("/sites/nowhere.example.com/", f"{PATH}findings/9/"):
        page.goto(path)
        expect(page.get_by_role("link", name="Skip to content")).to_have_count(1)
        expect(page.get_by_role("link", name="Skip to the findings")).to_have_count(0)


def test_the_link_to_the_findings_comes_and_goes_with_them_and_one_website_is_not_switched(dashboard):
    skip = dashboard.get_by_role("link", name="Skip to the findings")
    dashboard.locator("#finding-list .finding-row a").first.click()
    expect(skip).to_have_count(0)
    dashboard.get_by_role("link", name="All findings").click()
    expect(skip).to_have_count(1)
    expect(dashboard.get_by_role("link", name="Switch website")).to_have_count(0)


def test_a_visitor_has_a_menu_for_language_and_theme_and_a_way_to_sign_in(open_page, service, watch):
    watch.expect("404 (Not Found)")
    page = open_page(viewport=PHONE)
    page.goto("/nowhere/")
    assert box_of_header(page)["height"] < 60
    page.get_by_role("button", name="Language and theme").click()
    expect(page.get_by_role("button", name="Deutsch")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Sign in").click()
    expect(page).to_have_url("/accounts/login/")


def test_the_footer_is_at_the_foot_of_the_window_and_of_long_pages(open_page, owner):
    page = open_page(user=make_user("newcomer"))
    page.goto("/help/")
    for path in ("/help/", "/accounts/password/change/"):
        page.goto(path)
        expect(page.get_by_role("contentinfo").get_by_role("link", name="Imprint")).to_be_visible()
        bottom = page.evaluate("document.querySelector('footer').getBoundingClientRect().bottom")
        assert bottom >= page.evaluate("innerHeight") - 1


def test_the_frame_is_not_printed(open_page, owner):
    page = open_page(user=owner)
    page.goto(f"{PATH}report/")
    page.emulate_media(media="print")
    for role in ("banner", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(0)
