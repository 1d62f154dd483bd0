"""``POST /v1/callbacks/standard``: stored and applied together, once, in any order."""

import json
import logging
import time
from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.billing import entitlements, plans
from dashboard_api.billing.callbacks import applying, standard
from dashboard_api.billing.wanted import values_to_change, wanted_values
from dashboard_api.models import (
    BillingCustomer,
    CallbackEvent,
    Entitlement,
    Plan,
    PlanPrice,
    Subscription,
)
from tests.dashboard_api.billing.callbacks.documented import documented_request
from tests.factories import make_account, make_plan, make_user
from tests.racing import race

pytestmark = pytest.mark.django_db

PATH = "/v1/callbacks/standard"
NEW = "whsec_bmV3LXNlY3JldC1vZi10ZXN0cy0wMTIzNDU2Nzg5"
OLD = "whsec_b2xkLXNlY3JldC1vZi10ZXN0cy0wMTIzNDU2Nzg5"
LAST = date(2199, 12, 31)
Status = Entitlement.Status
_number = iter(range(1, 1_000_000))


@pytest.fixture
def account():
    make_plan()
    make_plan("pro", rank=2)
    return make_account()


def event(account, version=1, *, kind="entitlement.set", livemode=True, **data):
    defaults = {"billing_ref": str(account.billing_ref), "version": version, "plan": "team"}
    defaults |= {"status": "active", "ends_on": LAST.isoformat(), "renews": True}
    body = {"type": kind, "timestamp": "2026-11-23T09:00:00Z", "livemode": livemode, "data": defaults | data}
    return json.dumps(body).encode()


def signed(body, *, secret=NEW, event_id=None, at=None):
    event_id, at = event_id or f"msg_{next(_number)}", int(at or time.time())
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(at),
        "webhook-signature": standard.signature(event_id, at, body, secret),
    }


def post(client, body, headers=None, **options):
    headers = signed(body, **options) if headers is None else headers
    return client.post(PATH, body, content_type="application/json", headers=headers)


def state_of(client, body, **options):
    response = post(client, body, **options)
    assert response.status_code == 200, response.content
    return response.json()["state"]


def by_staff(action, event):
    """Perform the action of the admin for the event; return the page that follows."""
    browser = Client()
    browser.force_login(
        User.objects.filter(username="ada").first() or make_user("ada", is_staff=True, is_superuser=True)
    )
    fields = {"action": action, "_selected_action": [event.pk], "confirmed": "1"}
    return browser.post(reverse("admin:dashboard_api_callbackevent_changelist"), fields, follow=True).text


def entitlement_of(account):
    return Entitlement.objects.select_related("plan_revision").get(account=account)


# What is paid for


def test_an_account_is_moved_from_its_trial_through_late_payments_and_back(client, account):
    today = timezone.now().date()
    steps = (
        {"status": "trialing", "renews": False},
        {"status": "active"},
        {"status": "past_due", "past_due_since": today.isoformat()},
        {"status": "suspended"},
        {"status": "active", "plan": "pro"},
        {"status": "active", "plan": "pro", "cancels": True},
    )
    for version, step in enumerate(steps):
        assert state_of(client, event(account, version, **step)) == "applied"
        row = entitlement_of(account)
        assert (row.status, row.cancels) == (step["status"], step.get("cancels", False))
        assert row.is_usable_on(today) == (step["status"] != "suspended")
    assert (row.plan, row.renews, row.sites_limit) == ("pro", False, 20)


def test_a_change_is_traced_to_its_event(client, account):
    state_of(client, event(account, status="suspended"))
    stored = CallbackEvent.objects.get()
    change = AuditEvent.objects.get(action="entitlement.changed")
    assert change.reason == f"Event {stored.pk} of standard"
    assert (stored.before["status"], stored.after["status"]) == ("active", "suspended")
    assert (change.account, stored.account) == (account.ref, account)


def test_the_state_does_not_depend_on_the_order_of_arrival(client, account):
    life = [
        event(account, version, status=status, past_due_since="2026-11-20")
        for version, status in enumerate(("trialing", "active", "past_due", "suspended"))
    ]
    assert [state_of(client, body) for body in reversed(life)] == ["applied", *["superseded"] * 3]
    assert entitlement_of(account).status == Status.SUSPENDED


def test_every_spelling_of_the_reference_for_payments_means_one_subscription(client, account):
    ref = str(account.billing_ref)
    for version, spelling in enumerate((ref, ref.upper(), f"urn:uuid:{ref}", ref.replace("-", ""))):
        assert state_of(client, event(account, version, billing_ref=spelling)) == "applied"
    assert Subscription.objects.get().object_id == ref
    assert state_of(client, event(account, 9, status="suspended", billing_ref=ref.upper())) == "applied"
    assert entitlement_of(account).status == Status.SUSPENDED


def test_the_same_event_twice_is_applied_once(client, account):
    body, late = event(account), event(account, 2, status="suspended")
    assert state_of(client, body, event_id="msg_1") == "applied"
    assert state_of(client, late) == "applied"
    assert state_of(client, body, event_id="msg_1") == "duplicate"
    assert state_of(client, late) == "duplicate"  # with another id
    assert entitlement_of(account).status == Status.SUSPENDED


@pytest.mark.django_db(transaction=True)
def test_simultaneous_copies_of_an_event_are_stored_once():
    body = event(make_account(), plan="gold")  # the proofs count how often one is applied
    states = race(lambda _: applying.receive("standard", "msg_1", body, timezone.now()), times=4)
    assert sorted(states) == [*["duplicate"] * 3, "failed"]
    assert CallbackEvent.objects.get().attempts == 1


def test_an_account_stays_on_its_revision_of_the_plan_until_it_is_moved(client, account):
    state_of(client, event(account))
    newer = make_plan(limits={"websites": 1})
    state_of(client, event(account, 2, ends_on="2199-01-01"))
    assert newer.revision == 2
    assert entitlement_of(account).plan_revision.revision == 1


def test_a_suspension_by_staff_holds_until_staff_lift_it(client, account):
    state_of(client, event(account, status="suspended"))
    entitlements.change(account, {"status": "suspended"}, by="ada")
    assert state_of(client, event(account, 2, plan="pro", ends_on="2199-01-01")) == "applied"
    row = entitlement_of(account)
    assert (row.status, row.plan, row.ends_on) == (Status.SUSPENDED, "pro", date(2199, 1, 1))
    call_command("reconcile_billing", repair=True, by="ada", verbosity=0)
    assert entitlement_of(account).status == Status.SUSPENDED
    entitlements.change(account, {"status": "active"}, by="ada")
    state_of(client, event(account, 3, status="suspended"))
    state_of(client, event(account, 4))
    assert entitlement_of(account).status == Status.ACTIVE


def test_a_plan_that_ended_before_the_entitlement_began_ends_it(client, account):
    assert state_of(client, event(account, ends_on="2020-01-01", renews=False)) == "applied"
    assert not entitlement_of(account).is_usable_on(timezone.now().date())


def by_price(account, version=1, **data):
    return event(account, version, **data).replace(b'"plan": "team"', b'"price": "price_1"')


def test_a_new_revision_is_for_new_customers_and_moved_accounts_keep_it_when_they_pay(client, account):
    first = Plan.objects.get(slug="team")
    PlanPrice.objects.create(provider="standard", price="price_1", plan=first)
    state_of(client, by_price(account))
    second = make_plan(limits={"websites": 30})
    state_of(client, by_price(account, 2, cancels=True))
    assert entitlement_of(account).plan_revision == first
    plans.move_accounts(second, by="ada", reason="More for all")
    state_of(client, by_price(account, 3))
    assert entitlement_of(account).plan_revision == second
    assert values_to_change(account, wanted_values(account, timezone.now())) == {}
    other = make_account("acct_0002")
    state_of(client, by_price(other))
    assert (entitlement_of(other).plan_revision, entitlement_of(other).sites_limit) == (second, 30)


def test_a_price_of_a_later_revision_moves_an_account_and_follows_accounts_that_are_moved_back(
    client, account
):
    first = Plan.objects.get(slug="team")
    state_of(client, event(account))
    price = PlanPrice.objects.create(
        provider="standard", price="price_1", plan=make_plan(limits={"websites": 30})
    )
    state_of(client, by_price(account, 2))
    assert entitlement_of(account).sites_limit == 30
    plans.move_accounts(first, by="ada", reason="A mistake")
    state_of(client, by_price(account, 3, cancels=True))
    price.refresh_from_db()
    assert (entitlement_of(account).plan_revision, price.plan) == (first, first)
    assert AuditEvent.objects.filter(action="planprice.changed", reason="A mistake").exists()


# A plan that staff set


def by_invoice(account, **to):
    entitlements.change(account, {"plan": "pro", "ends_on": LAST, "status": "active"} | to, by="ada")


def test_a_payment_for_less_leaves_a_plan_that_staff_set(client, account):
    by_invoice(account)
    ends_on = str(timezone.now().date() + timedelta(days=30))
    for version, step in enumerate(
        (
            {"status": "active", "ends_on": ends_on},
            {"status": "suspended", "ends_on": ends_on},
            {"status": "expired", "ends_on": ends_on, "renews": False},
        )
    ):
        assert state_of(client, event(account, version, **step)) == "applied"
        row = entitlement_of(account)
        assert (row.plan, row.status, row.ends_on, row.renews) == ("pro", "active", LAST, False)
    call_command("reconcile_billing", repair=True, by="ada", verbosity=0)
    assert entitlement_of(account).ends_on == LAST


@pytest.mark.parametrize("slug", ["pro", "agreed-by-phone"])
def test_a_payment_for_more_holds_until_it_ends(client, account, slug, capsys):
    make_plan("big", rank=3, limits={"websites": 100}, features=["scans_daily", "deep_scans"])
    by_invoice(account, plan=slug, sites_limit=30, features=["deep_scans"])
    before = entitlement_of(account)
    assert state_of(client, event(account, plan="team")) == "applied"  # for fewer websites
    assert entitlement_of(account).plan == slug
    ends_on = timezone.now().date() + timedelta(days=30)
    assert state_of(client, event(account, 2, plan="big", renews=False, ends_on=str(ends_on))) == "applied"
    assert (entitlement_of(account).plan, entitlement_of(account).ends_on) == ("big", ends_on)
    call_command("show_account", account.ref)
    assert f"Staff set: {slug} until {LAST}." in capsys.readouterr().out
    applying.process_due(timezone.now() + timedelta(days=31))  # no event said that it ended
    after = entitlement_of(account)
    for name in ("plan", "plan_revision", "status", "ends_on", "renews", "sites_limit", "features"):
        assert getattr(after, name) == getattr(before, name), name


def test_the_same_plan_renews_by_payment(client, account):
    by_invoice(account)
    state_of(client, event(account, plan="pro", ends_on="2199-01-01"))
    row = entitlement_of(account)
    assert (row.plan, row.renews, row.ends_on) == ("pro", True, date(2199, 1, 1))


@pytest.mark.parametrize(
    "step",
    [
        {"renews": False, "cancels": True},
        {"status": "past_due", "past_due_since": str(date.today())},  # noqa: DTZ011
        {"status": "suspended"},
        {"status": "expired", "renews": False},
    ],
    ids=str,
)
def test_a_paying_customer_whom_staff_give_more_days_has_them_without_renewing(client, account, step):
    ends_on = timezone.now().date() + timedelta(days=30)
    state_of(client, event(account, ends_on=str(ends_on)))
    entitlements.extend(account, days=30, by="ada")
    assert (entitlement_of(account).ends_on, entitlement_of(account).renews) == (ends_on, True)
    state_of(client, event(account, 3, **{"ends_on": str(ends_on)} | step))
    row = entitlement_of(account)
    assert (row.status, row.ends_on, row.renews) == ("active", ends_on + timedelta(days=30), False)


def test_more_days_follow_where_a_renewing_payment_stops_without_an_event(client, account):
    ends_on = timezone.now().date() + timedelta(days=30)
    state_of(client, event(account, ends_on=str(ends_on)))
    entitlements.extend(account, days=30, by="ada")
    applying.process_due(timezone.now() + timedelta(days=34))
    row = entitlement_of(account)
    assert (row.status, row.ends_on, row.renews) == ("active", ends_on + timedelta(days=30), False)


def test_a_smaller_new_revision_of_the_plan_does_not_end_a_renewing_one(client, account):
    by_invoice(account)
    state_of(client, event(account, plan="pro", ends_on="2199-01-01"))
    make_plan("pro", rank=2, limits={"websites": 1})
    state_of(client, event(account, 2, plan="pro", ends_on="2199-02-01"))
    row = entitlement_of(account)
    assert (row.ends_on, row.renews, row.sites_limit) == (date(2199, 2, 1), True, 20)


@pytest.mark.parametrize("days", [0, 30])  # until the last day of the period: the provider may have moved on
def test_a_larger_plan_that_is_paid_late_keeps_its_days_of_grace(client, account, days):
    make_plan("big", rank=3)
    by_invoice(account)
    today = timezone.now().date()
    late = {"status": "past_due", "past_due_since": str(today), "ends_on": str(today + timedelta(days=days))}
    state_of(client, event(account, plan="big", **late))
    assert (entitlement_of(account).plan, entitlement_of(account).status) == ("big", "past_due")
    applying.process_due(timezone.now() + timedelta(days=8))
    assert (entitlement_of(account).plan, entitlement_of(account).status) == ("pro", "active")


def test_more_days_of_a_paid_plan_never_shorten_a_plan_that_staff_set(client, account):
    make_plan("big", rank=3)
    by_invoice(account)
    state_of(client, event(account, plan="big", ends_on=str(timezone.now().date() + timedelta(days=30))))
    with pytest.raises(ValidationError, match=f"Staff have set pro until {LAST}"):
        entitlements.extend(account, days=5, by="ada")


def test_a_plan_that_staff_set_is_back_where_a_payment_became_late_long_after_its_period(client, account):
    make_plan("big", rank=3)
    by_invoice(account)
    now = timezone.now()
    ends_on, since = (str(now.date() - timedelta(days=days)) for days in (40, 7))
    state_of(client, event(account, plan="big", ends_on=ends_on, status="past_due", past_due_since=since))
    assert entitlement_of(account).plan == "big"
    applying.process_due(now + timedelta(days=1))
    assert (entitlement_of(account).plan, entitlement_of(account).status) == ("pro", "active")


@pytest.mark.parametrize(
    ("until", "paid", "by_hand"),
    [
        (-6, {"status": "suspended"}, {"status": "active"}),
        (300, {"status": "past_due"}, {"status": "active"}),
        (300, {"status": "active"}, {"renews": False, "cancels": True}),
    ],
)
def test_a_change_by_hand_holds_while_a_plan_that_staff_set_is_new(client, account, until, paid, by_hand):
    make_plan("big", rank=3)
    now = timezone.now()
    starts_on, ends_on, since, paid_until = (
        now.date() + timedelta(days=days) for days in (-20, until, -6, 30)
    )
    by_invoice(account, starts_on=starts_on, ends_on=ends_on)
    state_of(client, event(account, plan="big", ends_on=str(paid_until), past_due_since=str(since), **paid))
    entitlements.change(account, by_hand, by="ada", reason="They called")
    for later in (timedelta(minutes=5), timedelta(days=2)):  # past the days of grace of a late payment
        applying.process_due(now + later)
        row = entitlement_of(account)
        assert (row.plan, row.status, row.cancels) == ("big", "active", "cancels" in by_hand)


def test_more_days_are_refused_where_a_payment_is_missing(client, account):
    for version, status in enumerate(("suspended", "past_due")):
        state_of(client, event(account, version, status=status, past_due_since="2026-11-01"))
        with pytest.raises(ValidationError, match="also set the status to active"):
            entitlements.extend(account, days=30, by="ada")


def test_where_a_plan_ends_without_an_event_a_payment_that_arrives_meanwhile_is_waited_for(client, account):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows")
    make_plan("big", rank=3)
    by_invoice(account)
    state_of(client, event(account, plan="big", ends_on=str(timezone.now().date() + timedelta(days=30))))
    with CaptureQueriesContext(connection) as queries:
        applying.process_due(timezone.now() + timedelta(days=34))
    steps = [each["sql"] for each in queries]
    locked = next(number for number, sql in enumerate(steps) if "FOR UPDATE" in sql)
    assert "dashboard_api_account" in steps[locked]
    reads = [number for number, sql in enumerate(steps) if 'FROM "dashboard_api_subscription"' in sql]
    assert min(reads[1:]) > locked  # the first looks for those that contradict each other


def test_a_subscription_that_stopped_long_ago_takes_nothing_from_a_plan_that_staff_set(client, account):
    state_of(client, event(account, ends_on=str(timezone.now().date() - timedelta(days=60))))
    by_invoice(account, plan="team")
    call_command("reconcile_billing", repair=True, by="ada", verbosity=0)
    assert (entitlement_of(account).status, entitlement_of(account).ends_on) == ("active", LAST)


def test_a_payment_counts_until_the_plan_that_staff_set_begins(client, account):
    today = timezone.now().date()
    begins = today + timedelta(days=14)
    by_invoice(account, starts_on=begins)
    state_of(client, event(account, ends_on=str(today + timedelta(days=30))))
    row = entitlement_of(account)
    assert (row.plan, row.starts_on, row.is_usable_on(today)) == ("team", today, True)
    state_of(client, event(account, 2, status="past_due", past_due_since=str(today), ends_on=str(today)))
    assert entitlement_of(account).is_usable_on(today)
    applying.process_due(timezone.now() + timedelta(days=14))
    row = entitlement_of(account)
    assert (row.plan, row.starts_on, row.ends_on) == ("pro", begins, LAST)


@pytest.mark.parametrize(
    "paid", [{"days": 10}, {"days": 30, "status": "past_due"}, {"days": 10, "status": "past_due"}], ids=str
)
@pytest.mark.parametrize("is_paid_first", [True, False])
def test_what_is_paid_for_can_be_used_before_a_plan_that_begins_later(client, account, paid, is_paid_first):
    today = timezone.now().date()
    paid = {"ends_on": str(today + timedelta(days=paid["days"])), **paid}
    if paid.get("status"):
        paid["past_due_since"] = str(today)
    if is_paid_first:
        state_of(client, event(account, **paid))
    by_invoice(account, starts_on=today + timedelta(days=14))
    if not is_paid_first:
        state_of(client, event(account, **paid))
    assert entitlement_of(account).is_usable_on(today)


def test_the_plan_that_ended_last_stays_as_the_ended_one(client, account):
    today = timezone.now().date()
    by_invoice(account, ends_on=today + timedelta(days=100))
    ended = {"status": "expired", "renews": False, "ends_on": str(today + timedelta(days=30))}
    state_of(client, event(account, **ended))
    applying.process_due(timezone.now() + timedelta(days=104))
    assert (entitlement_of(account).plan, entitlement_of(account).ends_on) == (
        "pro",
        today + timedelta(days=100),
    )


def test_of_several_payments_the_one_for_the_largest_plan_counts(client, account):
    state_of(client, event(account, plan="team", subscription="sub_1"))
    state_of(client, event(account, plan="pro", subscription="sub_2", ends_on="2199-01-01"))
    assert entitlement_of(account).plan == "pro"
    state_of(
        client,
        event(account, 2, plan="pro", subscription="sub_2", status="past_due", past_due_since=str(LAST)),
    )
    assert entitlement_of(account).plan == "team"


def test_a_plan_that_staff_set_is_back_with_its_features(client, account):
    make_plan("big", rank=3, features=["scans_daily", "deep_scans"])
    by_invoice(account)
    entitlements.change(account, {"features": ["scans_daily", "deep_scans"]}, by="ada")
    state_of(client, event(account, plan="big"))
    state_of(client, event(account, 2, plan="big", status="expired", renews=False))
    assert entitlement_of(account).features == ["scans_daily", "deep_scans"]


def test_events_that_contradict_each_other_stay_unclear_where_a_plan_ends_meanwhile(client, account):
    by_invoice(account, ends_on=timezone.now().date())
    for ends_on in ("2025-01-01", "2025-02-01"):
        state_of(
            client, event(account, subscription="sub_1", ends_on=ends_on, status="expired", renews=False)
        )
    assert applying.undelivered(timezone.now())["unclear"] == 1
    applying.process_due(timezone.now() + timedelta(days=1))
    assert applying.undelivered(timezone.now())["unclear"] == 1


def test_a_plan_of_the_list_without_the_features_that_staff_agreed_to_is_no_better(client, account):
    make_plan("big", rank=3, limits={"websites": 100})
    by_invoice(account, plan="agreed-by-phone", sites_limit=5, features=["deep_scans"])
    state_of(client, event(account, plan="big"))
    assert (entitlement_of(account).plan, entitlement_of(account).features) == (
        "agreed-by-phone",
        ["deep_scans"],
    )


# What cannot be applied


@pytest.mark.parametrize(
    ("changes", "state", "error"),
    [
        ({"kind": "invoice.paid"}, "ignored", "unknown_type"),
        ({"kind": "\0\n" * 300}, "ignored", "unknown_type"),
        ({"livemode": False}, "ignored", "wrong_mode"),
        ({"plan": "unheard-of"}, "failed", "unknown_plan"),
        ({"plan": "\0"}, "failed", "unreadable"),
        ({"plan": "standard\n"}, "failed", "unreadable"),
        ({"customer": f"{'x' * 255}\n"}, "failed", "unreadable"),  # longer than its column
        ({"status": "unheard-of"}, "failed", "unreadable"),
        ({"status": "past_due"}, "failed", "unreadable"),
        ({"version": "1"}, "failed", "unreadable"),
        ({"version": 2**64}, "failed", "unreadable"),
        ({"ends_on": "9999-12-31"}, "failed", "unreadable"),
        ({"ends_on": "soon"}, "failed", "unreadable"),
        ({"billing_ref": "acct_0001"}, "waiting", ""),
        ({"billing_ref": "7a7a7a7a-0000-4000-8000-000000000000"}, "waiting", ""),
        ({"unknown_member": [1]}, "applied", ""),
    ],
)
def test_an_event_is_stored_whatever_comes_of_it(client, account, changes, state, error):
    before = entitlement_of(account)
    assert state_of(client, event(account, **changes)) == state
    stored = CallbackEvent.objects.get()
    assert (stored.state, stored.error) == (state, error)
    if state != "applied":
        assert entitlement_of(account) == before
        assert entitlement_of(account).plan == before.plan


@pytest.mark.parametrize(
    "members", [{"timestamp": 1764000000}, {"timestamp": "23.11.2026"}, {"livemode": "yes"}], ids=str
)
def test_an_event_of_ours_with_a_member_of_another_form_fails(client, account, members):
    body = json.loads(event(account)) | members
    assert state_of(client, json.dumps(body).encode()) == "failed"
    assert CallbackEvent.objects.get().error == "unreadable"
    other = body | {"type": "invoice.paid"}
    assert state_of(client, json.dumps(other).encode()) == "ignored"


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"null", b"7", b"[" * 200_000, b'{"type": 7}', b'{"type":"a","type":"b"}']
)
def test_a_signed_body_that_is_no_event_is_ignored(client, body):
    assert state_of(client, body) == "ignored"


def test_a_failed_event_is_tried_again_and_then_given_up(client, account):
    state_of(client, event(account, plan="gold"))
    now = timezone.now()
    for hours in (1, 2, 4, 8):
        assert applying.process_due(now + timedelta(hours=hours)) == {"failed": 1}
    assert applying.process_due(now + timedelta(days=2)) == {"dead": 1}
    assert applying.process_due(now + timedelta(days=9)) == {}
    make_plan("gold")
    assert "Applied again: " in by_staff("replay", CallbackEvent.objects.get())
    assert entitlement_of(account).plan == "gold"


def test_an_event_that_waits_is_given_up_after_a_day(client, account):
    state_of(client, event(account, billing_ref="7a7a7a7a-0000-4000-8000-000000000000"))
    now = timezone.now()
    assert applying.process_due(now + timedelta(hours=23)) == {"waiting": 1}
    assert applying.process_due(now + timedelta(hours=25)) == {"dead": 1}


def test_an_error_of_our_own_leaves_the_event_stored_and_the_entitlement_as_it_was(
    client, account, monkeypatch
):
    def break_off(*_args, **_options):
        raise ZeroDivisionError

    monkeypatch.setattr("dashboard_api.billing.entitlements.change", break_off)
    assert state_of(client, event(account, status="suspended")) == "failed"
    monkeypatch.undo()
    assert entitlement_of(account).status == Status.ACTIVE
    applying.replay(CallbackEvent.objects.get().pk, timezone.now())
    assert entitlement_of(account).status == Status.SUSPENDED


def test_an_event_that_cannot_be_stored_is_asked_for_again(client, account, monkeypatch):
    def full(*_args, **_options):
        raise OperationalError("disk full")

    monkeypatch.setattr("dashboard_api.billing.entitlements.change", full)
    response = post(client, event(account, status="suspended"))
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert not CallbackEvent.objects.exists()


@pytest.mark.parametrize("days", [0, 2])  # given up after a day
def test_an_event_of_a_customer_is_applied_once_the_customer_is_an_account(client, account, days):
    PlanPrice.objects.create(provider="standard", price="price_1", plan=Plan.objects.get(slug="pro"))
    bought = event(account, billing_ref="cus_1", plan="team").replace(b'"billing_ref": "cus_1", ', b"")
    bought = bought.replace(b'"plan": "team"', b'"price": "price_1", "customer": "cus_1"')
    assert state_of(client, bought) == "waiting"
    applying.process_due(timezone.now() + timedelta(days=days))
    assert state_of(client, event(account, kind="customer.linked", customer="cus_1")) == "applied"
    assert entitlement_of(account).plan == "pro"
    assert state_of(client, event(account, kind="customer.linked", customer="cus_2")) == "failed"
    assert CallbackEvent.objects.get(state="failed").error == "second_customer"
    unknown = bought.replace(b"price_1", b"price_2")
    assert state_of(client, unknown) == "failed"
    assert CallbackEvent.objects.filter(error="unknown_price").exists()


def test_staff_let_another_customer_pay_for_an_account(client, account):
    state_of(client, event(account, customer="cus_1", subscription="sub_1", status="expired", renews=False))
    assert state_of(client, event(account, customer="cus_2", subscription="sub_2", plan="pro")) == "failed"
    failed = CallbackEvent.objects.get(state="failed")
    by_staff("let_customer_pay", failed)
    assert entitlement_of(account).plan == "pro"
    assert list(account.billing_customers.values_list("customer", flat=True)) == ["cus_2"]
    assert "It did not fail because of its customer." in by_staff("let_customer_pay", failed)
    assert account.billing_customers.get().customer == "cus_2"


@pytest.mark.parametrize(("left", "plan"), [(["sub_3"], "team"), ([], "pro")])
def test_staff_move_a_customer_who_paid_with_the_reference_of_another_account(client, account, left, plan):
    other = make_account("acct_0002")
    last = date(2199, 1, 1)
    state_of(client, event(other, customer="cus_1", subscription="sub_1", plan="pro", ends_on=f"{last}"))
    state_of(client, event(other, customer="cus_1", subscription="sub_2"))
    for number in left:
        state_of(client, event(other, subscription=number))  # without a customer
    assert state_of(client, event(account, 1, customer="cus_1", subscription="sub_2")) == "failed"
    failed = CallbackEvent.objects.get(state="failed")
    applying.replace_customer(failed.pk, timezone.now())
    assert (entitlement_of(account).plan, entitlement_of(account).ends_on) == ("pro", last)
    assert not other.billing_customers.exists()
    assert list(other.subscriptions.values_list("object_id", flat=True)) == left
    row = entitlement_of(other)
    assert (row.plan, row.renews) == (plan, bool(left)), "without another payment, it ends on its last day"
    assert state_of(client, event(account, 2, customer="cus_1", subscription="sub_2")) == "applied"


def test_without_what_the_earlier_customer_paid_for_the_plan_that_staff_set_is_back(client, account):
    make_plan("big", rank=3)
    by_invoice(account)
    state_of(client, event(account, customer="cus_1", plan="big"))
    state_of(client, event(account, kind="customer.linked", customer="cus_2"))
    failed = CallbackEvent.objects.get(state="failed")
    applying.replace_customer(failed.pk, timezone.now())
    row = entitlement_of(account)
    assert (row.plan, row.ends_on, row.renews) == ("pro", LAST, False)


def test_a_new_customer_whose_event_fails_again_replaces_none(client, account):
    state_of(client, event(account, customer="cus_1"))
    new = event(account, customer="cus_2", subscription="sub_2", plan="pro")
    PlanPrice.objects.create(provider="standard", price="price_1", plan=Plan.objects.get(slug="pro"))
    state_of(client, new.replace(b'"plan": "pro"', b'"price": "price_1"'))
    PlanPrice.objects.all().delete()
    failed = CallbackEvent.objects.get(state="failed")
    assert "It failed again: unknown_price. Nothing was changed." in by_staff("let_customer_pay", failed)
    assert account.billing_customers.get().customer == "cus_1"
    assert account.subscriptions.exists()
    assert CallbackEvent.objects.get(pk=failed.pk).error == "second_customer"


def test_a_customer_whom_two_accounts_get_at_once_is_that_of_the_first(client, account, monkeypatch):
    other = make_account("acct_0002")
    BillingCustomer.objects.create(provider="standard", account=other, customer="cus_1")
    monkeypatch.setattr(BillingCustomer.objects, "filter", lambda **_: BillingCustomer.objects.none())
    assert state_of(client, event(account, kind="customer.linked", customer="cus_1")) == "failed"
    assert CallbackEvent.objects.get().error == "second_customer"


# Who sends it


def test_every_flipped_bit_is_refused(client, account, settings):
    body = event(account)
    now = timezone.now()
    headers = signed(body)
    for name, value in {**headers, "body": body.decode()}.items():
        for index in range(len(value)):
            for bit in range(8):
                flipped = value[:index] + chr(ord(value[index]) ^ 1 << bit) + value[index + 1 :]
                sent = {**headers, "body": body.decode(), name: flipped}
                with pytest.raises(standard.Refused):
                    standard.verify(sent, sent["body"].encode("latin-1"), [NEW], now)
    assert standard.verify(headers, body, [NEW], now) == headers["webhook-id"]


def test_a_callback_with_a_wrong_signature_is_refused_and_not_stored(client, account):
    for headers in ({}, signed(b"other"), signed(event(account), secret=OLD)):
        response = post(client, event(account), headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_signature")
    assert not CallbackEvent.objects.exists()


def test_both_secrets_are_accepted_while_they_overlap(client, account, settings):
    settings.CALLBACK_SECRETS = {"standard": [NEW, OLD]}
    assert state_of(client, event(account), secret=OLD) == "applied"
    assert state_of(client, event(account, 2), secret=NEW) == "applied"
    settings.CALLBACK_SECRETS = {"standard": [NEW]}
    assert post(client, event(account, 3), secret=OLD).status_code == 401


@pytest.mark.parametrize(("seconds", "is_accepted"), [(300, True), (301, False), (-300, True), (-301, False)])
def test_the_time_may_differ_by_300_seconds_both_ways(seconds, is_accepted):
    now = timezone.now()
    headers = signed(b"{}", at=int(now.timestamp()) + seconds)
    if is_accepted:
        assert standard.verify(headers, b"{}", [NEW], now)
    else:
        with pytest.raises(standard.Refused):
            standard.verify(headers, b"{}", [NEW], now)


def test_only_providers_with_a_secret_have_a_route(client, settings):
    assert client.post("/v1/callbacks/unknown", b"{}", content_type="application/json").status_code == 404
    assert client.get(PATH).status_code == 405
    assert client.post(PATH, b"a=1", content_type="text/plain").status_code == 415
    settings.CALLBACK_SECRETS = {"standard": []}
    assert post(client, b"{}").status_code == 404


def test_a_body_has_at_most_256_kb(client):
    assert state_of(client, b" " * 256 * 1024) == "ignored"
    response = post(client, b" " * (256 * 1024 + 1))
    assert (response.status_code, response.json()["error"]["max_bytes"]) == (413, 256 * 1024)


def test_no_secret_reference_or_address_of_a_payer_is_in_the_log_or_the_tables(client, account, caplog):
    caplog.set_level(logging.DEBUG)
    state_of(client, event(account, payer="ada@example.com", plan="gold"))
    post(client, event(account, payer="ada@example.com"), headers={"webhook-signature": "v1,secret"})
    rows = str(list(CallbackEvent.objects.values()) + list(AuditEvent.objects.values()))
    for text in ("ada@example.com", NEW[6:]):
        assert text not in caplog.text + rows
    assert str(account.billing_ref) not in caplog.text


def test_bodies_are_deleted_after_30_days(client, account):
    state_of(client, event(account))
    assert applying.prune(timezone.now() + timedelta(days=29)) == 0
    assert applying.prune(timezone.now() + timedelta(days=31)) == 1
    assert CallbackEvent.objects.get().sealed_body == ""


# Commands


def test_drift_is_listed_and_repaired(client, account, capsys):
    state_of(client, event(account))
    Entitlement.objects.update(status="suspended")
    call_command("reconcile_billing")
    assert "acct_0001: status" in capsys.readouterr().out
    assert entitlement_of(account).status == Status.SUSPENDED
    call_command("reconcile_billing", repair=True, by="ada", verbosity=0)
    assert entitlement_of(account).status == Status.ACTIVE
    assert (
        AuditEvent.objects.filter(action="entitlement.changed").filter(reason__startswith="Drift").count()
        == 1
    )
    capsys.readouterr()
    call_command("reconcile_billing")
    assert "No differences." in capsys.readouterr().out


def test_the_program_of_the_guide_sends_what_is_applied(client, account, settings, monkeypatch):
    settings.CALLBACK_LIVEMODE = False
    for status in ("trialing", "active", "past_due", "suspended", "active"):
        request = documented_request(account, status, NEW, monkeypatch)
        headers = {name: value for name, value in request.header_items() if name != "Content-type"}
        assert post(client, request.data, headers).json()["state"] == "applied"
        assert entitlement_of(account).status == status
