"""Search while typing."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PATH, Held, chip, facet, findings, search_box, status, the_finding

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def asked(dashboard):
    """Return the URLs that the page requested."""
    urls = []
    dashboard.on(
        "request", lambda request: urls.append(request.url) if request.resource_type == "xhr" else None
    )
    return urls


def test_one_request_is_made_when_typing_pauses(dashboard, asked):
    dashboard.clock.install()
    dashboard.reload()
    dashboard.clock.pause_at(dashboard.evaluate("Date.now() + 1000"))
    search_box(dashboard).press_sequentially("cookie")
    dashboard.clock.run_for(290)
    assert asked == []
    with dashboard.expect_response("**/*query=cookie"):
        dashboard.clock.run_for(20)
    dashboard.clock.resume()
    expect(status(dashboard)).to_have_text("12 of 45 findings")
    assert len(asked) == 1


@pytest.mark.parametrize("width", [320, 1280])
def test_matches_stand_below_the_search_field(open_page, owner, width):
    page = open_page(user=owner, viewport={"width": width, "height": 800})
    page.goto(PATH)
    search_box(page).fill("cookie")
    expect(status(page)).to_have_text("12 of 45 findings")
    expect(findings(page).first).to_be_in_viewport()


def test_matches_are_highlighted_in_the_list_and_in_the_finding(dashboard):
    search_box(dashboard).fill("COOKIE wíth")
    row = findings(dashboard).first
    expect(row.get_by_role("mark")).to_have_text(["Cookie", "with"])
    row.get_by_role("link").click()
    expect(the_finding(dashboard).get_by_role("mark")).to_have_text(["Cookie", "with", "cookie", "with"])
    dashboard.go_back()
    search_box(dashboard).fill("")
    expect(findings(dashboard)).to_have_count(20)
    expect(dashboard.get_by_role("mark")).to_have_count(0)


def test_search_is_announced_in_an_existing_live_region(dashboard):
    expect(status(dashboard)).to_have_text("")
    dashboard.evaluate("document.querySelector('[role=status]').dataset.seen = 'from the first'")
    search_box(dashboard).fill("orders")
    expect(status(dashboard)).to_have_text("1 of 45 findings")
    expect(status(dashboard)).to_have_attribute("data-seen", "from the first")
    search_box(dashboard).fill("no such words")
    expect(status(dashboard)).to_have_text("Nothing matches these filters")


def test_search_keeps_focus_and_text_and_names_the_shown_list(dashboard):
    expect(dashboard).to_have_title("shop.example.com – Threat Dashboard")
    search_box(dashboard).fill("library")
    expect(dashboard).to_have_title("20 of 45 findings – shop.example.com – Threat Dashboard")
    search_box(dashboard).fill("")
    expect(dashboard).to_have_title("shop.example.com – Threat Dashboard")
    search_box(dashboard).fill("COOKIE fl")
    expect(dashboard).to_have_url(f"{PATH}?query=COOKIE+fl")
    expect(findings(dashboard)).to_have_count(12)
    expect(search_box(dashboard)).to_be_focused()
    expect(search_box(dashboard)).to_have_value("COOKIE fl")
    search_box(dashboard).press_sequentially("ag")
    expect(dashboard).to_have_url(f"{PATH}?query=COOKIE+flag")
    expect(search_box(dashboard)).to_have_accessible_description(re.compile("All of your words"))


def test_refining_a_search_is_one_step_of_the_history(dashboard):
    for query, count in (("o", 21), ("or", 1), ("orders", 1)):
        search_box(dashboard).fill(query)
        expect(dashboard).to_have_url(f"{PATH}?query={query}")
        expect(status(dashboard)).to_have_text(f"{count} of 45 findings")
    expect(dashboard).to_have_url(f"{PATH}?query=orders")
    dashboard.go_back()
    expect(dashboard).to_have_url(PATH)
    expect(search_box(dashboard)).to_have_value("")


def test_search_keeps_the_other_filters_and_the_same_words_search_again_once_removed(dashboard):
    facet(dashboard, "Confirmed 33").click()
    expect(chip(dashboard, "Confidence: Confirmed")).to_be_visible()
    search_box(dashboard).fill("library")
    expect(dashboard).to_have_url(f"{PATH}?kind=confirmed&query=library")
    expect(findings(dashboard)).to_have_count(20)
    facet(dashboard, "Medium 20").click()
    expect(dashboard).to_have_url(f"{PATH}?severity=Medium&kind=confirmed&query=library")
    expect(search_box(dashboard)).to_have_value("library")
    dashboard.goto(PATH)
    search_box(dashboard).fill("library")
    chip(dashboard, "Search: “library”").click()
    expect(dashboard).to_have_url(PATH)
    expect(search_box(dashboard)).to_have_value("")
    search_box(dashboard).fill("library")
    expect(dashboard).to_have_url(f"{PATH}?query=library")


def test_the_slash_key_focuses_the_search_and_enter_searches_at_once(dashboard):
    dashboard.keyboard.press("/")
    expect(search_box(dashboard)).to_be_focused()
    dashboard.keyboard.type("a/b")
    expect(search_box(dashboard)).to_have_value("a/b")
    search_box(dashboard).fill("orders")
    search_box(dashboard).press("Enter")
    expect(dashboard).to_have_url(f"{PATH}?query=orders")
    expect(findings(dashboard)).to_have_count(1)


def test_newer_text_overtakes_an_older_response(dashboard, watch):
    watch.expect("htmx:sendAbort", "htmx:afterRequest")
    unanswered = Held(dashboard, "**/*query=cookie")
    search_box(dashboard).fill("cookie")
    unanswered.request()
    expect(dashboard.get_by_role("region", name="Results")).to_have_attribute("aria-busy", "true")
    search_box(dashboard).press_sequentially(" flag")
    expect(dashboard).to_have_url(f"{PATH}?query=cookie+flag")
    expect(findings(dashboard)).to_have_count(12)
    expect(search_box(dashboard)).to_have_value("cookie flag")
    assert len(unanswered) == 1


@pytest.fixture
def held(dashboard):
    """Type, click a link, and delay its request until release; the clock stops."""

    def hold(link, address, *, typed=""):
        waiting = Held(dashboard, address, times=1)
        dashboard.clock.install()
        dashboard.reload()
        dashboard.clock.pause_at(dashboard.evaluate("Date.now() + 1000"))
        search_box(dashboard).press_sequentially(typed)
        link.click()
        expect(dashboard.get_by_role("region", name="Results")).to_have_attribute("aria-busy", "true")
        return waiting.request()

    return hold


def test_a_filter_clicked_while_typing_includes_the_text(dashboard, held, asked):
    answer = held(facet(dashboard, "Confirmed 33"), "**/*kind=confirmed*", typed="library")
    dashboard.clock.run_for(400)
    answer.continue_()
    expect(dashboard).to_have_url(f"{PATH}?kind=confirmed&query=library")
    expect(status(dashboard)).to_have_text("20 of 45 findings")
    dashboard.clock.run_for(400)
    expect(search_box(dashboard)).to_have_value("library")
    assert len(asked) == 1


def test_a_finding_clicked_while_typing_stays_open_and_links_back_to_the_search(dashboard, held, asked):
    answer = held(findings(dashboard).first.get_by_role("link"), "**/findings/**", typed="library")
    dashboard.clock.run_for(400)
    answer.continue_()
    expect(the_finding(dashboard)).to_be_visible()
    dashboard.clock.run_for(400)
    expect(search_box(dashboard)).to_have_value("library")
    assert len(asked) == 1
    dashboard.get_by_role("link", name="All findings").click()
    expect(dashboard).to_have_url(f"{PATH}?query=library")


def test_clearing_all_filters_while_typing_clears_the_text(dashboard, held, asked):
    dashboard.goto(f"{PATH}?kind=confirmed&query=lib")
    asked.clear()
    clear = dashboard.get_by_role("link", name="Clear all")
    answer = held(clear, f"**{PATH}", typed="rary")
    dashboard.clock.run_for(400)
    answer.continue_()
    expect(dashboard).to_have_url(PATH)
    expect(search_box(dashboard)).to_have_value("")
    dashboard.clock.run_for(400)
    assert len(asked) == 1


def test_text_typed_during_a_request_stays_and_is_searched(dashboard, held):
    answer = held(facet(dashboard, "Confirmed 33"), "**/*kind=confirmed*")
    search_box(dashboard).fill("library")
    dashboard.clock.run_for(400)
    answer.continue_()
    expect(chip(dashboard, "Confidence: Confirmed")).to_be_visible()
    expect(search_box(dashboard)).to_have_value("library")
    dashboard.clock.run_for(400)
    expect(dashboard).to_have_url(f"{PATH}?kind=confirmed&query=library")
    expect(search_box(dashboard)).to_be_focused()


def test_typing_is_not_interrupted_by_an_opening_finding(dashboard, held):
    answer = held(findings(dashboard).first.get_by_role("link"), "**/findings/**")
    search_box(dashboard).press_sequentially("lib")
    dashboard.clock.run_for(400)
    answer.continue_()
    expect(the_finding(dashboard)).to_be_visible()
    dashboard.keyboard.type("rary")
    expect(search_box(dashboard)).to_have_value("library")
    dashboard.clock.run_for(400)
    expect(dashboard).to_have_url(f"{PATH}?query=library")
