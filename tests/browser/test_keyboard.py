"""Keys of members' pages, the palette and the list of keys."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import NARROW, WAYS, barriers_in
from tests.browser.steps import PATH, eventually, findings, search_box, the_finding
from tests.factories import make_portal_website

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def palette(page):
    return page.get_by_role("dialog", name="Go to")


def key_list(page):
    return page.get_by_role("dialog", name="Keyboard shortcuts")


def field(page):
    return palette(page).get_by_role("searchbox")


def focused(page):
    return page.locator(":focus")


def row(page, number):
    return page.locator("#finding-list .finding-row a").nth(number)


@pytest.fixture
def in_list(dashboard):
    """Return the dashboard with the focus on the first row of the list."""
    row(dashboard, 0).focus()
    return dashboard


def test_j_and_k_move_through_the_rows_and_enter_opens_one(in_list):
    in_list.keyboard.press("j")
    expect(row(in_list, 1)).to_be_focused()
    in_list.keyboard.press("j")
    in_list.keyboard.press("k")
    expect(row(in_list, 1)).to_be_focused()
    name = row(in_list, 1).text_content()
    in_list.keyboard.press("Enter")
    expect(the_finding(in_list).get_by_role("heading", name=name)).to_be_focused()


def test_j_begins_with_the_first_row_in_sight(dashboard):
    dashboard.keyboard.press("j")
    expect(dashboard.locator(".do-first .finding-row a").first).to_be_focused()
    dashboard.evaluate("document.activeElement.blur()")
    row(dashboard, 10).scroll_into_view_if_needed()
    tops = [link.bounding_box()["y"] for link in dashboard.locator(".finding-row h3 a").all()]
    first = next(number for number, top in enumerate(tops) if top >= 0)
    assert first > 0
    dashboard.keyboard.press("j")
    expect(dashboard.locator(".finding-row h3 a").nth(first)).to_be_focused()


def test_j_and_k_lead_through_the_findings_one_by_one_and_escape_back_to_the_row(dashboard):
    dashboard.goto(f"{PATH}?severity=Medium")
    row(dashboard, 3).press("Enter")
    expect(the_finding(dashboard)).to_be_visible()
    expect(dashboard.locator("#results.htmx-settling")).to_have_count(0)
    dashboard.keyboard.press("Escape")
    expect(dashboard).to_have_url(f"{PATH}?severity=Medium")
    expect(row(dashboard, 3)).to_be_focused()
    dashboard.goto(f"{PATH}?severity=Medium")
    names = [link.text_content() for link in findings(dashboard).get_by_role("link").all()]
    row(dashboard, 0).press("Enter")
    for key, number in (("j", 0), ("j", 1), ("k", 2), ("Escape", 1)):
        heading = the_finding(dashboard).get_by_role("heading", name=names[number], exact=True)
        expect(heading).to_be_focused()
        expect(dashboard.locator("#results.htmx-settling")).to_have_count(0)
        dashboard.keyboard.press(key)
    expect(dashboard).to_have_url(f"{PATH}?severity=Medium")
    expect(row(dashboard, 1)).to_be_focused()


def test_j_moves_through_problems_and_websites(open_page, owner, website):
    make_portal_website(website.account, "zzz.example.com")
    page = open_page(user=owner)
    page.route("**/row/", lambda route: route.fulfill(status=204))
    page.goto(f"{PATH}?view=problems")
    page.locator("#finding-list .problem-row h3 a").first.focus()
    page.keyboard.press("j")
    expect(page.locator("#finding-list .problem-row h3 a").nth(1)).to_be_focused()
    page.goto("/")
    for number in (0, 1, 1):  # the last row is the end
        page.keyboard.press("j")
        expect(page.locator(".site-row th > a").nth(number)).to_be_focused()


@pytest.mark.parametrize("key", ["j", "?", "/"])
def test_keys_are_typed_into_a_field(dashboard, key):
    search_box(dashboard).press(key)
    expect(search_box(dashboard)).to_have_value(key)
    expect(search_box(dashboard)).to_be_focused()
    expect(key_list(dashboard)).to_have_count(0)


@pytest.mark.parametrize("key", ["j", "Escape"])
def test_no_key_leads_away_from_a_form(in_list, key):
    row(in_list, 3).press("Enter")
    button = in_list.get_by_role("button", name="Create share link")
    expect(button).to_be_visible()
    button.focus()
    sent = []
    in_list.on("request", lambda request: sent.append(request.url))
    in_list.keyboard.press(key)
    in_list.evaluate("() => new Promise(requestAnimationFrame)")
    assert sent == []
    expect(button).to_be_focused()


@pytest.mark.parametrize("key", ["Control+j", "Alt+j", "Meta+j"])
def test_keys_with_others_are_the_browsers(in_list, key):
    in_list.keyboard.press(key)
    expect(row(in_list, 0)).to_be_focused()


@pytest.mark.parametrize("key", ["Control+k", "Meta+k"])
def test_the_palette_leads_to_a_website(open_page, owner, website, key):
    for number in range(30):
        make_portal_website(website.account, f"shop{number}.example.net")
    page = open_page(user=owner)
    page.goto("/help/")
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press(key)
    expect(field(page)).to_be_focused()
    page.keyboard.type("shop.ex")
    expect(palette(page).get_by_role("status")).to_have_text("1 result")
    expect(palette(page).get_by_role("link")).to_have_text(re.compile("shop.example.com"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(PATH)


def test_arrows_move_through_the_hits_and_typing_goes_on_in_the_field(open_page, owner):
    page = open_page(user=owner)
    page.goto("/help/")
    page.keyboard.press("Control+k")
    hits = palette(page).get_by_role("link")
    expect(hits.first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(field(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.type("notifications")
    expect(field(page)).to_have_value("notifications")
    expect(hits).to_have_text(["Notifications"])
    page.keyboard.press("Enter")
    expect(page).to_have_url("/notifications/")


def test_a_dialog_closes_returns_the_focus_and_lets_no_key_through(in_list):
    for key, dialog in (("?", key_list(in_list)), ("Control+k", palette(in_list))):
        in_list.keyboard.press(key)
        expect(dialog).to_be_visible()
        in_list.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(row(in_list, 0)).to_be_focused()
        in_list.keyboard.press(key)
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_be_hidden()
        expect(row(in_list, 0)).to_be_focused()
    assert in_list.url.endswith(PATH)
    in_list.keyboard.press("?")
    expect(key_list(in_list)).to_be_visible()
    in_list.keyboard.press("j")
    in_list.keyboard.press("Control+k")
    expect(palette(in_list)).to_be_hidden()
    in_list.keyboard.press("Escape")
    expect(row(in_list, 0)).to_be_focused()


def test_the_palette_forgets_the_last_text(open_page, owner):
    page = open_page(user=owner)
    page.goto("/help/")
    page.keyboard.press("Control+k")
    field(page).fill("zzz")
    expect(palette(page).get_by_text("Nothing found.")).to_be_visible()
    palette(page).get_by_role("button", name="Close").click()
    expect(palette(page)).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(field(page)).to_have_value("")
    expect(palette(page).get_by_role("link", name="Notifications")).to_be_visible()


def test_a_failed_search_says_so_and_the_next_one_works(open_page, owner, watch):
    watch.expect("net::ERR_FAILED")
    page = open_page(user=owner)
    page.goto("/help/")
    page.keyboard.press("Control+k")
    page.route("**/palette/hits/*", lambda route: route.abort())
    field(page).fill("notifications")
    expect(palette(page).get_by_text("The connection failed.")).to_be_visible()
    page.unroute("**/palette/hits/*")
    field(page).fill("notification")
    expect(palette(page).get_by_text("The connection failed.")).to_be_hidden()
    expect(palette(page).get_by_role("link")).to_have_text(["Notifications"])


def test_enter_waits_for_the_hits_of_what_was_typed(open_page, owner):
    page = open_page(user=owner)
    page.goto("/help/")
    page.keyboard.press("Control+k")
    field(page).fill("what is new")
    page.keyboard.press("Enter")
    expect(page).to_have_url("/new/")


def test_single_keys_can_be_switched_off(open_page, owner):
    page = open_page(user=owner)
    page.goto("/accounts/")
    page.get_by_role("button", name="Switch off single keys").click()
    expect(page.get_by_role("button", name="Switch on single keys")).to_be_visible()
    page.goto(PATH)
    row(page, 0).focus()
    for key in ("j", "?", "/"):
        page.keyboard.press(key)
    expect(row(page, 0)).to_be_focused()
    page.keyboard.press("Control+k")
    expect(palette(page)).to_be_visible()


@pytest.mark.parametrize("key", ["j", "k", "/"])
def test_a_key_does_nothing_while_a_form_is_open(in_list, key):
    summary = in_list.locator(".export-links summary")
    summary.click()
    expect(in_list.locator("#share-form")).to_be_visible()
    in_list.keyboard.press(key)
    expect(summary).to_be_focused()
    summary.click()
    in_list.keyboard.press("j")
    expect(summary).not_to_be_focused()


def test_nothing_of_the_dialogs_is_loaded_before_their_first_use(dashboard):
    loaded = "performance.getEntriesByType('resource').filter((it) => it.name.includes('palette')).length"
    dashboard.wait_for_load_state("networkidle")
    assert dashboard.evaluate(loaded) == 0
    dashboard.keyboard.press("?")
    expect(key_list(dashboard)).to_be_visible()
    eventually(dashboard, lambda: dashboard.evaluate(loaded) == 3)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("key", ["?", "Control+k"])
def test_dialogs_are_accessible_and_fit(open_page, owner, way, key):
    page = open_page(user=owner, **way.options)
    page.goto("/help/")
    page.keyboard.press(key)
    dialog = page.locator("dialog[open]")
    expect(dialog).to_be_visible()
    page.evaluate("document.querySelector('main').hidden = true")  # axe takes what is behind for a background
    page.set_viewport_size({"width": way.width, "height": 2000})
    dialog.evaluate("it => { it.style.maxBlockSize = 'none'; }")  # axe cannot decide on what is scrolled away
    assert barriers_in(page, way.schemes, within="dialog[open]") == []
    page.set_viewport_size(NARROW)
    assert dialog.evaluate("it => it.scrollWidth <= it.clientWidth")
    box = dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320


def test_a_visitor_of_the_sample_has_no_keys(page, service, settings, website):
    settings.SAMPLE_WEBSITE = f"{website.account.ref}/{website.host}"
    page.goto("/sample/")
    expect(findings(page)).to_have_count(20)
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_have_count(0)
