"""The table of states: what works in each, and what owners are notified of."""

from datetime import UTC, datetime, time, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from dashboard_api.billing import entitlements, notices
from dashboard_api.models import BillingNotice, SiteLink
from tests.dashboard_api.calls import ask, error_of, fields_for
from tests.factories import make_account, make_link, make_plan, make_website

pytestmark = pytest.mark.django_db
ENTITLEMENT_PATH, CHANGES_PATH = "/v1/account/entitlement", "/v1/account/changes"


def state(days=0, **fields):
    """Return an entitlement that ends in ``days``, with the dates that its status needs."""
    return {"ends_on": timezone.now().date() + timedelta(days=days), **fields}


DAY = timedelta(days=1)


def days_ago(days):
    return timezone.now().date() - days * DAY


STATES = [
    # what is set; status of today; calls answered; new websites
    (lambda: state(5, status="trialing"), "trialing", True, True),
    (lambda: state(5), "active", True, True),
    (lambda: state(5, cancels=True), "active", True, True),
    (lambda: state(-1, cancels=True), "expired", False, False),
    (lambda: state(-2, renews=True), "active", True, True),
    (lambda: state(-1, status="past_due", past_due_since=days_ago(7)), "past_due", True, False),
    (lambda: state(-1, status="past_due", past_due_since=days_ago(8)), "expired", False, False),
    (lambda: state(20, status="past_due", past_due_since=days_ago(8)), "expired", False, False),
    (lambda: state(5, status="suspended"), "suspended", False, False),
    (lambda: state(5, status="expired"), "expired", False, False),
]


@pytest.mark.parametrize(("make", "status", "answered", "grows"), STATES)
def test_each_state_allows_what_the_table_says(client, make, status, answered, grows):
    link = make_link()
    entitlements.change(link.account, make(), by="ada")
    dashboard = ask(client, fields_for(link))
    assert dashboard.status_code == (200 if answered else 403)
    if not answered:
        assert error_of(dashboard)["code"] == "inactive_entitlement"
    own = {"portal_account_ref": link.account.ref}
    assert ask(client, own, path=CHANGES_PATH).status_code == (200 if answered else 403)

    response = ask(client, own, path=ENTITLEMENT_PATH)
    assert response.status_code == 200
    plan = response.json()["entitlement"]
    assert (plan["status"], plan["is_usable"], plan["may_grow"]) == (status, answered, grows)

    other = make_website("other.example.com")
    if grows:
        SiteLink.objects.link(link.account, other, by="ada")
    else:
        with pytest.raises(ValidationError, match="no website can be added"):
            SiteLink.objects.link(link.account, other, by="ada")


def test_an_account_without_a_plan_gets_an_empty_answer(client):
    account = make_account(entitled=False)
    response = ask(client, {"portal_account_ref": account.ref}, path=ENTITLEMENT_PATH).json()
    assert (response["entitlement"], response["limits"], response["history"]) == (None, [], [])


@pytest.mark.parametrize("entitled", [True, False])
def test_an_account_reads_its_own_reference_for_payments(client, entitled):
    other = make_account("acct_0002", secrets=("another secret of the tests",))
    account = make_account(entitled=entitled)
    response = ask(client, {"portal_account_ref": account.ref}, path=ENTITLEMENT_PATH)
    assert response.json()["billing_ref"] == str(account.billing_ref)
    assert str(other.billing_ref) not in response.text


def test_an_account_reads_its_own_plan_and_websites_only(client):
    link = make_link()
    other = make_link(
        make_account("acct_0002", secrets=("another secret of the tests",)), make_website("b.example.com")
    )
    entitlements.change(other.account, {"plan": "secret-plan"}, by="ada")
    own = {"portal_account_ref": link.account.ref}
    for path in (ENTITLEMENT_PATH, CHANGES_PATH):
        text = ask(client, own, path=path).text
        assert "secret-plan" not in text
        assert "b.example.com" not in text
        assert ask(client, {"portal_account_ref": "acct_0002"}, path=path).status_code == 401


def test_the_version_of_a_website_changes_with_its_data_only(client):
    from tests.factories import make_finding

    link = make_link()
    own = {"portal_account_ref": link.account.ref}

    def versions():
        return ask(client, own, path=CHANGES_PATH).json()["websites"]

    before = versions()
    assert [row["link_id"] for row in before] == [link.link_id]
    assert versions() == before
    make_finding(link.website)
    assert versions() != before


# Notices


def kinds(now):
    notices.watch(now)
    rows = BillingNotice.objects.order_by("id")
    return [(row.kind, row.days) for row in rows]


def year(account, to, *, days=60):
    """Return the notices of many days that are watched twice each."""
    start = timezone.now()
    entitlements.change(account, to, by="ada")
    for number in range(2 * days + 1):  # the last one is on the last day, whatever the hour
        notices.watch(start + timedelta(hours=12 * number))
    return [(row.kind, row.days) for row in BillingNotice.objects.order_by("id")]


def test_a_trial_tells_its_end_three_times_and_then_that_it_expired():
    rows = year(make_account(), state(10, status="trialing"))
    ends = [("trial_ends", 7), ("trial_ends", 3), ("trial_ends", 0)]
    assert rows == [*ends, ("expired", 0), ("expired", 30)]


def test_a_cancelled_plan_tells_its_end_at_once_and_three_times():
    rows = year(make_account(), state(20, cancels=True), days=20)
    assert rows == [("plan_ends", 20), ("plan_ends", 14), ("plan_ends", 3), ("plan_ends", 0)]


def test_a_plan_that_does_not_renew_tells_its_end_three_times():
    rows = year(make_account(), state(20), days=20)
    assert rows == [("plan_ends", 14), ("plan_ends", 3), ("plan_ends", 0)]


def test_a_missing_payment_is_sent_three_times():
    rows = year(make_account(), state(90, status="past_due"), days=7)
    assert rows == [("past_due", 0), ("past_due", 3), ("past_due", 6)]


def test_a_plan_whose_payment_stays_missing_is_reported_as_expired_after_its_grace():
    rows = year(make_account(), state(90, status="past_due"), days=10)
    assert rows == [("past_due", 0), ("past_due", 3), ("past_due", 6), ("expired", 0)]


@pytest.mark.once
def test_each_notice_of_a_year_is_sent_once():
    noon = timezone.now().replace(hour=12)  # an hour later is the same day
    account, start, sent = make_account(), noon, []

    def day(number):
        return (start + number * DAY).date()

    life = {
        0: {"status": "trialing", "ends_on": day(14)},
        16: {"status": "active", "renews": True, "ends_on": day(46)},  # paid after the trial had ended
        **{number: {"ends_on": day(number + 30)} for number in (46, 76, 106)},
        137: {"status": "past_due", "past_due_since": day(137)},  # a day late
        141: {"status": "active", "ends_on": day(200)},
        201: {"status": "past_due", "past_due_since": day(201)},
        209: {"status": "suspended"},
        230: {"status": "active", "ends_on": day(300)},
        250: {"renews": False, "cancels": True},
    }
    for number in range(366):
        if number in life:
            entitlements.change(account, life[number], by="payments")
            notices.watch(start + number * DAY)
        notices.watch(start + number * DAY + timedelta(hours=1))
        known = {pk for _, _, _, pk in sent}
        new = BillingNotice.objects.exclude(pk__in=known).order_by("id")
        sent += [(number, row.kind, row.days, row.pk) for row in new]
    assert [each[:3] for each in sent] == [
        *((7, "trial_ends", 7), (11, "trial_ends", 3), (14, "trial_ends", 0), (15, "expired", 0)),
        *((137, "past_due", 0), (140, "past_due", 3)),
        *((201, "past_due", 0), (204, "past_due", 3), (207, "past_due", 6), (209, "suspended", None)),
        *((250, "plan_ends", 50), (286, "plan_ends", 14), (297, "plan_ends", 3), (300, "plan_ends", 0)),
        *((301, "expired", 0), (331, "expired", 30)),
    ]


def test_a_suspension_is_sent_once_and_again_when_it_comes_back():
    account = make_account()
    assert year(account, state(90, status="suspended"), days=3) == [("suspended", None)]
    first = BillingNotice.objects.get()
    entitlements.change(account, {"status": "active"}, by="ada")
    assert kinds(timezone.now()) == []
    entitlements.change(account, {"status": "suspended"}, by="ada")
    notices.watch(timezone.now())
    assert BillingNotice.objects.get().pk != first.pk


def test_a_plan_that_was_ended_before_its_last_day_is_sent_once():
    rows = year(make_account(), state(20, status="expired"), days=52)
    assert rows == [("expired", 0), ("expired", 30)]


def test_a_plan_that_expired_long_ago_is_not_sent():
    account = make_account()
    entitlements.change(account, {"starts_on": datetime(2020, 1, 1, tzinfo=UTC).date()}, by="ada")
    assert year(account, state(-300), days=1) == []


def test_a_limit_is_sent_at_80_and_100_percent_once_in_each_period():
    from dashboard_api.models import Usage

    make_plan(limits={"websites": 20, "calls_per_day": 10})
    account = make_account()
    entitlements.change(account, {"plan": "team"}, by="ada")
    now = timezone.now()
    usage = Usage.objects.create(account_id=account.pk, day=now.date(), calls=7, arrival=0)
    sent = []
    for calls in (7, 8, 9, 10, 11):
        usage.calls = calls
        usage.save()
        sent.append([kind for kind, _days in kinds(now)])
    near, reached = "limit_near", "limit_reached"
    assert sent == [[], [near], [near], [near, reached], [near, reached]]


def test_watching_ends_an_override_after_its_last_day():
    make_plan()
    account = make_account()
    entitlements.change(account, {"plan": "team"}, by="ada")
    today = timezone.now().date()
    entitlements.override(account, "seats", 9, until=today, by="ada", reason="Audit")
    assert notices.watch(timezone.now()) == (0, 0)
    assert notices.watch(timezone.now() + DAY) == (0, 1)
    account.entitlement.refresh_from_db()
    assert (account.entitlement.seats, account.entitlement.overrides) == (3, [])


# Usage


def test_over_the_calls_of_a_day_an_account_is_refused_until_midnight(client):
    link = make_link()
    make_plan(limits={"websites": 20, "calls_per_day": 2})
    entitlements.change(link.account, {"plan": "team"}, by="ada")
    assert [ask(client, fields_for(link)).status_code for _ in range(4)] == [200, 200, 429, 429]
    refused = ask(client, fields_for(link))
    error = error_of(refused)
    assert (error["code"], error["reason"]) == ("rate_limited", "allowance")
    assert (error["limit"], error["used"]) == (2, 2)
    midnight = datetime.combine(timezone.now().date() + DAY, time(), UTC)
    assert error["resets_at"] == f"{midnight:%Y-%m-%dT%H:%M:%SZ}"
    assert abs(int(refused["Retry-After"]) - (midnight - timezone.now()).total_seconds()) < 5


def test_calls_that_cost_nothing_are_answered_over_the_calls_of_a_day(client):
    link = make_link()
    make_plan(limits={"websites": 20, "calls_per_day": 1})
    entitlements.change(link.account, {"plan": "team"}, by="ada")
    assert [ask(client, fields_for(link)).status_code for _ in range(2)] == [200, 429]
    own = {"portal_account_ref": link.account.ref}
    assert ask(client, fields_for(link), path="/v1/site/changes").status_code == 200
    assert [ask(client, own, path=path).status_code for path in (CHANGES_PATH, ENTITLEMENT_PATH)] == [
        200,
        200,
    ]


def test_calls_for_news_and_about_the_account_do_not_count_against_the_day(client):
    link = make_link()
    make_plan(limits={"websites": 20, "calls_per_day": 1})
    entitlements.change(link.account, {"plan": "team"}, by="ada")
    own = {"portal_account_ref": link.account.ref}
    for _ in range(3):
        assert ask(client, fields_for(link), path="/v1/site/changes").status_code == 200
        assert ask(client, own, path=CHANGES_PATH).status_code == 200
    limits = ask(client, own, path=ENTITLEMENT_PATH).json()["limits"]
    (calls,) = [limit for limit in limits if limit["name"] == "calls_per_day"]
    assert (calls["used"], calls["state"]) == (0, "ok")


def test_an_account_with_many_websites_may_call_more_at_once(client):
    link = make_link()
    entitlements.change(link.account, {"sites_limit": 30}, by="ada")
    codes = [ask(client, fields_for(link, page_size=1)).status_code for _ in range(50)]
    assert set(codes) == {200}
