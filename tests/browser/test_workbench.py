"""The analyst's workbench: by keyboard alone, without scripts, and accessible."""

import re

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import expect

from tests.browser.steps import sign_in
from tests.factories import make_finding, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
URL = "/admin/dashboard_api/finding/workbench/"
ANALYST = ("view_finding", "change_finding", "add_analystnote", "change_analystnote", "view_analystnote")


@pytest.fixture
def analyst(link):
    user = make_user("grace", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=ANALYST))
    return user


def current(page):
    return page.locator(".queue [aria-current]")


def test_an_analyst_clears_twenty_findings_with_the_keyboard_alone(open_page, analyst, link):
    page = open_page(user=analyst)
    page.goto(URL)
    expect(current(page)).to_be_focused()
    pressed = 0

    def press(*keys):
        nonlocal pressed
        for key in keys:
            page.keyboard.press(key)
            pressed += 1

    to_review = link.website.findings.filter(status="open", reviewed_at=None)
    before = to_review.count()
    for number in range(20):
        title = current(page).get_attribute("id")
        if number % 4 == 0:
            press("f", "Enter")
        elif number % 4 == 1:
            press("a", "Enter")
        else:
            press("r")
        expect(page.locator(f"#{title}")).to_have_count(0)
        expect(current(page)).to_be_focused()
    assert to_review.count() == before - 20
    assert link.website.findings.filter(status="false_positive").count() == 5
    assert link.website.findings.filter(status="accepted_risk").count() == 5
    assert pressed < 80


def test_keys_move_read_note_and_select_and_the_queue_keeps_the_focus(open_page, analyst, link):
    page = open_page(user=analyst)
    page.goto(URL)
    second = page.locator(".queue li").nth(1).locator("b").inner_text()
    page.keyboard.press("j")
    heading = page.locator("#finding-title")
    expect(heading).to_have_text(second)
    expect(current(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading).to_be_focused()
    page.keyboard.press("Escape")
    expect(current(page)).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator(".queue li").nth(1).get_by_role("checkbox")).to_be_checked()
    page.keyboard.press("n")
    page.keyboard.type("rjk: keys are text here")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("The note was added.")).to_be_visible()
    expect(page.locator(".note .prose").last).to_have_text("rjk: keys are text here")
    page.keyboard.press("k")
    expect(heading).not_to_have_text(second)
    page.goto(URL)
    page.evaluate("document.body.dataset.loaded = 'once'")
    first = page.locator(".queue li").nth(0).get_by_role("checkbox")
    first.check()
    link_to_third = page.locator(".queue li a").nth(2)
    title = link_to_third.locator("b").inner_text()
    link_to_third.click()
    expect(page.locator("#finding-title")).to_have_text(title)
    expect(page.locator("body[data-loaded=once]")).to_have_count(1)
    expect(first).to_be_checked()
    expect(current(page)).to_be_focused()


def test_the_queue_has_the_focus_as_soon_as_an_answer_is_shown(open_page, analyst, link):
    page = open_page(user=analyst)
    page.goto(URL)
    page.evaluate("""() => addEventListener("htmx:afterSwap", () => setTimeout(() => {
        document.title = document.activeElement.matches(".queue [aria-current]") ? "in the queue" : "lost";
    }))""")
    page.keyboard.press("n")
    page.keyboard.type("seen")
    page.get_by_role("button", name="Add the note").click()
    expect(page).to_have_title("in the queue")


def test_a_key_takes_a_review_back_and_leads_to_the_next_page(open_page, analyst, link, monkeypatch):
    monkeypatch.setattr("dashboard_api.admin.queue.ROWS", 2)
    page = open_page(user=analyst)
    page.goto(URL)
    first = page.locator(".queue li b").first.inner_text()
    page.keyboard.press("r")
    expect(page.locator("#finding-title")).not_to_have_text(first)
    page.get_by_role("link", name="Show it again").click()
    expect(page.locator("#finding-title")).to_have_text(first)
    page.locator("#finding-title").focus()
    page.keyboard.press("u")
    expect(page.get_by_text("The finding is in the queue again.")).to_be_visible()
    expect(current(page).locator("b")).to_have_text(first)
    expect(current(page)).to_be_focused()
    page.keyboard.press("j")
    second = page.locator(".queue li b").nth(1).inner_text()
    expect(page.locator("#finding-title")).to_have_text(second)
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="First findings")).to_be_visible()
    expect(page.locator("#finding-title")).to_have_text(page.locator(".queue li b").first.inner_text())
    expect(current(page)).to_be_focused()


@pytest.mark.parametrize("key", ["r", "j"])
def test_after_the_session_has_ended_a_key_leads_to_the_sign_in_and_back(open_page, analyst, link, key):
    page = open_page(user=analyst)
    page.goto(f"{URL}?severity=2")
    title = page.locator("#finding-title").inner_text()
    second = page.locator(".queue li b").nth(1).inner_text()
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
    sign_in(page, analyst.username)
    expect(page).to_have_url(
        re.compile(r"workbench/\?severity=2$" if key == "r" else r"\?severity=2&finding=\d+")
    )
    expect(page.locator("#finding-title")).to_have_text(title if key == "r" else second)
    assert not link.website.findings.filter(reviewed_at__isnull=False).exists()


def test_a_failure_is_shown_and_the_finding_stays(open_page, analyst, link, watch):
    watch.expect("503")
    page = open_page(user=analyst)
    page.goto(URL)
    page.route("**/decide/", lambda route: route.fulfill(status=503, body="Later."))
    title = page.locator("#finding-title").inner_text()
    page.keyboard.press("r")
    expect(page.get_by_role("alert")).to_contain_text("did not answer as expected")
    expect(page.locator("#finding-title")).to_have_text(title)


@pytest.mark.parametrize("at", ["text field", "radio button", "queue"])
def test_no_key_is_a_command_while_a_form_is_open(open_page, analyst, link, at):
    page = open_page(user=analyst)
    page.goto(URL)
    title = page.locator("#finding-title").inner_text()
    page.keyboard.press("f")
    text_field = page.get_by_label("In your own words").locator("visible=true")
    expect(text_field).to_be_focused()
    if at == "radio button":
        page.keyboard.press("Shift+Tab")
        expect(page.locator("[type=radio]:focus")).to_have_count(1)
    elif at == "queue":
        current(page).focus()
    page.keyboard.type("real jnx2")
    expect(page.locator("details[open] form")).to_have_count(1)
    expect(page.locator("#finding-title")).to_have_text(title)
    expect(page.locator(".queue [type=checkbox]:checked")).to_have_count(0)
    expect(text_field).to_have_value("real jnx2" if at == "text field" else "")
    page.keyboard.press("Escape")
    expect(page.locator("details[open] form")).to_have_count(0)
    expect(current(page)).to_be_focused()
    assert not link.website.findings.filter(reviewed_at__isnull=False).exists()


def test_control_and_enter_save_a_form_from_any_field_and_a_refusal_keeps_it_open(open_page, analyst, link):
    page = open_page(user=analyst)
    page.goto(URL)
    page.keyboard.press("f")
    page.locator("details[open] [type=radio]").last.check()
    page.keyboard.press("Control+Enter")
    expect(page.locator("details[open] .errorlist")).to_be_visible()
    expect(page.locator("details[open] [type=text]").first).to_be_focused()
    page.goto(URL)
    title = page.locator("#finding-title").inner_text()
    page.locator("summary").filter(has_text="Accept the risk").click()
    expect(page.get_by_label("In your own words").locator("visible=true")).to_be_focused()
    page.keyboard.type("agreed in May")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#finding-title")).not_to_have_text(title)
    decided = link.website.findings.get(title=title)
    assert decided.status == "accepted_risk"
    assert decided.events.latest("pk").reason.endswith("agreed in May")


def test_without_scripts_everything_is_a_link_or_a_form(open_page, analyst, link):
    page = open_page(user=analyst, java_script_enabled=False)
    page.goto(URL)
    page.locator(".queue li a").nth(1).click()
    title = page.locator("#finding-title").inner_text()
    page.locator("summary").filter(has_text="Accept the risk").click()
    page.get_by_role("button", name="Accept the risk").click()
    expect(page.locator("#finding-title")).not_to_have_text(title)
    assert link.website.findings.get(title=title).status == "accepted_risk"
    page.get_by_role("button", name="Reviewed").click()
    assert link.website.findings.filter(reviewed_at__isnull=False).count() == 2


def test_the_workbench_is_accessible_in_every_look(tour, analyst, link):
    worst = make_finding(
        link.website, severity=4, title="Schwachstellenmanagement" * 9, evidence="GET /" + "y" * 900, cwe=[89]
    )
    page = tour.open(user=analyst)
    page.goto(URL)
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    tour.look(page, f"the workbench with {worst.pk}")
    tour.visit(page, f"{URL}?severity=0", f"{URL}?queue=all&website=shop")


def test_an_analyst_sees_the_website_as_its_customer_does(tour, analyst, website, watch):
    names = ("see_as_customer", "view_account")
    analyst.user_permissions.add(*Permission.objects.filter(codename__in=names))
    page = tour.open(user=analyst)
    page.goto(URL)
    page.locator(f"a[href*='/{website.host}/?account=']").first.click()
    expect(page.get_by_text(website.account.ref).first).to_be_visible()
    expect(page.locator("#finding-list .finding-row").first).to_be_visible()
    tour.look(page, "a website as its customer sees it")
    page.locator("#finding-list .finding-row a").first.click()
    expect(page.locator("#the-finding")).to_be_visible()
    tour.look(page, "a finding as its customer sees it")
