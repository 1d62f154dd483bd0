"""Answers in the lists: badges, filters by them, and many findings chosen at once."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from foundation.texts.people import reference_of
from portal.answers import service
from signed_api.answering import AnswerRequest
from signed_api.findings import DashboardRequest
from tests.browser.steps import PATH, chip, facet, findings
from tests.factories import make_membership, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def answered(website, owner):
    """Accept the risk of all suspected findings, dispute one, and let two people fix two each."""
    today = timezone.now().date()
    colleague = make_user("grace")
    make_membership(colleague, website.account, "contributor")

    def answer(act, **fields):
        service.answer(website, AnswerRequest(act=act, by=reference_of(owner.pk), **fields))

    def ids(**filters):
        threats = service.get_dashboard(website, DashboardRequest(**filters)).threats
        return [threat.id for threat in threats]

    answer(
        "accepted", filters={"kind": "suspected"}, reason="Internal only.", until=today + timedelta(days=90)
    )
    medium = ids(severity="Medium")
    mine, theirs = reference_of(owner.pk), reference_of(colleague.pk)
    answer("will_fix", finding_ids=",".join(medium[:2]), due=today + timedelta(days=3), assignee=mine)
    answer("will_fix", finding_ids=",".join(medium[2:4]), due=today + timedelta(days=40), assignee=theirs)
    answer("disputed", finding_ids=medium[4], reason="It is a test page that nobody reaches.")
    return website


def test_the_lists_with_answers_are_accessible_in_every_look(answered, tour, owner):
    page = tour.open(user=owner)
    chosen = f"{PATH}?severity=Medium&due=this_week,later&assignee=me"
    tour.visit(page, "/", PATH, f"{PATH}?view=problems", chosen, f"{PATH}report/")
    page.goto(PATH)
    page.locator("[name=ids]").first.check()
    tour.look(page, "a chosen finding")


def test_a_shortcut_shows_my_findings_and_is_taken_back(answered, dashboard):
    mine = dashboard.get_by_role("list", name="Shortcuts").get_by_role("link", name="Mine 2")
    mine.click()
    expect(dashboard).to_have_url(f"{PATH}?assignee=me")
    expect(findings(dashboard)).to_have_count(2)
    expect(findings(dashboard).first).to_contain_text("Will be fixed")
    expect(chip(dashboard, "Assigned to: Me")).to_be_visible()
    expect(facet(dashboard, "Me 2")).to_have_attribute("aria-current", "true")
    mine.click()
    expect(dashboard).to_have_url(PATH)


def test_accepted_risks_are_hidden_by_one_click_and_back_by_the_history(answered, dashboard):
    dashboard.get_by_role("link", name="Hide accepted risks").click()
    expect(dashboard.get_by_text("33 of 45 findings").first).to_be_visible()
    expect(chip(dashboard, "Answer: all but accepted risks")).to_be_visible()
    dashboard.go_back()
    expect(dashboard).to_have_url(PATH)
    expect(dashboard.get_by_text("45 findings").first).to_be_visible()


def where(page):
    """Return the path and the fields of the address that the page requests next for an answer."""
    parts = urlsplit(page.url)
    return parts.path, parse_qs(parts.query)


@pytest.fixture(params=[True, False], ids=["javascript", "plain"])
def anyhow(request, answered, open_page, owner):
    """The dashboard with and without JavaScript; the page that takes answers is not part of these tests."""
    page = open_page(user=owner, java_script_enabled=request.param)
    page.route(f"**{PATH}answer/**", lambda route: route.fulfill(body="Answer", content_type="text/html"))
    page.goto(f"{PATH}?severity=Medium&kind=confirmed")
    return page


def test_chosen_findings_are_counted_and_answered_together(anyhow):
    button = anyhow.get_by_role("button", name="Answer")
    expect(button).to_be_hidden()
    boxes = anyhow.get_by_role("checkbox", name="Outdated library")
    values = [boxes.nth(number).get_attribute("value") for number in (0, 3)]
    for number in (0, 3):
        boxes.nth(number).check()
    expect(anyhow.locator("#bulk .chosen")).to_be_visible()
    tree = anyhow.context.new_cdp_session(anyhow).send("Accessibility.getFullAXTree")
    spoken = [node["name"]["value"].strip() for node in tree["nodes"] if node.get("name")]
    assert "2" in spoken[spoken.index("Selected:") :][:5]
    button.click()
    assert where(anyhow) == (f"{PATH}answer/", {"ids": values})


def test_all_findings_that_match_are_answered_by_their_filters(anyhow):
    anyhow.get_by_role("link", name="Answer all 20 that match").click()
    assert where(anyhow) == (f"{PATH}answer/", {"severity": ["Medium"], "kind": ["confirmed"]})


def test_a_problem_is_answered_from_its_row(anyhow):
    anyhow.get_by_role("link", name="Problems", exact=True).click()
    row = anyhow.locator("#finding-list .problem-row").filter(has_text="Outdated library 20")
    row.get_by_role("link", name="Answer").click()
    path, fields = where(anyhow)
    assert (path, fields["severity"], len(fields["problem"])) == (f"{PATH}answer/", ["Medium"], 1)


def test_one_box_chooses_all_findings_of_the_page(answered, dashboard):
    every = dashboard.get_by_role("checkbox", name="All on this page")
    every.check()
    expect(dashboard.locator(".pick :checked")).to_have_count(20)
    every.uncheck()
    expect(dashboard.locator(".pick :checked")).to_have_count(0)


def test_a_row_opens_its_finding_and_its_box_does_not(answered, dashboard):
    row = findings(dashboard).first
    row.locator(".pick").click(position={"x": 12, "y": 40})  # a finger lands next to the box
    expect(row.get_by_role("checkbox")).to_be_checked()
    expect(dashboard).to_have_url(PATH)
    row.click()
    expect(dashboard).to_have_url(re.compile(rf"{PATH}findings/\d+/"))
