"""Answers to findings, and the conversation with analysts: to many at once, disputed, answered, read."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from dashboard_api.decisions import cases
from dashboard_api.models import Account, Answer, Case, Kind, Severity
from foundation.texts.people import reference_of
from tests.browser.steps import PATH, findings, the_finding
from tests.factories import make_finding, make_membership, make_source, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def many(link):
    """Return 74 findings of one problem."""
    fields = {"severity": Severity.CRITICAL, "kind": Kind.CONFIRMED, "source": make_source("zap")}
    title = "A password in the address"
    return [
        make_finding(link.website, rule="password-in-url", title=title, remediation="Use a form.", **fields)
        for _number in range(74)
    ]


@pytest.fixture
def answer_page(open_page, owner, link):
    """Return a function that opens the page of a finding."""

    def answer_page(finding=None, **options):
        finding = finding or link.website.findings.get(severity=Severity.CRITICAL)
        page = open_page(user=options.pop("user", owner), **options)
        page.goto(f"{PATH}findings/{finding.pk}/")
        return page

    return answer_page


def box(page):
    return page.get_by_role("region", name=re.compile("What will you do|Your answer|Ihre Antwort"))


def conversation(page):
    return page.get_by_role("region", name="Conversation with our analysts")


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_an_owner_accepts_74_findings_of_one_problem_in_four_clicks(open_page, owner, many, javascript):
    page = open_page(user=owner, java_script_enabled=javascript)
    page.goto(PATH)
    page.get_by_role("region", name="Do first").get_by_role("link", name=many[0].title).click()
    page.get_by_role("link", name="Answer all 74", exact=True).click()
    expect(page.get_by_text("74 open findings")).to_be_visible()
    expect(page.get_by_text("74 Critical")).to_be_visible()
    expect(page.get_by_label("Why")).to_be_hidden()
    page.get_by_label("We accept the risk").check()
    page.get_by_label("Why").fill("The network is closed.")
    page.get_by_role("button", name="Save the answer").click()
    expect(page.get_by_text("Your answer to 74 findings is saved.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?problem=[0-9a-f]{16}$"))
    answers = Answer.objects.open().filter(answer="accepted", by=reference_of(owner.pk))
    assert answers.count() == len(many)
    page.goto(f"{PATH}findings/{many[0].pk}/")
    expect(box(page)).to_contain_text("We accept the risk · until")
    expect(box(page)).to_contain_text("The network is closed.")


def test_a_disputed_finding_is_answered_and_read_where_the_finding_is(answer_page, owner):
    page = answer_page()
    box(page).get_by_label("It is not a problem").check()
    box(page).get_by_label("Why").fill("Too short.")
    box(page).get_by_role("button", name="Save the answer").click()
    expect(page.get_by_text("Write at least 20 characters: an analyst checks it.")).to_be_visible()
    expect(page.get_by_label("Why")).to_have_value("Too short.")
    page.get_by_label("Why").fill("The parameter never reaches the database.")
    page.get_by_label("What shows it").fill("See **orders.py**.")
    page.get_by_role("button", name="Save the answer").click()
    expect(page.get_by_text("Your answer is saved. An analyst answers by")).to_be_visible()
    expect(box(page)).to_contain_text("an analyst answers by")
    expect(conversation(page)).to_contain_text("owner said that it is not a problem")
    expect(conversation(page).locator("strong")).to_have_text("orders.py")

    cases.disagree(
        Case.objects.get(), by="Robin", person="", text="It does: see **line 7**.", now=timezone.now()
    )
    page.reload()
    expect(box(page)).to_contain_text("What will you do?")
    expect(box(page)).to_contain_text("An analyst disagreed")
    expect(box(page)).to_contain_text("It does: see")
    expect(conversation(page)).to_contain_text("Robin disagreed")
    expect(conversation(page)).to_contain_text("line 7")


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_a_member_writes_mentions_a_colleague_and_corrects_it(answer_page, owner, website, javascript):
    make_membership(make_user("robin"), website.account, role="contributor")
    page = answer_page(java_script_enabled=javascript)
    talk = conversation(page)
    talk.get_by_text("Write to our analysts").click()
    talk.get_by_label("Your message").fill("Is this on the shop as well?")
    talk.get_by_text("Mention a member").click()
    if javascript:
        talk.get_by_role("button", name="@robin").click()
        expect(talk.get_by_label("Your message")).to_have_value("Is this on the shop as well? @robin ")
    else:
        talk.get_by_label("Your message").fill("Is this on the shop as well? @robin")
        expect(talk.get_by_role("button", name="@robin")).to_have_count(0)
    talk.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Your message is sent. We answer by")).to_be_visible()
    expect(talk.locator("strong")).to_have_text("@robin")
    talk.get_by_text("Edit", exact=True).click()
    talk.get_by_label("Your message").first.fill("Is this on the blog?")
    talk.get_by_role("button", name="Save the message").click()
    expect(talk).to_contain_text("edited")
    expect(talk.get_by_role("list")).to_contain_text("Is this on the blog?")


def test_a_second_person_confirms_an_accepted_risk(answer_page, owner, website, link):
    Account.objects.filter(pk=link.account_id).update(second_person=True)
    page = answer_page()
    box(page).get_by_label("We accept the risk").check()
    box(page).get_by_label("Why").fill("A test system.")
    box(page).get_by_role("button", name="Save the answer").click()
    expect(box(page)).to_contain_text("waits for a second person")
    expect(box(page).get_by_role("button", name="Confirm")).to_have_count(0)
    other = make_user("robin")
    make_membership(other, website.account, role="manager")
    theirs = answer_page(user=other)
    box(theirs).get_by_role("button", name="Confirm").click()
    expect(theirs.get_by_text("You confirmed that the risk is accepted.")).to_be_visible()
    expect(box(theirs)).to_contain_text("confirmed by robin")


def test_a_viewer_only_reads(answer_page, owner, website, link):
    page = answer_page()
    box(page).get_by_label("We will fix it").check()
    box(page).get_by_role("button", name="Save the answer").click()
    conversation(page).get_by_text("Write to our analysts").click()
    conversation(page).get_by_label("Your message").fill("We are on it.")
    conversation(page).get_by_role("button", name="Send").click()
    viewer = make_user("viewer")
    make_membership(viewer, website.account, role="viewer")
    theirs = answer_page(user=viewer)
    expect(box(theirs)).to_contain_text("We will fix it")
    expect(conversation(theirs)).to_contain_text("We are on it.")
    expect(the_finding(theirs).locator("form")).to_have_count(0)
    theirs.goto(f"{PATH}?severity=Critical")
    expect(findings(theirs)).to_have_count(1)
    expect(theirs.get_by_role("link", name="Answer it")).to_have_count(0)


@pytest.mark.slow
def test_answers_and_conversations_in_every_look(tour, owner, website, link, many):
    finding = link.website.findings.exclude(rule="password-in-url").get(severity=Severity.CRITICAL)
    make_membership(make_user("robin"), website.account, role="contributor")
    page = tour.open(user=owner)
    address = f"{PATH}findings/{finding.pk}/"
    tour.visit(page, address)
    page.goto(address)
    page.locator(".answer-form [value=disputed]").check()
    tour.look(page, "a choice")
    page.locator(".answer-form [name=reason]").fill("Too short.")
    page.locator(".answer-form button").click()
    tour.look(page, "refused")
    page.locator(".answer-form [name=reason]").fill("The parameter never reaches the database.")
    page.locator(".answer-form button").click()
    cases.disagree(Case.objects.get(), by="Robin", person="", text="It does: `line 7`.", now=timezone.now())
    page.goto(address)
    page.locator(".answer-form [value=will_fix]").check()
    page.locator(".answer-form button").click()
    page.locator(".message-form textarea").last.fill("Thank you, @robin fixes it.")
    page.locator(".message-form button.primary").click()
    tour.look(page, "answered")
    tour.visit(page, f"{PATH}answer/?problem={many[0].problem}", f"{PATH}?problem={many[0].problem}")
