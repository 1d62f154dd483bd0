"""The page of the plan, with the service in the same process, in every state."""

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.billing import entitlements
from dashboard_api.models import SiteLink, Usage
from tests.factories import (
    make_link,
    make_membership,
    make_plan,
    make_portal_account,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def account(settings):
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = "", "config.web.in_process.application"
    return make_link().account


@pytest.fixture
def owner(client, account):
    user = make_user("ada", email="ada@example.com")
    membership = make_membership(user, make_portal_account(account.ref, name="Shop"))
    client.force_login(user)
    return membership


def plan_page(client):
    response = client.get("/plan/")
    assert response.status_code == 200
    return response.text


@pytest.mark.parametrize(
    ("days", "fields", "tone", "sentence", "next_step"),
    [
        (5, {"status": "trialing"}, "ok", "Your trial of Team runs until", "Choose a plan by then"),
        (
            5,
            {"status": "trialing", "renews": True},
            "ok",
            "the plan follows without a break",
            "You need not do",
        ),
        (5, {}, "ok", "Your plan Team is active until", "unless another plan follows"),
        (
            5,
            {"starts_on": "the last day"},
            "ok",
            "Your plan Team begins on",
            "There are no results until then",
        ),
        (5, {"status": "expired"}, "failed", "Your plan Team has ended.", "Nothing is deleted"),
        (5, {"renews": True}, "ok", "is active, and renews after", "You need not do anything"),
        (5, {"cancels": True}, "partial", "You have cancelled Team", "Nothing is deleted"),
        (5, {"status": "past_due"}, "partial", "has been missing since", "Everything works until"),
        (5, {"status": "suspended"}, "failed", "Your plan Team is suspended", "Contact us to continue"),
        (-5, {}, "failed", "Your plan Team ended on", "Nothing is deleted"),
    ],
)
def test_the_page_says_in_each_state_what_holds_and_what_follows(
    client, owner, account, days, fields, tone, sentence, next_step
):
    make_plan()
    ends_on = timezone.now().date() + timedelta(days=days)
    to = {"plan": "team", "ends_on": ends_on, **fields}
    if "starts_on" in fields:
        to["starts_on"] = ends_on
    entitlements.change(account, to, by="operator-of-tests")
    page = plan_page(client)
    assert sentence in page
    assert next_step in page
    assert f'class="state {tone}"' in page
    assert "operator-of-tests" not in page


def test_meters_show_what_is_used_and_when_a_limit_is_reached(client, owner, account):
    make_plan(limits={"websites": 1, "calls_per_day": 100, "seats": 2}, price_text={"en": "29 EUR a month"})
    entitlements.change(account, {"plan": "team"}, by="ada")
    today = timezone.now().date()
    for back in range(1, 8):
        day = today - timedelta(days=back)
        Usage.objects.create(account_id=account.pk, day=day, calls=150, arrival=0)
    Usage.objects.create(account_id=account.pk, day=today, calls=85, arrival=0)
    page = plan_page(client)
    assert "1 of 1 used" in page
    assert "85 of 100 used" in page
    assert "pace the limit is reached every day" in page
    assert "Nearly reached" in page
    assert "29 EUR a month" in page
    assert "Plan: Standard, now Team" in page


def test_the_plan_and_the_list_of_calls_say_which_calls_are_not_counted(client, owner, account):
    plan, calls = plan_page(client), client.get("/api/calls/").text
    assert "Calls a day</b>: 0 used" in plan
    for page in plan, calls:
        text = " ".join(html.unescape(page).split())
        assert "the portal's own calls, test calls, and calls for changes or about the organization." in text


@pytest.mark.parametrize(
    ("calls", "text"),  # from today backwards
    [
        ((85,), ""),  # nearly reached
        ((40, 10, 10, 10, 10, 10, 10, 10), ""),  # more than on other days
        ((20, 30), "At this week's pace, 30 calls a day, the limit is not reached."),
        ((3, 30, *[0] * 20, 1), "At this week's pace, 4 calls a day, the limit is not reached."),
        ((20, 120), "At this week's pace the limit is reached every day."),
    ],
)
def test_the_forecast_of_calls_agrees_with_its_meter(client, owner, account, calls, text):
    make_plan(limits={"calls_per_day": 100})
    entitlements.change(account, {"plan": "team"}, by="ada")
    today = timezone.now().date()
    for back, count in enumerate(calls):
        day = today - timedelta(days=back)
        Usage.objects.create(account_id=account.pk, day=day, calls=count, arrival=0)
    meter = re.search(r"of 100 used.*?</p>", plan_page(client), re.DOTALL)[0]
    found = re.search(r"At this week.*?\.", html.unescape(meter))
    assert (found[0] if found else "") == text


RENEWAL = "https://example.com/pay?ref={billing_ref}"


def test_the_button_carries_the_reference_of_the_account_to_the_checkout(client, owner, account, settings):
    settings.RENEW_URL = RENEWAL
    assert f'href="https://example.com/pay?ref={account.billing_ref}"' in plan_page(client)


def test_an_account_without_a_plan_finds_the_way_to_the_checkout(client, owner, account, settings):
    settings.RENEW_URL = RENEWAL
    account.entitlement.delete()
    assert f'href="https://example.com/pay?ref={account.billing_ref}"' in plan_page(client)


@pytest.mark.parametrize(
    ("status", "primary"), [("suspended", "Contact us"), ("past_due", "Plan and payments"), ("active", "")]
)
def test_the_first_button_is_what_helps_in_this_state(client, owner, account, settings, status, primary):
    settings.RENEW_URL, settings.SUPPORT_URL = RENEWAL, "https://example.com/support"
    entitlements.change(account, {"status": status}, by="ada")
    buttons = re.findall(r'class="button( primary)?"[^>]*>\s*([^<]+)</a>', plan_page(client))
    assert [text for is_primary, text in buttons] == ["Plan and payments", "Contact us"]
    assert "".join(text for is_primary, text in buttons if is_primary) == primary


def test_a_viewer_does_not_see_the_plan(client, owner, account):
    owner.role = "viewer"
    owner.save()
    assert "Only owners and managers see the plan" in plan_page(client)


def test_a_stranger_is_asked_to_sign_in(client):
    assert client.get("/plan/").status_code == 302


def test_the_page_says_so_when_the_service_does_not_answer(client, owner, account):
    account.secrets.all().update(state="revoked", revoked_at=timezone.now())
    page = plan_page(client)
    assert "Reference" in page
    assert "Your plan" not in page.partition("<main")[2].partition("Reference")[0]


@pytest.fixture
def smaller(account):
    """A second website, and a plan that includes one since today; return the account."""
    make_link(account, make_website("blog.example.com"))
    entitlements.change(account, {"sites_limit": 1}, by="ada")
    return account


def chosen():
    return set(SiteLink.objects.exclude(chosen_at=None).values_list("website__host", flat=True))


def test_an_owner_chooses_the_websites_that_stay(client, owner, smaller):
    page = f"/plan/{owner.account.pk}/websites/"
    assert f'href="{page}"' in plan_page(client)
    shown = client.get(page).text
    assert "You have 2 websites, and your plan includes 1." in shown
    assert 'value="shop.example.com" id="id_stay_1" checked' in shown
    response = client.post(page, {"stay": ["blog.example.com"]}, follow=True)
    assert "Saved. You can change it at any time." in response.text
    assert chosen() == {"blog.example.com"}
    event = AuditEvent.objects.get(action="websites.chosen", actor_kind="person")
    assert (event.account, event.after) == ("acct_0001", {"websites": "blog.example.com"})


def test_an_owner_with_too_many_websites_is_not_sent_away(client, owner, smaller):
    entitlements.change(smaller, {"renews": True}, by="ada")
    page = plan_page(client)
    assert "Owners choose until" in page
    assert "You need not do anything" not in page


@pytest.mark.parametrize(
    ("stay", "text"),
    [
        ([], "Choose at least one website."),
        (["blog.example.com", "shop.example.com"], "Your plan includes 1 website. You have chosen 2."),
        (["gone.example.com"], "These websites have changed: choose again."),
    ],
)
def test_a_choice_that_cannot_hold_is_explained(client, owner, smaller, stay, text):
    response = client.post(f"/plan/{owner.account.pk}/websites/", {"stay": stay})
    assert text in response.text
    assert chosen() == set()


@pytest.mark.parametrize("role", ["manager", "viewer"])
def test_only_owners_choose_websites(client, owner, smaller, role):
    owner.role = role
    owner.save()
    page = f"/plan/{owner.account.pk}/websites/"
    assert client.get(page).status_code == 404
    assert client.post(page, {"stay": ["blog.example.com"]}).status_code == 404
    assert page not in plan_page(client)
    assert chosen() == set()


def test_there_is_nothing_to_choose_in_a_plan_that_is_large_enough(client, owner, account):
    page = f"/plan/{owner.account.pk}/websites/"
    assert page not in plan_page(client)
    assert "Your plan includes all your websites" in client.get(page).text
