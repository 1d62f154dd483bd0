"""Websites beyond those of the plan: time to choose; without a choice, the links added last are paused."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.billing import entitlements, notices
from dashboard_api.crawler import policy, schedules
from dashboard_api.models import BillingNotice, Entitlement, SiteLink
from tests.dashboard_api.calls import ask, error_of, fields_for
from tests.factories import make_account, make_link, make_website

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def links():
    """Return the three links of an account, the oldest first, after a change to a plan with two websites."""
    account, now = make_account(), timezone.now()
    links = [make_link(account, make_website(f"{name}.example.com")) for name in "cab"]
    for number, link in enumerate(links):
        SiteLink.objects.filter(pk=link.pk).update(created_at=now - DAY * (9 - number))
    entitlements.change(account, {"sites_limit": 2}, by="ada", now=now)
    return links


def paused():
    return [link.website.host[0] for link in SiteLink.objects.exclude(paused_at=None).order_by("created_at")]


def test_the_links_added_last_are_paused_after_14_days(client, links):
    notices.watch(timezone.now() + 13 * DAY)
    assert paused() == []
    notice = BillingNotice.objects.get(kind="websites_over")
    assert (notice.limit, notice.days) == ("websites", 14)
    notices.watch(timezone.now() + 15 * DAY)
    assert paused() == ["b"]
    oldest, _, newest = links
    assert ask(client, fields_for(oldest)).status_code == 200
    response = ask(client, fields_for(newest))
    error = error_of(response)
    assert (response.status_code, error["code"], error["reason"]) == (
        403,
        "inactive_entitlement",
        "websites_limit",
    )
    assert (error["plan"], error["status"]) == ("standard", "active")
    assert BillingNotice.objects.filter(kind="websites_over").count() == 1
    event = AuditEvent.objects.get(action="link.paused")
    assert event.account == newest.account.ref


def test_a_paused_website_is_not_scanned_by_its_schedule(links):
    link = links[2]
    link.paused_at = timezone.now()
    with pytest.raises(policy.NotIncluded, match="fewer websites"):
        schedules._check_plan(link, "quick", "weekly", timezone.now())


def test_a_larger_plan_brings_a_paused_website_back_at_once(client, links):
    notices.watch(timezone.now() + 15 * DAY)
    entitlements.change(links[0].account, {"sites_limit": 3}, by="ada")
    assert paused() == []
    assert ask(client, fields_for(links[2])).status_code == 200
    assert not BillingNotice.objects.filter(kind="websites_over").exists()
    assert AuditEvent.objects.filter(action="link.resumed").count() == 1


def test_the_owner_chooses_by_removing_another_website(links):
    notices.watch(timezone.now() + 15 * DAY)
    links[0].revoke(by="ada", reason="not needed", now=timezone.now())
    notices.watch(timezone.now() + 15 * DAY)
    assert paused() == []
    assert not BillingNotice.objects.filter(kind="websites_over").exists()


def test_a_still_smaller_plan_gives_time_again_and_keeps_what_is_paused(links):
    later = timezone.now() + 15 * DAY
    notices.watch(later)
    entitlements.change(links[0].account, {"sites_limit": 1}, by="ada", now=later)
    assert paused() == ["b"]
    notices.watch(later + 15 * DAY)
    assert paused() == ["a", "b"]


def test_the_dashboard_shows_the_states_of_the_limits(client, links):
    Entitlement.objects.update(calls_per_day=10, scans_per_month=5)
    notices.watch(timezone.now())
    shown = ask(client, fields_for(links[0])).json()["entitlement"]["limits"]
    by_name = {each["name"]: each for each in shown}
    assert list(by_name) == ["websites", "calls_per_day", "scans_per_month"]
    assert by_name["websites"] == {"name": "websites", "limit": 2, "state": "reached", "resets_at": None}
    assert by_name["scans_per_month"]["state"] == "ok"
    assert by_name["scans_per_month"]["resets_at"].endswith("-01T00:00:00Z")
