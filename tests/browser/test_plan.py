"""The page of the plan, while a payment provider reports what becomes of it."""

import re
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

from dashboard_api.models import SiteLink
from tests.dashboard_api.billing.callbacks.documented import documented_request
from tests.factories import make_plan

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What the provider reports, and the sentence and the promise that the owner reads then.
LIFE = (
    ("trialing", "the plan follows without a break", "You need not do anything."),
    ("active", "Your plan Team is active, and renews after", "You need not do anything."),
    ("past_due", "A payment for Team has been missing since", "no website or member can be added"),
    ("suspended", "Your plan Team is suspended.", "Nothing is deleted"),
    ("active", "Your plan Team is active, and renews after", "You need not do anything."),
)


@pytest.fixture
def report(link, service, settings, monkeypatch):
    """Return a function that reports a status as the provider does, and returns what became of it."""
    secret = "whsec_b25seS1mb3ItdGVzdHMtMDEyMzQ1Njc4OTAxMjM0NQ=="
    settings.CALLBACK_SECRETS = {"standard": [secret]}
    settings.CALLBACK_LIVEMODE = False
    make_plan()

    def report(status):
        request = documented_request(link.account, status, secret, monkeypatch, url=service.url)
        with urlopen(request) as response:
            return response.read()

    return report


def test_an_owner_follows_the_plan_from_trial_to_suspension_and_back(open_page, owner, report, watch):
    page = open_page(user=owner)
    for status, sentence, promise in LIFE:
        assert report(status) == b'{"ok":true,"state":"applied"}'
        page.goto("/plan/")
        main = page.get_by_role("main")
        expect(main).to_contain_text(sentence)
        expect(main).to_contain_text(promise)
        if is_suspended := status == "suspended":
            watch.expect("403 (Forbidden)")
        page.goto("/sites/shop.example.com/")
        title = "Your plan does not cover this dashboard" if is_suspended else "Findings"
        expect(page.get_by_role("heading", name=re.compile(f"^{title}"))).to_be_visible()


def test_an_owner_takes_a_website_out_of_the_public_statistics(open_page, owner, website):
    page = open_page(user=owner)
    page.goto("/team/")
    page.get_by_role("link", name="Public statistics").click()
    page.get_by_label("Public shop.example.com").select_option("nothing")
    page.get_by_role("button", name="Save shop.example.com").click()
    expect(page.get_by_text("Saved. The feed changes within an hour")).to_be_visible()
    expect(page.get_by_label("Public shop.example.com")).to_have_value("nothing")
    assert SiteLink.objects.get().publicity == "nothing"
