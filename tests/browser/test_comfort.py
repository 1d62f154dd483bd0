"""Themes, keys, and preferences of the system."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PATH, facet, open_menu
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SITES = "/"
MOVING = """
[...document.querySelectorAll("*")].filter((it) => getComputedStyle(it).animationName !== "none").length
"""


def canvas(page):
    page.wait_for_load_state()
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def theme(page, name):
    return page.get_by_role("button", name=f"Theme: {name}", include_hidden=True)


def choose(page, name):
    open_menu(page)
    theme(page, name).click()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_theme_can_be_chosen_and_reset_to_the_system(open_page, owner, scripts):
    page = open_page(user=owner, color_scheme="light", java_script_enabled=scripts)
    page.goto(f"{PATH}?severity=High")
    light = canvas(page)
    choose(page, "dark")
    expect(page).to_have_url(f"{PATH}?severity=High")
    expect(theme(page, "dark")).to_have_attribute("aria-pressed", "true")
    dark = canvas(page)
    assert dark != light
    page.goto("/accounts/")
    assert canvas(page) == dark
    choose(page, "system")
    expect(page).to_have_url("/accounts/")
    expect(page.locator("body")).to_have_css("background-color", light)


def test_light_is_light_on_a_dark_system(open_page, owner):
    page = open_page(user=owner, color_scheme="dark")
    page.goto("/accounts/")
    dark = canvas(page)
    choose(page, "light")
    expect(theme(page, "light")).to_have_attribute("aria-pressed", "true")
    assert canvas(page) != dark


def test_a_choice_keeps_filters_that_were_set_after_loading(dashboard):
    facet(dashboard, "High 12").click()
    expect(dashboard).to_have_url(f"{PATH}?severity=High")
    choose(dashboard, "dark")
    expect(theme(dashboard, "dark")).to_have_attribute("aria-pressed", "true")
    expect(dashboard).to_have_url(f"{PATH}?severity=High")


def test_the_first_tab_stop_skips_the_navigation(dashboard):
    dashboard.keyboard.press("Tab")
    skip = dashboard.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    dashboard.keyboard.press("Enter")
    expect(dashboard.get_by_role("main")).to_be_focused()
    dashboard.keyboard.press("Tab")
    expect(dashboard.get_by_role("main").get_by_role("link", name="Websites")).to_be_focused()


def test_the_admin_and_the_documentation_have_the_chosen_theme(open_page, service):
    page = open_page(user=make_user("ada", is_staff=True), color_scheme="light")

    def canvas(address):
        page.goto(address)
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = [canvas("/v1/docs"), canvas("/admin/")]
    page.get_by_role("button", name="Your account: ada").click()
    theme(page, "dark").click()
    expect(page).to_have_url("/admin/")
    expect(theme(page, "dark")).to_have_attribute("aria-pressed", "true")
    dark = [canvas("/v1/docs"), canvas("/admin/")]
    assert not set(light) & set(dark)


@pytest.mark.parametrize("address", [SITES, PATH, "/accounts/"])
@pytest.mark.parametrize("options", [{}, {"forced_colors": "active"}], ids=["colours", "forced colours"])
def test_focus_is_always_visible(open_page, owner, address, options):
    page = open_page(user=owner, **options)
    page.goto(address, wait_until="networkidle")
    unseen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        shown = page.evaluate(
            """() => {
              const it = document.activeElement;
              const boxes = [it, it.closest(".site, .finding-row")].filter(Boolean);
              const around = boxes.map((each) => getComputedStyle(each));
              const outlined = around.some((s) => s.outlineStyle !== "none" && parseInt(s.outlineWidth) > 1);
              return [it.outerHTML.slice(0, 80), it === document.body || outlined];
            }"""
        )
        if not shown[1]:
            unseen.append(shown[0])
    assert unseen == []


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_reduced_motion_stops_all_movement(open_page, owner, motion, moves):
    page = open_page(user=owner, reduced_motion=motion)
    page.goto(SITES)
    page.locator(".site-row").first.evaluate("row => row.classList.add('htmx-request')")
    assert bool(page.evaluate(MOVING)) == moves


@pytest.mark.parametrize("forced", ["light", "dark"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_have_forced_colours_in_every_theme(open_page, owner, service, forced, theme):
    page = open_page(user=owner, forced_colors="active", color_scheme=forced)
    page.context.add_cookies([{"name": "theme", "value": theme, "url": service.url}])
    page.goto(PATH)
    others = page.evaluate(
        """() => {
          const { color, backgroundColor } = getComputedStyle(document.body);
          const colours = [color, backgroundColor, "none"];
          return [...document.querySelectorAll(".chart :is(text, rect, circle, polyline)")].filter((it) => {
            const { fill, stroke } = getComputedStyle(it);
            const isForced = colours.includes(fill) && colours.includes(stroke);
            return !isForced || (it.matches("text") && fill !== color);
          }).map((it) => it.outerHTML);
        }"""
    )
    assert others == []


def test_severities_keep_their_shapes_in_forced_colours(open_page, owner):
    page = open_page(user=owner, forced_colors="active")
    page.goto(PATH)
    fills = page.evaluate(
        """[...document.querySelectorAll(".severity")].map((it) => {
          const mark = getComputedStyle(it, "::before");
          return mark.backgroundColor !== getComputedStyle(document.body).backgroundColor
            && mark.clipPath !== "none";
        })"""
    )
    assert fills
    assert all(fills)
