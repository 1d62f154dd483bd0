"""Questions and disputes in the admin: by keyboard alone, without scripts, and accessible."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import expect

from dashboard_api.decisions import cases
from dashboard_api.models import Case, Message
from tests.dashboard_api.disputes import answer, ask, dispute
from tests.factories import make_account, make_link, make_user, make_website

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
URL = "/admin/dashboard_api/case/workbench/"
ANALYST = ("view_case", "view_finding", "change_finding", "view_account", "add_standingdecision")


@pytest.fixture
def analyst(link):
    user = make_user("grace", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=ANALYST))
    return user


@pytest.fixture
def opened(link):
    """Return five disputes and five questions, the first dispute overdue and of three findings."""
    findings = list(link.website.findings.select_related("website").worst_first()[:12])
    long_ago = timezone.now() - timedelta(days=30)
    with transaction.atomic():
        link.account.name = "Shop Ltd"
        link.account.save()
        first = dispute(
            link, *findings[:3], now=long_ago, evidence="$ curl -I https://shop.example.com/\n403"
        )
        rest = [dispute(link, finding) for finding in findings[3:7]]
        questions = [ask(link, finding, by=f"user-{finding.pk}") for finding in findings[7:12]]
    return [first, *rest, *questions]


def current(page):
    return page.locator(".queue [aria-current]")


def test_an_analyst_clears_ten_questions_and_disputes_with_the_keyboard_alone(open_page, analyst, opened):
    page = open_page(user=analyst)
    page.goto(URL)
    expect(current(page)).to_be_focused()
    for number, case in enumerate(opened):
        row = page.locator(f"#case-{case.pk}")
        expect(row).to_be_focused()
        if case.kind == "question":
            page.keyboard.press("r")
            page.keyboard.type(f"See page {number}.")
            page.keyboard.press("Alt+Digit1")
        elif number == 0:
            page.keyboard.press("a")
            page.keyboard.type("Thank you!")
        else:
            page.keyboard.press(str(number + 2))  # a sentence: of Disagree, or of Ask
        page.keyboard.press("Control+Enter")
        expect(row).to_have_count(0)
    expect(page.get_by_role("heading", name="Nothing to answer")).to_be_visible()
    outcomes = list(Case.objects.order_by("pk").values_list("outcome", flat=True))
    assert outcomes == ["agreed", *["disagreed"] * 3, "", *["answered"] * 5]  # an empty one: asked
    texts = list(Message.objects.filter(side="analyst").order_by("pk").values_list("text", flat=True))
    assert texts[0] == "Thank you!"
    assert texts[1] == "We checked it by hand and can reproduce the problem."
    assert texts[5] == "See page 5. The page of the finding says how to fix it."


def test_keys_move_read_and_open_the_finding(open_page, analyst, opened):
    page = open_page(user=analyst)
    page.goto(URL)
    title = page.locator("#finding-title")
    first = title.inner_text()
    page.keyboard.press("j")
    expect(title).not_to_have_text(first)
    page.keyboard.press("k")
    expect(title).to_have_text(first)
    page.keyboard.press("Enter")
    expect(title).to_be_focused()
    page.keyboard.press("d")
    page.keyboard.type("4 a")
    expect(page.get_by_label("What the customer reads").locator("visible=true")).to_have_value("4 a")
    page.keyboard.press("Escape")
    expect(current(page)).to_be_focused()
    page.keyboard.press("o")
    expect(page.get_by_role("heading", level=1)).to_have_text("Workbench")
    expect(page.locator("#finding-title")).to_have_text(first)


def test_a_decision_that_a_colleague_made_first_is_named_and_the_text_stays(open_page, analyst, opened):
    page = open_page(user=analyst)
    page.goto(URL)
    page.keyboard.press("a")
    page.keyboard.type("You are right.")
    cases.disagree(opened[0], by="bob", person="", text="It is real.", now=timezone.now())
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("It was closed meanwhile by bob: disagreed.")).to_be_visible()
    expect(page.get_by_label("What the customer reads")).to_have_value("You are right.")
    expect(page.get_by_label("What the customer reads")).to_be_focused()


def test_a_click_inserts_a_sentence_at_the_cursor(open_page, analyst, opened):
    page = open_page(user=analyst)
    page.goto(URL)
    page.locator("summary").filter(has_text="Ask").click()
    field = page.get_by_label("What the customer reads").locator("visible=true")
    expect(field).to_be_focused()
    page.keyboard.type("Hello!")
    page.get_by_role("button", name="Please tell us which version you use").click()
    expect(field).to_have_value("Hello! Please tell us which version you use, and since when.")
    expect(field).to_be_focused()


def test_without_scripts_everything_is_a_link_or_a_form(open_page, analyst, opened):
    page = open_page(user=analyst, java_script_enabled=False)
    page.goto(URL)
    page.locator(".queue li a").nth(1).click()
    page.locator("summary").filter(has_text="Disagree").click()
    page.get_by_role("button", name="If you do not want to fix it").click()
    page.get_by_role("button", name="Disagree").last.click()
    opened[1].refresh_from_db()
    assert opened[1].decision == "If you do not want to fix it, you can accept the risk."
    page.get_by_role("link", name="All questions and disputes").click()
    page.locator("#result_list tbody a").first.click()
    expect(page.locator("#finding-title")).to_be_visible()


def test_the_pages_are_accessible_in_every_look(staff_tour, analyst, opened, link):
    finding = link.website.findings.last()
    finding.rule = finding.title = "Schwachstellenmanagement" * 9
    finding.save()
    with transaction.atomic():
        case = dispute(link, finding)
        cases.agree(case, by="bob", person="", text="y" * 900, now=timezone.now())
        answer(link, link.website.findings.filter(status="open").last(), act="fixed", by="", name="Robin")
        make_link(make_account("acct_0009"), link.website)
        make_website("other.example.org")
    page = staff_tour.open(user=analyst)
    tables = (f"/admin/dashboard_api/case/{name}" for name in ("", "said-fixed/", "disputed-rules/"))
    staff_tour.visit(page, f"{URL}?case={case.pk}", f"{URL}?show=asked", *tables)
    page.goto(URL)
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    staff_tour.look(page, "the queue with every form")
