"""``POST /v1/callbacks/stripe``: what Stripe documents becomes what an account may use."""

import json
import subprocess
import sys
from datetime import timedelta

import pytest
import stripe as stripe_library
from django.core.management import call_command
from django.utils import timezone

from dashboard_api.billing.callbacks import applying, stripe
from dashboard_api.billing.snapshots import CannotApply, CustomerLink, Ignored, Refused
from dashboard_api.models import CallbackEvent, Entitlement, PlanPrice, Subscription
from tests.dashboard_api.billing.callbacks.stripe_events import (
    BEGAN,
    CUSTOMER,
    DAY,
    PRICE,
    SECRET,
    Answers,
    checkout,
    day_of,
    event,
    item,
    life,
    signed,
    subscription,
)
from tests.factories import make_account, make_plan

OLD = "whsec_StripeTestsOnlyOld456789abcdef"
NOW = timezone.now()


def read(body, *, livemode=True):
    return stripe.read(body, livemode=livemode)


def post(client, body, headers=None, **options):
    headers = signed(body, **options) if headers is None else headers
    return client.post("/v1/callbacks/stripe", body, content_type="application/json", headers=headers)


def state_of(client, body):
    response = post(client, body)
    assert response.status_code == 200, response.content
    return response.json()["state"]


@pytest.fixture
def account():
    PlanPrice.objects.create(provider="stripe", price=PRICE, plan=make_plan())
    PlanPrice.objects.create(provider="stripe", price="price_TestsOnlyPro", plan=make_plan("pro", rank=2))
    return make_account()


def entitlement_of(account):
    return Entitlement.objects.get(account=account)


# What an event says


@pytest.mark.parametrize(
    ("theirs", "ours", "renews"),
    [
        (subscription("trialing"), "trialing", True),
        (subscription("active"), "active", True),
        (subscription("active", cancel_at_period_end=True, cancel_at=BEGAN + 30 * DAY), "active", False),
        (subscription("past_due"), "past_due", True),
        (subscription("unpaid"), "suspended", True),
        (subscription("paused"), "suspended", True),
        (subscription("canceled", ended_at=BEGAN + 30 * DAY), "active", False),
        (
            subscription(
                "canceled", ended_at=BEGAN + 30 * DAY, cancellation_details={"reason": "payment_failed"}
            ),
            "expired",
            False,
        ),
        (subscription("incomplete"), "", True),
        (subscription("incomplete_expired"), "", True),
    ],
)
def test_each_status_of_stripe_has_one_of_ours(theirs, ours, renews):
    snapshot = read(event(about=theirs))
    assert (snapshot.status, snapshot.renews, snapshot.cancels) == (ours, renews, not renews)
    assert snapshot.ends_on == day_of(BEGAN + 30 * DAY)


def test_the_period_is_read_from_the_items_and_from_older_versions_of_the_api():
    two = subscription(items=[item(ends=BEGAN + 365 * DAY), item("price_2", ends=BEGAN + 30 * DAY)])
    assert read(event(about=two)).ends_on == day_of(BEGAN + 30 * DAY)  # the next payment
    assert read(event(about=two)).other_prices == ("price_2",)
    without = item() | {"current_period_end": None}
    old = subscription(items=[without], current_period_end=BEGAN + 9 * DAY)
    assert read(event(about=old)).ends_on == day_of(BEGAN + 9 * DAY)


def test_a_checkout_links_its_customer_to_the_account():
    link = read(checkout("0b0c6d3e-5d0f-4b58-9c0a-2f5f5c7d8e90"))
    assert isinstance(link, CustomerLink)
    assert (link.customer, link.billing_ref[:8]) == (CUSTOMER, "0b0c6d3e")
    for other in (checkout(None), checkout("0b0c6d3e", mode="payment"), checkout("0b0c6d3e", customer=None)):
        assert read(other).why == "no_reference"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "unreadable"),
        (b"[]", "unreadable"),
        (b"[" * 200_000, "unreadable"),
        (event("invoice.paid"), "unknown_type"),
        (event("\0\n" * 300), "unknown_type"),
        (event(livemode=False), "wrong_mode"),
    ],
)
def test_an_event_that_changes_nothing_is_ignored(body, why):
    content = read(body)
    assert isinstance(content, Ignored)
    assert content.why == why


@pytest.mark.parametrize(
    "body",
    [
        event(about={"object": "subscription"}),
        event(about=subscription("unheard-of")),
        event(about=subscription(items=[item() | {"current_period_end": None}])),
        event(about=subscription(items=[item(ends=2**62)])),
        event(about=subscription() | {"items": {"data": []}}),
        event(about=subscription(customer="\0")),
        event(about=subscription(customer={"id": CUSTOMER})),
        event(at=2**62),
        event(at=-1),
    ],
)
def test_a_subscription_in_another_form_cannot_be_applied(body):
    with pytest.raises(CannotApply, match="unreadable"):
        read(body)


# Who sends it


@pytest.mark.parametrize(("seconds", "is_accepted"), [(300, True), (301, False), (-300, True), (-301, False)])
def test_the_time_may_differ_by_300_seconds_both_ways(seconds, is_accepted):
    body = event()
    headers = signed(body, at=int(NOW.timestamp()) + seconds)
    if is_accepted:
        assert stripe.verify(headers, body, [OLD, SECRET], NOW) == json.loads(body)["id"]
    else:
        with pytest.raises(Refused):
            stripe.verify(headers, body, [SECRET], NOW)


@pytest.mark.once
def test_every_flipped_bit_is_refused():
    body = b'{"id":"evt_1"}'
    header = signed(body, at=NOW.timestamp())["stripe-signature"]
    for where, text in (("header", header), ("body", body.decode())):
        for index in range(len(text)):
            for bit in range(8):
                flipped = text[:index] + chr(ord(text[index]) ^ 1 << bit) + text[index + 1 :]
                sent = flipped if where == "header" else header
                payload = flipped.encode("latin-1") if where == "body" else body
                with pytest.raises(Refused):
                    stripe.verify({"stripe-signature": sent}, payload, [SECRET], NOW)
    assert stripe.verify({"stripe-signature": header}, body, [SECRET], NOW) == "evt_1"


@pytest.mark.parametrize("header", ["", "t=", "t=1", "v1=a", "t=1,v1", "t=1,t=2,v1=a", "=,=", "t=²,v1=a"])
def test_an_odd_header_is_refused(header):
    with pytest.raises(Refused):
        stripe.verify({"stripe-signature": header}, b"{}", [SECRET], NOW)


def test_the_library_is_imported_only_when_a_callback_arrives():
    code = "import sys; from dashboard_api.billing.callbacks import stripe; print('stripe' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.django_db
def test_a_wrong_signature_is_refused_and_a_right_one_is_stored(client, settings):
    body = event()
    assert post(client, body, secret=OLD).status_code == 401
    assert post(client, body, {"stripe-signature": "t=1,v1=é"}).status_code == 401
    assert not CallbackEvent.objects.exists()
    assert post(client, b"[]").json()["state"] == "ignored"
    assert post(client, b"[]").json()["state"] == "duplicate"
    settings.CALLBACK_SECRETS = {"stripe": []}
    assert post(client, body).status_code == 404


# What is paid for


@pytest.mark.django_db
def test_an_account_is_moved_from_its_trial_through_late_payments_and_back(client, account):
    first, *others = life()
    assert state_of(client, first) == "waiting"
    assert state_of(client, checkout(account.billing_ref)) == "applied"
    assert entitlement_of(account).status == "trialing"
    for body, status in zip(others, ("active", "past_due", "suspended", "past_due", "active"), strict=True):
        assert state_of(client, body) == "applied"
        assert entitlement_of(account).status == status
    row = entitlement_of(account)
    assert (row.plan, row.renews, row.ends_on) == ("team", True, day_of(BEGAN + 60 * DAY))


@pytest.mark.django_db
def test_a_subscription_can_name_its_account_by_its_metadata(client, account):
    body = event(about=subscription(metadata={"billing_ref": str(account.billing_ref)}))
    assert state_of(client, body) == "applied"
    assert entitlement_of(account).plan == "team"


@pytest.mark.django_db
def test_of_several_items_the_greatest_plan_counts_and_an_unknown_price_fails(client, account):
    state_of(client, checkout(account.billing_ref))
    items = [item("price_addon"), item(), item("price_TestsOnlyPro")]
    assert state_of(client, event(about=subscription(items=items))) == "applied"
    assert entitlement_of(account).plan == "pro"
    assert state_of(client, event(about=subscription(items=[item("price_addon")]), at=BEGAN + 1)) == "failed"
    assert CallbackEvent.objects.get(state="failed").error == "unknown_price"
    assert entitlement_of(account).plan == "pro"


@pytest.mark.django_db
@pytest.mark.parametrize("is_late_last", [True, False])
def test_a_payment_is_late_since_the_event_that_says_so(client, account, is_late_last):
    state_of(client, checkout(account.billing_ref))
    began = event(about=subscription("past_due"), at=BEGAN + 30 * DAY, previous={"status": "active"})
    later = event(about=subscription("past_due"), at=BEGAN + 33 * DAY, previous={"default_source": None})
    both = [began, later] if is_late_last else [later, began]
    for body in (event(at=BEGAN), *both):
        state_of(client, body)
    assert entitlement_of(account).past_due_since == day_of(BEGAN + 30 * DAY)


@pytest.mark.django_db
def test_an_earlier_late_payment_does_not_shorten_the_days_of_grace(client, account):
    state_of(client, checkout(account.billing_ref))
    state_of(client, event(about=subscription("past_due"), at=BEGAN, previous={"status": "active"}))
    state_of(client, event(at=BEGAN + DAY, previous={"status": "past_due"}))
    state_of(client, event(about=subscription("past_due"), at=BEGAN + 40 * DAY))
    assert entitlement_of(account).past_due_since == day_of(BEGAN + 40 * DAY)


@pytest.mark.django_db
def test_in_one_second_the_event_whose_previous_values_are_stored_is_later(client, account):
    state_of(client, checkout(account.billing_ref))
    paid = event(previous={"status": "past_due"})
    late = event(about=subscription("past_due"), previous={"status": "trialing"})
    for body in (paid, late):
        state_of(client, body)
    assert entitlement_of(account).status == "active"
    assert Subscription.objects.get().unclear_until is None


@pytest.mark.django_db
def test_a_chain_of_one_second_holds_in_every_order(client, account):
    state_of(client, checkout(account.billing_ref))
    chain = [
        event(about=subscription("trialing"), previous={"status": "incomplete"}),
        event(about=subscription("past_due"), previous={"status": "trialing"}),
        event(about=subscription("active"), previous={"status": "past_due"}),
    ]
    for first, second, third in ((0, 2, 1), (2, 0, 1), (1, 0, 2)):
        Subscription.objects.all().delete()
        CallbackEvent.objects.all().delete()
        for index in (first, second, third):
            state_of(client, chain[index])
        assert entitlement_of(account).status == "active"


@pytest.mark.django_db
def test_a_deletion_of_the_same_second_is_later(client, account):
    state_of(client, checkout(account.billing_ref))
    gone = subscription("canceled", ended_at=BEGAN + 9 * DAY)
    state_of(client, event("customer.subscription.deleted", gone))
    assert state_of(client, event()) == "superseded"
    row = entitlement_of(account)
    assert (row.cancels, row.ends_on) == (True, day_of(BEGAN + 9 * DAY))


@pytest.mark.django_db
def test_contradicting_events_of_one_second_are_noted_until_a_newer_one(client, account):
    state_of(client, checkout(account.billing_ref))
    state_of(client, event())
    state_of(client, event(about=subscription("unpaid")))
    assert Subscription.objects.get().unclear_until - timezone.now() < timedelta(minutes=10)
    assert applying.undelivered(timezone.now())["unclear"] == 1
    state_of(client, event(at=BEGAN + 1))
    assert applying.undelivered(timezone.now())["unclear"] == 0


# Asking Stripe


@pytest.fixture
def asked(monkeypatch, settings):
    """Let Stripe answer with these subscriptions; without any it has an outage."""
    settings.STRIPE_API_KEY = "rk_test_TestsOnly1"
    monkeypatch.setattr(stripe_library, "RequestsClient", Answers)
    monkeypatch.setattr(Answers, "subscriptions", [])
    return Answers


@pytest.mark.django_db
def test_contradicting_events_are_settled_by_asking_stripe_ten_minutes_later(client, account, asked):
    state_of(client, checkout(account.billing_ref))
    for body in (event(), event(about=subscription("unpaid"))):
        state_of(client, body)
    later = timezone.now() + timedelta(minutes=11)
    applying.process_due(later)
    assert applying.undelivered(later)["unclear"] == 1  # an outage
    for status, ours in (("unpaid", "suspended"), ("active", "active")):
        Subscription.objects.update(unclear_until=later)
        asked.subscriptions = [subscription(status)]
        applying.process_due(later)
        assert entitlement_of(account).status == ours
    assert applying.undelivered(later)["unclear"] == 0
    assert state_of(client, event(about=subscription("trialing"), at=BEGAN + 1)) == "applied"


@pytest.mark.django_db
def test_reconciling_finds_an_event_that_never_came(client, account, asked, capsys, caplog):
    state_of(client, checkout(account.billing_ref))
    call_command("reconcile_billing")
    assert "acct_0001: APIError" in capsys.readouterr().out
    asked.subscriptions = [subscription("unpaid"), subscription(id="sub_2", livemode=False)]
    call_command("reconcile_billing")
    text = capsys.readouterr().out
    assert "Differences: 1 found, --repair sets what the provider reported (acct_0001)." in text
    assert "acct_0001: " in text
    assert "The entitlement of acct_0001 differs from what was paid" in caplog.text
    assert not Subscription.objects.exists()
    call_command("reconcile_billing", repair=True, by="ada", verbosity=0)
    assert entitlement_of(account).status == "suspended"
    assert "Differences: 1 found, 1 repaired (acct_0001)." in capsys.readouterr().out
    caplog.clear()
    call_command("reconcile_billing")
    assert "differs from" not in caplog.text
    assert "No differences." in capsys.readouterr().out
