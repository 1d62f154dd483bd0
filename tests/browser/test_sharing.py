"""Handing a finding over: from the sign-in to a share link, and what people without an account see."""

import re

import pytest
from playwright.sync_api import expect

from portal.models import IssueTracker
from tests.browser.steps import PATH, findings
from tests.factories import make_membership, make_occurrence, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORST = "SQL injection in the list of orders"
MAX_CLICKS = 4  # from the sign-in to a share link


class Clicks:
    """Clicks on a page, each counted."""

    def __init__(self):
        self.count = 0

    def on(self, locator):
        self.count += 1
        locator.click()


def button(page, name):
    return page.get_by_role("main").get_by_role("button", name=name, exact=True)


def share(page, link):
    """Create a share link of the worst finding, and return its address."""
    page.goto(f"{PATH}findings/{link.website.findings.get(title=WORST).pk}/")
    button(page, "Create share link").click()
    return page.get_by_label("Share link", exact=True).input_value()


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_a_share_link_is_four_clicks_from_the_sign_in(open_page, owner, link, javascript):
    page, clicks = open_page(java_script_enabled=javascript), Clicks()
    page.goto("/accounts/login/")
    page.get_by_label("User name or e-mail address").fill(owner.username)
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    clicks.on(button(page, "Sign in"))
    clicks.on(page.get_by_role("main").get_by_role("link", name="shop.example.com"))
    clicks.on(findings(page).get_by_role("link", name=WORST))
    clicks.on(button(page, "Create share link"))
    address = page.get_by_label("Share link", exact=True)
    expect(address).to_have_value(re.compile(r"/s/[\w-]{43}/$"))
    assert clicks.count <= MAX_CLICKS

    stranger = open_page(java_script_enabled=javascript)
    stranger.goto(address.input_value())
    expect(stranger.get_by_role("heading", name=WORST, level=1)).to_be_visible()
    expect(stranger.get_by_text("Change it.")).to_be_visible()
    expect(stranger.get_by_text("<script>alert(1)</script>")).to_have_count(0)
    expect(stranger.get_by_text("by hand")).to_have_count(0)
    assert stranger.context.cookies() == []


def test_a_revoked_link_ends_and_the_list_says_so(open_page, owner, link, watch):
    ours, theirs = open_page(user=owner), open_page()
    address = share(ours, link)
    theirs.goto(address)
    ours.get_by_role("link", name="All share links").click()
    row = ours.get_by_role("listitem").filter(has_text=WORST)
    expect(row).to_contain_text("Last opened")
    button(ours, f"Revoke the link to {WORST}").click()
    expect(ours.get_by_role("status")).to_have_text("The link no longer works.")
    watch.expect("404")
    theirs.reload()
    expect(theirs.get_by_role("heading", name="This link does not work")).to_be_visible()


def test_a_finding_is_copied_as_markdown(open_page, owner, link):
    page = open_page(user=owner, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{PATH}findings/{link.website.findings.get(title=WORST).pk}/")
    page.get_by_text("Copy as Markdown").click()
    button(page, "Copy").click()
    expect(button(page, "Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"# {WORST}\n")
    assert "## How to fix it\n\nChange it." in copied


def test_without_permission_to_copy_the_text_is_selected(open_page, owner, link):
    page = open_page(user=owner)
    page.goto(f"{PATH}findings/{link.website.findings.get(title=WORST).pk}/")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.get_by_text("Copy as Markdown").click()
    button(page, "Copy").click()
    expect(page.get_by_label("This finding as Markdown")).to_be_focused()


def test_these_pages_in_every_look(tour, owner, website, link, watch):
    finding = link.website.findings.get(title=WORST)
    for number in range(3):
        make_occurrence(finding, f"https://shop.example.com/{'z' * 200}/{number}", evidence="w" * 300)
    finding.cwe, finding.cve, finding.locations_count = [89], ["CVE-2024-12345"], 5
    finding.save()
    IssueTracker.objects.create(account=website.account, kind="github", url="https://github.com/a/b")
    ours, theirs = tour.open(user=owner), tour.open()
    tour.visit(ours, f"{PATH}findings/{finding.pk}/")
    ours.locator("main [name=evidence]").check()
    ours.locator(".hand-over form .primary").click()
    address = ours.locator("#share-link").input_value()
    tour.look(ours, "created")
    tour.visit(theirs, address)
    tour.visit(ours, "/shares/")
    viewer = make_user("viewer")
    make_membership(viewer, website.account, "viewer")
    tour.visit(tour.open(user=viewer), "/shares/", f"{PATH}findings/{finding.pk}/")
    ours.goto("/shares/")
    ours.locator("main form button").first.click()
    tour.look(ours, "revoked")
    watch.expect("404")
    tour.visit(theirs, address)
