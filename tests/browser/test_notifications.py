"""Links of an e-mail: to its finding, and to unsubscribe."""

import re

import pytest
from django.core import mail
from playwright.sync_api import expect

from dashboard_api.models import Severity
from portal.models import Subscription
from tests.browser.steps import sign_in
from tests.commands import run
from tests.factories import make_finding

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def letter(owner, link, service, settings):
    """Return the owner's e-mail about a new finding."""
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://localhost", service.url
    run("notify")
    make_finding(link.website, severity=Severity.CRITICAL, title="Open door")
    run("notify")
    return mail.outbox[-1].body


def link_in(letter, part):
    return re.search(rf"http://\S+{part}\S*", letter)[0]


def test_the_link_of_an_email_leads_through_the_sign_in_to_the_finding(page, letter):
    page.goto(link_in(letter, "/findings/"))
    sign_in(page, "owner")
    expect(page.get_by_role("heading", name="Open door")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_a_member_changes_the_email_settings(open_page, owner, settings, javascript):
    settings.EMAIL_URL = "smtp://localhost"
    page = open_page(user=owner, java_script_enabled=javascript)
    page.goto("/accounts/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Notifications").click()
    page.get_by_label("Send me e-mails").select_option("Once a day, in the morning")
    page.get_by_label("Minimum severity").select_option("Medium")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Your choice for acct_0001 is saved.")
    expect(page.get_by_label("Send me e-mails")).to_have_value("daily")
    expect(page.get_by_label("Minimum severity")).to_have_value("Medium")


def test_the_unsubscribe_link_asks_for_confirmation_without_a_sign_in(page, letter):
    page.goto(link_in(letter, "/notifications/unsubscribe/"))
    assert Subscription.objects.count() == 0
    page.get_by_role("button", name="Unsubscribe").click()
    expect(page.get_by_role("heading", name="You are unsubscribed")).to_be_visible()
    assert Subscription.objects.get().frequency == Subscription.Frequency.NEVER


@pytest.mark.slow
def test_these_pages_in_every_look(tour, letter):
    page = tour.open()
    tour.visit(page, link_in(letter, "/notifications/unsubscribe/"))
    page.locator("main form button").click()
    expect(page.locator("main form")).to_have_count(0)
    expect(page.get_by_role("heading").first).to_be_visible()  # between two pages there is no form, either
    tour.look(page, "stopped")
