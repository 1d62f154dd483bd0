"""POST /v1/account/websites: the websites that stay in a smaller plan."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.billing import entitlements, notices
from dashboard_api.models import BillingNotice, Entitlement, Secret, SiteLink
from tests.dashboard_api.calls import ask, error_of, fields_for
from tests.factories import make_account, make_link, make_website

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def call(client, **fields):
    return ask(client, {"portal_account_ref": "acct_0001", **fields}, path="/v1/account/websites")


@pytest.fixture
def links():
    """Return three links, the oldest first, of an account whose plan includes one website since today."""
    account, now = make_account(), timezone.now()
    links = [make_link(account, make_website(f"{name}.example.com")) for name in "cab"]
    for number, link in enumerate(links):
        SiteLink.objects.filter(pk=link.pk).update(created_at=now - DAY * (9 - number))
    entitlements.change(account, {"sites_limit": 1}, by="ada", now=now)
    return links


def staying(response):
    return [website["host"][0] for website in response.json()["websites"] if website["stays"]]


def paused():
    return {link.website.host[0] for link in SiteLink.objects.exclude(paused_at=None)}


def test_without_a_choice_the_oldest_stays_and_the_others_are_paused_after_14_days(client, links):
    response = call(client)
    body = response.json()
    assert (body["limit"], staying(response)) == (1, ["c"])
    assert body["pauses_at"][:10] == f"{timezone.now() + 14 * DAY:%Y-%m-%d}"
    assert not any(website["is_paused"] for website in body["websites"])
    notices.watch(timezone.now() + 15 * DAY)
    assert paused() == {"a", "b"}


def test_the_chosen_website_stays_when_the_pause_falls_due(client, links):
    assert staying(call(client, stay="a.example.com")) == ["a"]
    assert staying(call(client, stay="B.example.com")) == ["b"]
    assert paused() == set()
    notices.watch(timezone.now() + 15 * DAY)
    assert paused() == {"a", "c"}
    assert ask(client, fields_for(links[2])).status_code == 200
    chosen = AuditEvent.objects.filter(action="websites.chosen").order_by("pk")
    assert [(event.account, event.before, event.after) for event in chosen] == [
        ("acct_0001", {"websites": ""}, {"websites": "a.example.com"}),
        ("acct_0001", {"websites": "a.example.com"}, {"websites": "b.example.com"}),
    ]


def test_a_choice_after_the_pause_holds_at_once(client, links):
    SiteLink.objects.exclude(pk=links[0].pk).update(paused_at=timezone.now())
    BillingNotice.objects.update(at=timezone.now() - 15 * DAY)
    call(client, stay="a.example.com")
    assert paused() == {"b", "c"}
    assert ask(client, fields_for(links[1])).status_code == 200
    assert error_of(ask(client, fields_for(links[0])))["reason"] == "websites_limit"


def test_a_larger_plan_ends_the_choice(client, links):
    call(client, stay="a.example.com")
    entitlements.change(links[0].account, {"sites_limit": 3}, by="ada")
    assert not SiteLink.objects.exclude(chosen_at=None).exists()
    response = call(client, stay="a.example.com")
    assert (response.json()["pauses_at"], staying(response)) == (None, ["a", "b", "c"])
    assert not SiteLink.objects.exclude(chosen_at=None).exists()


def test_it_can_be_chosen_without_a_usable_plan(client, links):
    Entitlement.objects.update(status="suspended")
    assert staying(call(client, stay="a.example.com")) == ["a"]


@pytest.mark.parametrize(
    ("stay", "status", "code"),
    [
        ("a.example.com,b.example.com", 400, "invalid_request"),
        ("a.example.com,", 400, "invalid_request"),
        ("unknown.example.com", 404, "unknown_link"),
    ],
)
def test_a_choice_that_cannot_hold_changes_nothing(client, links, stay, status, code):
    response = call(client, stay=stay)
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    assert staying(call(client)) == ["c"]
    assert not AuditEvent.objects.filter(action="websites.chosen").exists()


def test_a_test_secret_chooses_nothing(client, links):
    _, secret = Secret.objects.issue(links[0].account, by="tests", is_test=True)
    fields = {"portal_account_ref": "acct_0001", "stay": "a.example.com"}
    assert ask(client, fields, path="/v1/account/websites", secret=secret).status_code == 200
    assert not SiteLink.objects.exclude(chosen_at=None).exists()
