"""A finding: opened from the list, by its own URL, and closed again."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PATH, chip, facet, findings, search_box, status, the_finding
from tests.factories import make_finding, make_occurrence, make_website

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WORST = "SQL injection in the list of orders"


@pytest.fixture
def worst(link):
    return link.website.findings.get(title=WORST)


@pytest.fixture
def opened(dashboard, worst):
    """Return the page with the worst finding open."""
    findings(dashboard).get_by_role("link", name=WORST).click()
    expect(the_finding(dashboard)).to_be_visible()
    return dashboard


def test_a_finding_opens_in_place_with_its_details_and_its_note(dashboard, worst):
    dashboard.evaluate("window.same = true")
    findings(dashboard).get_by_role("link", name=WORST).click()
    finding = the_finding(dashboard)
    for text in (f"About {WORST.lower()}.", "Change it.", "<script>alert(1)</script>"):
        expect(finding.get_by_text(text, exact=True)).to_be_visible()
    expect(finding.locator("strong")).to_have_text("by hand")
    expect(finding.get_by_role("link", name="example.com/advice")).to_have_attribute(
        "rel", "noopener noreferrer"
    )
    expect(dashboard.get_by_text("Only for us.")).to_have_count(0)
    expect(dashboard).to_have_url(f"{PATH}findings/{worst.pk}/")
    expect(dashboard).to_have_title(f"{WORST} – shop.example.com – Threat Dashboard")
    expect(status(dashboard)).to_have_text(WORST)
    expect(dashboard.get_by_role("heading", name=WORST)).to_be_focused()
    assert dashboard.evaluate("window.same")


def test_back_shows_the_same_list_and_forward_the_finding(dashboard, worst):
    facet(dashboard, "Confirmed 33").click()
    expect(chip(dashboard, "Confidence: Confirmed")).to_be_visible()
    findings(dashboard).get_by_role("link", name=WORST).click()
    expect(dashboard).to_have_url(f"{PATH}findings/{worst.pk}/?kind=confirmed")
    dashboard.go_back()
    expect(dashboard).to_have_url(f"{PATH}?kind=confirmed")
    expect(findings(dashboard)).to_have_count(20)
    expect(chip(dashboard, "Confidence: Confirmed")).to_be_visible()
    dashboard.go_forward()
    expect(the_finding(dashboard)).to_be_visible()
    dashboard.reload()
    expect(the_finding(dashboard)).to_be_visible()


def test_the_back_link_focuses_the_row_of_the_finding(dashboard):
    dashboard.goto(f"{PATH}?severity=Medium")
    row = findings(dashboard).last.get_by_role("link")
    name = row.text_content()
    row.click()
    expect(the_finding(dashboard)).to_contain_text(name)
    dashboard.get_by_role("link", name="All findings").click()
    expect(dashboard).to_have_url(f"{PATH}?severity=Medium")
    expect(findings(dashboard).get_by_role("link", name=name, exact=True)).to_be_focused()
    expect(findings(dashboard).last).to_be_in_viewport()


def test_a_finding_opens_by_the_keyboard(dashboard):
    findings(dashboard).first.get_by_role("link").focus()
    dashboard.keyboard.press("Enter")
    expect(dashboard.get_by_role("heading", name=WORST, level=2)).to_be_focused()


def test_a_search_leads_from_a_finding_to_the_list(opened):
    search_box(opened).fill("library")
    expect(opened).to_have_url(f"{PATH}?query=library")
    expect(findings(opened)).to_have_count(20)
    opened.go_back()
    expect(the_finding(opened)).to_be_visible()


def test_a_shared_link_shows_the_finding(open_page, owner, worst):
    for number in range(3):
        make_occurrence(worst, f"https://shop.example.com/orders/{number}", evidence=f"row {number}")
    page = open_page(user=owner)
    page.goto(f"{PATH}findings/{worst.pk}/")
    places = the_finding(page).get_by_role("list").filter(has_text="orders/0").get_by_role("listitem")
    expect(places).to_have_count(3)
    places.nth(1).get_by_text("Evidence here").click()
    expect(places.nth(1).get_by_text("row 1")).to_be_visible()
    page.get_by_role("link", name="All findings").click()
    expect(page).to_have_url(PATH)
    expect(findings(page)).to_have_count(20)


def test_the_link_is_copied_without_filters_or_shown_if_that_is_refused(dashboard, service, worst):
    dashboard.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dashboard.goto(f"{PATH}findings/{worst.pk}/?severity=Critical")
    expect(dashboard.get_by_label("Link to this finding")).to_be_hidden()
    dashboard.get_by_role("button", name="Copy link").click()
    expect(dashboard.get_by_role("button", name="Link copied")).to_be_focused()
    expect(status(dashboard)).to_have_text("Link copied")
    copied = dashboard.evaluate("navigator.clipboard.readText()")
    assert copied == f"{service.url}{PATH}findings/{worst.pk}/"
    dashboard.reload()
    dashboard.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }"
    )
    dashboard.get_by_role("button", name="Copy link").click()
    field = dashboard.get_by_label("Link to this finding")
    expect(field).to_be_visible()
    expect(field).to_be_focused()
    assert dashboard.evaluate("getSelection().toString()") == f"{service.url}{PATH}findings/{worst.pk}/"


def test_a_finding_that_is_not_of_this_website_or_was_deleted_is_an_error_page(dashboard, worst, watch):
    watch.expect("404 (Not Found)")
    worst.delete()
    findings(dashboard).get_by_role("link", name=WORST).click()
    expect(dashboard.get_by_role("heading", name="Finding not found")).to_be_visible()
    expect(dashboard).to_have_url(re.compile("/findings/"))
    other = make_finding(make_website("other.example.com"), title="Of others")
    for finding_id in (other.pk, 10**9):
        dashboard.goto(f"{PATH}findings/{finding_id}/")
        expect(dashboard.get_by_role("heading", name="Finding not found")).to_be_visible()
    dashboard.get_by_role("link", name="All findings").click()
    expect(findings(dashboard)).to_have_count(20)


def test_fixed_findings_have_a_status_filter(dashboard, worst):
    worst.status, worst.fixed_at = "fixed", worst.last_seen
    worst.save()
    dashboard.reload()
    facet(dashboard, "Fixed 1").click()
    expect(dashboard).to_have_url(f"{PATH}?status=fixed")
    expect(findings(dashboard)).to_have_count(1)
    expect(findings(dashboard).first).to_contain_text("Fixed · 1 note")
    expect(chip(dashboard, "Status: Fixed")).to_be_visible()
    expect(facet(dashboard, "False positive 0")).to_be_disabled()
    dashboard.goto(f"{PATH}?status=false_positive")
    expect(dashboard.get_by_role("heading", name="No false positives")).to_be_visible()
    dashboard.get_by_role("link", name="Show open findings").click()
    expect(dashboard).to_have_url(PATH)
    expect(status(dashboard)).to_have_text("44 findings")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_finding_leads_to_the_next_and_the_previous_one(open_page, owner, scripts):
    page = open_page(user=owner, java_script_enabled=scripts)
    page.goto(f"{PATH}?severity=Medium&page_size=50")
    names = [row.text_content() for row in findings(page).get_by_role("link").all()]
    findings(page).get_by_role("link").first.click()
    steps = page.get_by_role("navigation", name="List of findings")
    for name, position in zip(names[:3], ("1 of 20", "2 of 20", "3 of 20"), strict=True):
        expect(the_finding(page).get_by_role("heading", name=name, exact=True)).to_be_visible()
        expect(steps.get_by_text(position)).to_be_visible()
        steps.get_by_role("link", name="Previous" if name == names[2] else "Next").click()
    expect(the_finding(page).get_by_role("heading", name=names[1], exact=True)).to_be_visible()
    steps.get_by_role("link", name="All findings").click()
    expect(page).to_have_url(f"{PATH}?severity=Medium&page_size=50")


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_long_evidence_is_folded_on_the_screen_and_whole_on_paper(
    open_page, owner, worst, java_script_enabled
):
    worst.evidence = "line of the response\n" * 1_000
    worst.save()
    page = open_page(
        user=owner, viewport={"width": 390, "height": 844}, java_script_enabled=java_script_enabled
    )
    page.goto(f"{PATH}findings/{worst.pk}/")
    text = page.locator("pre").filter(has_text="line of the response")
    assert text.bounding_box()["height"] < 500
    page.emulate_media(media="print")
    assert text.bounding_box()["height"] > 10_000
    page.emulate_media(media="screen")
    page.locator(".fold").get_by_text("More").click()
    assert text.bounding_box()["height"] > 10_000
    page.locator(".fold").get_by_text("More").click()
    assert text.bounding_box()["height"] < 500


def test_the_way_to_the_next_finding_stays_in_sight(open_page, owner, worst):
    worst.evidence = "line\n" * 200
    worst.save()
    for viewport in ({"width": 320, "height": 640}, {"width": 1280, "height": 800}):
        page = open_page(user=owner, viewport=viewport)
        page.goto(f"{PATH}findings/{worst.pk}/")
        page.evaluate("scrollTo(0, 2000)")
        expect(page.get_by_role("link", name="Next", exact=True)).to_be_in_viewport()


def test_a_note_links_to_its_finding(dashboard):
    notes = dashboard.get_by_role("region", name="Notes from our analysts")
    notes.get_by_text("More").click()
    expect(notes.locator("strong").last).to_have_text("by hand")
    notes.get_by_role("link", name="about this finding").click()
    expect(dashboard.get_by_role("heading", name=WORST, level=2)).to_be_focused()


def test_times_are_those_of_the_reader(open_page, owner):
    page = open_page(user=owner, timezone_id="America/New_York")
    page.goto("/sites/shop.example.com/")
    shown = page.locator("time[datetime*=T]:not([data-day])").first
    expect(shown).not_to_contain_text("UTC")
    expect(shown).to_have_attribute("title", re.compile(" UTC$"))
    as_by_the_browser = """time => new Date(time.dateTime).toLocaleString("en-GB", {
        day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit"
    }).replace("Sept", "Sep")"""
    expect(shown).to_have_text(shown.evaluate(as_by_the_browser))
