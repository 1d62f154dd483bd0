"""Handing a finding over: from the sign-in to a share link, and what people without an account see."""

import re

import pytest
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import expect

from dashboard_api.answers import settling
from dashboard_api.models import ScanJob, Severity
from portal.models import IssueTracker
from tests.browser.steps import PATH, expect_image, findings
from tests.factories import make_finding, make_membership, make_occurrence, make_source, make_user

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


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_a_developer_says_i_fixed_it_without_signing_in_and_the_owner_sees_the_retest(
    open_page, owner, link, settings, javascript
):
    settings.CRAWLER_ENABLED = True
    finding = make_finding(link.website, source=make_source("essentials"), title="A missing header")
    ours, developer = (open_page(user=user, java_script_enabled=javascript) for user in (owner, None))
    ours.goto(f"{PATH}findings/{finding.pk}/")
    ours.get_by_label("Allow “I fixed it”").check()
    button(ours, "Create share link").click()
    developer.goto(ours.get_by_label("Share link", exact=True).input_value())
    expect(developer.get_by_text("A scan checks it at once")).to_be_visible()
    developer.get_by_role("link", name="I fixed it").click()
    developer.get_by_label("Your name (optional)").fill("Dev")
    button(developer, "Yes, it is fixed").click()
    expect(developer.get_by_text("A scan that checks it is waiting.")).to_be_visible()
    ours.goto(f"{PATH}findings/{finding.pk}/check/")
    expect(ours.get_by_text("Retesting.")).to_be_visible()

    now = timezone.now()
    finding.status, finding.fixed_at = "fixed", now
    finding.save()
    ScanJob.objects.update(state="finished", outcome="gone", started_at=now, ended_at=now)
    with transaction.atomic():
        settling.settle(link.website_id, now)
    developer.get_by_role("link", name="Reload to see the result").click()
    expect(developer.get_by_text("A scan no longer finds it.")).to_be_visible()
    ours.goto(f"{PATH}findings/{finding.pk}/")
    expect(ours.get_by_text("Fixed", exact=True).first).to_be_visible()


def test_an_owner_reads_the_evidence_before_sharing_it(open_page, owner, link):
    page = open_page(user=owner)
    page.goto(f"{PATH}findings/{link.website.findings.get(title=WORST).pk}/")
    page.get_by_role("link", name="Preview").click()
    expect(page.get_by_role("heading", name="What readers see if you include the evidence")).to_be_visible()
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
    page.get_by_label("Include evidence").check()
    button(page, "Create share link").click()
    expect(page.get_by_text("They also see the evidence.")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_the_first_problem_is_shared_with_four_clicks_from_the_sign_in(open_page, owner, link, javascript):
    for number in range(2):
        make_finding(
            link.website,
            source=make_source("wapiti"),
            rule="SQL Injection",
            title=f"Injection {number}",
            severity=Severity.CRITICAL,
        )
    page, clicks = open_page(java_script_enabled=javascript), Clicks()
    page.goto("/accounts/login/")
    page.get_by_label("User name or e-mail address").fill(owner.username)
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    clicks.on(button(page, "Sign in"))
    clicks.on(page.get_by_role("main").get_by_role("link", name="shop.example.com"))
    clicks.on(
        page.get_by_role("region", name="Do first").get_by_role("link", name="SQL injection", exact=True)
    )
    expect(page.get_by_role("paragraph").filter(has_text="Pass values to SQL")).to_be_in_viewport()
    expect(page.get_by_text("Copy as Markdown")).to_be_visible()
    clicks.on(button(page, "E-mail with a share link"))
    address = page.get_by_label("Share link", exact=True).input_value()
    expect(page.get_by_role("link", name="E-mail")).to_have_attribute("href", re.compile("^mailto:"))
    assert clicks.count <= MAX_CLICKS

    stranger = open_page(java_script_enabled=javascript)
    stranger.goto(address)
    shared = stranger.get_by_role("list", name="Findings").get_by_role("listitem")
    expect(shared).to_have_count(2)
    expect(stranger.get_by_role("heading", name="SQL injection", level=1)).to_be_visible()
    expect(stranger.get_by_text("Pass values to SQL")).to_be_visible()


def test_the_other_locations_of_a_finding_are_not_larger_than_its_title(open_page, owner, link):
    for number in range(2):
        finding = make_finding(
            link.website,
            rule="Injection",
            title=f"Injection {number}",
            severity=Severity.CRITICAL,
            locations_count=2,
        )
        for location in (finding.location, "https://shop.example.com/other"):
            make_occurrence(finding, location)
    ours, stranger = open_page(user=owner), open_page()
    ours.goto(PATH)
    ours.get_by_role("region", name="Do first").get_by_role("link", name=re.compile("^Injection")).click()
    button(ours, "Create share link").click()
    stranger.goto(ours.get_by_label("Share link", exact=True).input_value())
    title, other = (
        found.first.evaluate("it => parseFloat(getComputedStyle(it).fontSize)")
        for found in (stranger.locator("h3"), stranger.get_by_text("More locations", exact=True))
    )
    assert other <= title


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


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_a_list_is_shared_with_its_filters(open_page, owner, website, javascript):
    ours, theirs = (open_page(user=user, java_script_enabled=javascript) for user in (owner, None))
    ours.goto(f"{PATH}?severity=High")
    ours.get_by_text("Export", exact=True).click()
    ours.get_by_label("Valid for").select_option("30 days")
    button(ours, "Create share link").click()
    theirs.goto(ours.get_by_label("Share link", exact=True).input_value())
    shared = theirs.get_by_role("list", name="Findings").get_by_role("listitem")
    expect(shared).to_have_count(12)
    expect(shared.first).to_contain_text("Cross-site scripting in form")
    expect(theirs.get_by_text(WORST)).to_have_count(0)
    ours.get_by_role("link", name="Back to the findings").click()
    expect(ours).to_have_url(f"{PATH}?severity=High")


def test_an_owner_names_an_issue_tracker_and_opens_an_issue_in_a_new_tab(open_page, owner, link):
    page = open_page(user=owner)
    page.goto("/shares/")
    page.get_by_label("Address of the project").fill("https://github.com/a/b/issues")
    button(page, re.compile("^Save")).click()
    expect(page.get_by_role("status")).to_contain_text("is saved")
    page.goto(f"{PATH}findings/{link.website.findings.get(title=WORST).pk}/")
    issue = page.get_by_role("link", name="New issue in GitHub (opens in a new tab)")
    expect(issue).to_have_attribute(
        "href", re.compile(r"^https://github\.com/a/b/issues/new\?title=SQL%20inj")
    )
    expect(issue).to_have_attribute("rel", "noopener noreferrer")


def test_the_actions_stay_in_sight_and_cover_no_focus(open_page, owner, link):
    finding = link.website.findings.get(title=WORST)
    for number in range(40):
        make_occurrence(finding, f"https://shop.example.com/{number}", evidence="x" * 300)
    page = open_page(user=owner, viewport={"width": 1280, "height": 800})
    page.goto(f"{PATH}findings/{finding.pk}/")
    page.evaluate("scrollTo(0, 800)")
    expect(button(page, "Create share link")).to_be_in_viewport()
    actions = page.locator(".hand-over").bounding_box()
    page.locator(".locations summary").nth(30).focus()
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        box = page.locator(":focus").bounding_box()
        assert box["y"] >= actions["y"] + actions["height"]


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


@pytest.mark.slow
def test_these_pages_in_every_look(tour, owner, website, link, watch):
    finding = link.website.findings.get(title=WORST)
    for number in range(3):
        make_occurrence(finding, f"https://shop.example.com/{'z' * 200}/{number}", evidence="w" * 300)
    finding.cwe, finding.cve, finding.locations_count = [89], ["CVE-2024-12345"], 5
    finding.save()
    IssueTracker.objects.create(account=website.account, kind="github", url="https://github.com/a/b")
    ours, theirs = tour.open(user=owner), tour.open()
    tour.visit(ours, f"{PATH}findings/{finding.pk}/")
    tour.visit(ours, f"{PATH}findings/{finding.pk}/share/")
    ours.locator("main [name=evidence]").check()
    ours.locator("main [name=fixed]").check()
    ours.locator("main form .primary").click()
    address = ours.locator("#share-link").input_value()
    tour.look(ours, "created")
    tour.visit(theirs, address, f"{address}fixed/")
    theirs.locator("main form .primary").click()
    tour.look(theirs, "said to be fixed")
    finding.refresh_from_db()
    tour.visit(ours, f"{PATH}?problem={finding.problem}")
    ours.locator("main [name=evidence]").check()
    ours.locator("main [name=way]").click()
    tour.look(ours, "created for an e-mail")
    tour.visit(theirs, ours.locator("#share-link").input_value())
    ours.goto(f"{PATH}?severity=High")
    ours.locator(".export-links summary").click()
    ours.locator(".export-links form .primary").click()
    listed = ours.locator("#share-link").input_value()
    tour.visit(theirs, listed)
    tour.visit(ours, "/shares/")
    ours.locator("[name=url]").fill("https://code.example.com/a/b")
    ours.locator("form:has([name=url]) button").click()
    tour.look(ours, "tracker refused")
    viewer = make_user("viewer")
    make_membership(viewer, website.account, "viewer")
    tour.visit(tour.open(user=viewer), "/shares/", f"{PATH}findings/{finding.pk}/")
    ours.goto("/shares/")
    ours.locator("main form button").first.click()
    tour.look(ours, "revoked")
    watch.expect("404")
    tour.visit(theirs, listed)


def test_a_badge_is_switched_on_copied_and_switched_off(open_page, owner, website):
    page = open_page(user=owner)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(PATH)
    page.get_by_text("Export", exact=True).click()
    page.get_by_role("link", name="A badge with your grade").click()
    page.get_by_role("button", name="Switch the badge on").click()
    picture = page.get_by_role("img", name="Your badge")
    expect_image(picture)
    page.get_by_role("button", name="Copy Markdown").click()
    expect(page.locator("#status")).to_have_text("Copied")
    assert "![Security grade](" in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Switch off").click()
    expect(picture).to_have_count(0)


def test_the_page_of_a_badge_in_every_look(tour, owner, website):
    page = tour.open(user=owner)
    tour.visit(page, f"{PATH}badge/")
    page.locator("button[value=on]").click()
    tour.look(page, "badge that is on")
