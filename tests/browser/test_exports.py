"""Taking it along: with progress and an honest end, and by the browser alone where there is no script."""

import csv
import json
import re
import threading

import pytest
from playwright.sync_api import expect

from portal import service
from portal.exports import files
from portal.gateway import Unreachable
from tests.browser.looks import barriers
from tests.browser.steps import PATH, facet, findings, status
from tests.factories import make_finding

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OFFERS = "Take it with you"


def offer(page, name):
    if not page.get_by_role("link", name=name).is_visible():
        page.get_by_text(OFFERS).click()
    return page.get_by_role("link", name=name)


def progress(page):
    return page.locator("#taking")


@pytest.fixture
def many(link):
    """Enough for a second page of a file."""
    for _ in range(100):
        make_finding(link.website)


@pytest.mark.parametrize(("name", "suffix"), [("CSV", "csv"), ("JSON", "json"), ("SARIF", "sarif")])
def test_a_file_of_the_filters_is_saved_and_said_to_be(dashboard, many, name, suffix):
    facet(dashboard, "High 12").click()
    expect(findings(dashboard)).to_have_count(12)
    with dashboard.expect_download() as download:
        offer(dashboard, name).click()
    assert re.fullmatch(
        rf"shop\.example\.com-findings-[\d-]{{10}}\.{suffix}", download.value.suggested_filename
    )
    text = download.value.path().read_text("utf-8-sig")
    assert text.count('Cross-site scripting in form 1"') == 1
    assert "SQL injection" not in text
    expect(progress(dashboard)).to_contain_text("The file was saved.")
    expect(status(dashboard)).to_have_text("The file was saved.")
    expect(dashboard).to_have_url(f"{PATH}?severity=High")


def test_a_file_of_several_pages_is_whole(dashboard, many):
    with dashboard.expect_download() as download:
        offer(dashboard, "CSV").click()
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.reader(file))) == 146


def test_a_file_that_breaks_off_is_not_saved_and_the_page_says_so(dashboard, many, monkeypatch):
    def ask(website, question):
        if question.page == 2:
            raise Unreachable
        return asked(website, question)

    asked = service.get_dashboard
    monkeypatch.setattr(service, "get_dashboard", ask)
    saved = []
    dashboard.on("download", lambda download: saved.append(download.suggested_filename))
    offer(dashboard, "CSV").click()
    expect(progress(dashboard)).to_contain_text("The download broke off")
    expect(status(dashboard)).to_contain_text("Nothing was saved")
    expect(findings(dashboard)).to_have_count(20)
    assert saved == []

    monkeypatch.undo()
    with dashboard.expect_download():
        offer(dashboard, "CSV").click()
    expect(progress(dashboard)).to_contain_text("The file was saved.")


def test_what_is_too_much_is_said_where_it_was_asked_for(dashboard, many, monkeypatch, watch):
    watch.expect("422")
    monkeypatch.setattr(files, "MAX_ROWS", 100)
    offer(dashboard, "CSV").click()
    expect(progress(dashboard)).to_contain_text("Your filters find more than 100 findings")
    expect(progress(dashboard)).to_contain_text("Narrow the findings")
    expect(findings(dashboard)).to_have_count(20)
    dashboard.get_by_role("heading", level=1).click()
    expect(progress(dashboard)).to_be_hidden()


def test_a_connection_that_is_gone_saves_nothing(dashboard, watch):
    watch.expect("net::ERR_INTERNET_DISCONNECTED")
    dashboard.context.set_offline(True)
    offer(dashboard, "JSON").click()
    expect(progress(dashboard)).to_contain_text("The download broke off")


def test_a_file_can_be_cancelled(dashboard, many, monkeypatch):
    def ask(website, question):
        if question.page == 2:
            is_over.wait(10)
        return asked(website, question)

    is_over = threading.Event()
    asked = service.get_dashboard
    monkeypatch.setattr(service, "get_dashboard", ask)
    offer(dashboard, "CSV").click()
    expect(progress(dashboard)).to_be_visible()
    progress(dashboard).get_by_role("button", name="Cancel").click()
    expect(progress(dashboard)).to_be_hidden()
    expect(offer(dashboard, "CSV")).to_be_focused()
    is_over.set()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_says_how_far_it_is_has_no_barriers(open_page, owner, many, monkeypatch, scheme):
    def ask(website, question):
        if question.page == 2:
            is_over.wait(30)
            raise Unreachable
        return asked(website, question)

    is_over = threading.Event()
    asked = service.get_dashboard
    monkeypatch.setattr(service, "get_dashboard", ask)
    page = open_page(user=owner, color_scheme=scheme, viewport={"width": 320, "height": 640})
    page.goto(PATH)
    offer(page, "CSV").click()
    expect(page.get_by_role("progressbar", name="Getting the file")).to_be_visible()
    assert barriers(page) == []
    is_over.set()
    expect(progress(page)).to_contain_text("The download broke off")
    # Axe cannot tell what is behind words that lie over others; here it is the box's own, opaque colour.
    assert [it for it in barriers(page) if "partially overlaps other elements" not in it[2]] == []


def test_a_session_that_is_over_leads_to_the_sign_in(dashboard):
    dashboard.context.clear_cookies()
    offer(dashboard, "CSV").click()
    expect(dashboard.get_by_label("Password", exact=True)).to_be_visible()
    assert "findings.csv" in dashboard.url


def test_without_javascript_the_browser_saves_the_file(open_page, owner):
    page = open_page(user=owner, java_script_enabled=False)
    page.goto(f"{PATH}?severity=Critical")
    with page.expect_download() as download:
        offer(page, "JSON").click()
    told = json.loads(download.value.path().read_text())
    assert (len(told["threats"]), told["complete"]) == (1, True)


def test_without_javascript_what_is_too_much_is_a_screen(open_page, owner, monkeypatch, watch):
    watch.expect("422")
    monkeypatch.setattr(files, "MAX_ROWS", 10)
    page = open_page(user=owner, java_script_enabled=False)
    page.goto(PATH)
    offer(page, "CSV").click()
    expect(page.get_by_role("heading", name="Too many findings for one file")).to_be_visible()
    page.get_by_role("link", name="Back to the findings").click()
    expect(page).to_have_url(PATH)


def test_a_report_of_the_filters_is_printed_without_what_leads_elsewhere(dashboard):
    facet(dashboard, "High 12").click()
    expect(findings(dashboard)).to_have_count(12)
    offer(dashboard, "Report to print").click()
    expect(dashboard).to_have_url(f"{PATH}report/?severity=High")
    expect(dashboard.get_by_role("heading", level=3)).to_have_count(12)
    dashboard.evaluate("window.print = () => document.title = 'printed'")
    dashboard.get_by_role("button", name="Print").click()
    expect(dashboard).to_have_title("printed")
    dashboard.emulate_media(media="print")
    expect(dashboard.get_by_role("heading", level=1)).to_have_text("Security report: shop.example.com")
    expect(dashboard.get_by_text("Severity: High")).to_be_visible()
    for gone in (dashboard.get_by_role("banner"), dashboard.get_by_role("link", name="Report as PDF")):
        expect(gone).to_be_hidden()


def test_a_pdf_is_saved_from_the_report(dashboard):
    dashboard.goto(f"{PATH}report/?severity=Critical")
    with dashboard.expect_download() as download:
        dashboard.get_by_role("link", name="Report as PDF").click()
    assert download.value.path().read_bytes().startswith(b"%PDF-")
