"""The start page and the sample dashboard, as a stranger sees them."""

import re

import pytest
from playwright.sync_api import expect

from portal.answers import service
from signed_api.findings import DashboardRequest
from tests.browser.steps import facet, findings, sign_in, the_finding
from tests.factories import make_portal_account, make_portal_website

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])


@pytest.fixture
def sample(settings, website):
    settings.SAMPLE_WEBSITE = f"{website.account.ref}/{website.host}"
    return website


@SCRIPTS
def test_a_stranger_reads_filters_and_opens_the_sample(open_page, sample, scripts):
    page = open_page(java_script_enabled=scripts)
    page.goto("/")
    page.get_by_role("link", name="See a live sample").click()
    expect(page).to_have_url("/sample/")
    facet(page, "High 12").click()
    expect(page).to_have_url("/sample/?severity=High")
    expect(findings(page)).to_have_count(12)
    findings(page).first.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/sample/findings/\d+/\?severity=High$"))
    expect(the_finding(page).get_by_text("Change it.")).to_be_visible()
    page.get_by_role("link", name="All findings").click()
    expect(page).to_have_url("/sample/?severity=High")


@SCRIPTS
def test_the_start_page_leads_to_the_sign_in_and_members_to_their_websites(open_page, owner, scripts):
    page = open_page(java_script_enabled=scripts)
    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="Sign in").click()
    sign_in(page, owner.username)
    expect(page).to_have_url("/")
    expect(page.get_by_role("heading", name="Websites", level=1)).to_be_visible()


def test_the_start_page_and_the_sample_in_every_look(tour, sample):
    service.get_dashboard(sample, DashboardRequest())
    page = tour.open()
    tour.visit(page, "/", "/sample/", "/sample/?status=fixed")
    page.goto("/sample/")
    page.locator("#finding-list a").first.click()
    expect(the_finding(page)).to_be_visible()
    tour.look(page, "a finding of the sample")


def test_another_website_is_not_there_for_strangers(open_page, sample, watch):
    other = make_portal_website(make_portal_account("acct_0009"), "other.example.com")
    page = open_page()
    for path in (f"/sites/{other.host}/", f"/sites/{sample.host}/"):
        page.goto(path)
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
