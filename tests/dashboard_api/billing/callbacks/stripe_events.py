"""Events as Stripe documents them, written by hand: a subscription from its trial to its end."""

import json
import time
from datetime import UTC, datetime, timedelta

import stripe as stripe_library

SECRET = "whsec_StripeTestsOnly0123456789abcdef"
CUSTOMER, SUBSCRIPTION, PRICE = "cus_TestsOnly1", "sub_TestsOnly1", "price_TestsOnly1"
BEGAN = int(datetime(2026, 11, 1, 9, tzinfo=UTC).timestamp())
DAY = 86_400
_number = iter(range(1, 1_000_000))


def item(price=PRICE, *, ends=BEGAN + 30 * DAY):
    return {
        "id": f"si_{price}",
        "object": "subscription_item",
        "billing_thresholds": None,
        "created": BEGAN,
        "current_period_end": ends,
        "current_period_start": ends - 30 * DAY,
        "discounts": [],
        "metadata": {},
        "price": {
            "id": price,
            "object": "price",
            "active": True,
            "currency": "eur",
            "product": "prod_TestsOnly1",
            "recurring": {"interval": "month", "interval_count": 1, "usage_type": "licensed"},
            "type": "recurring",
            "unit_amount": 2900,
        },
        "quantity": 1,
        "subscription": SUBSCRIPTION,
        "tax_rates": [],
    }


def subscription(status="active", *, items=None, **changes):
    """Return a subscription object; its period is on its items."""
    values = {
        "id": SUBSCRIPTION,
        "object": "subscription",
        "billing_cycle_anchor": BEGAN,
        "cancel_at": None,
        "cancel_at_period_end": False,
        "canceled_at": None,
        "cancellation_details": {"comment": None, "feedback": None, "reason": None},
        "collection_method": "charge_automatically",
        "created": BEGAN,
        "currency": "eur",
        "customer": CUSTOMER,
        "default_payment_method": "pm_TestsOnly1",
        "description": None,
        "ended_at": None,
        "items": {
            "object": "list",
            "data": items or [item()],
            "has_more": False,
            "url": f"/v1/subscription_items?subscription={SUBSCRIPTION}",
        },
        "latest_invoice": "in_TestsOnly1",
        "livemode": True,
        "metadata": {},
        "pause_collection": None,
        "start_date": BEGAN,
        "status": status,
        "trial_end": None,
        "trial_start": None,
    }
    return values | changes


def event(kind="customer.subscription.updated", about=None, *, at=BEGAN, previous=None, **changes):
    """Return the bytes of an event about a subscription, or about another object."""
    data = {"object": subscription() if about is None else about}
    if previous is not None:
        data["previous_attributes"] = previous
    values = {
        "id": f"evt_TestsOnly{next(_number)}",
        "object": "event",
        "api_version": "2026-10-28.endive",
        "created": at,
        "data": data,
        "livemode": True,
        "pending_webhooks": 1,
        "request": {"id": None, "idempotency_key": None},
        "type": kind,
    }
    return json.dumps(values | changes).encode()


def checkout(billing_ref, **changes):
    """Return the event of a checkout, which says whose customer it is."""
    session = {
        "id": "cs_TestsOnly1",
        "object": "checkout.session",
        "client_reference_id": None if billing_ref is None else str(billing_ref),
        "customer": CUSTOMER,
        "customer_details": {"email": "payer@example.com", "name": "A Payer"},
        "mode": "subscription",
        "payment_status": "paid",
        "status": "complete",
        "subscription": SUBSCRIPTION,
    }
    return event("checkout.session.completed", session | changes)


def life():
    """Return the six events of a life: a trial is paid, late, unpaid, late for a second, and paid again."""
    renewed = [item(ends=BEGAN + 60 * DAY)]
    ended = {"items": {"data": [item()]}, "latest_invoice": "in_TestsOnly1", "status": "active"}
    late = {"items": renewed, "latest_invoice": "in_TestsOnly2"}
    steps = (
        ("created", "trialing", 0, None, {}),
        ("updated", "active", 14, {"status": "trialing"}, {}),
        ("updated", "past_due", 30, ended, late),
        ("updated", "unpaid", 37, {"status": "past_due"}, late),
        ("updated", "past_due", 40, {"status": "unpaid"}, late),
        ("updated", "active", 40, {"status": "past_due"}, late),  # of the same second
    )
    return [
        event(
            f"customer.subscription.{kind}",
            subscription(status, **values),
            at=BEGAN + day * DAY,
            previous=previous,
        )
        for kind, status, day, previous, values in steps
    ]


def signed(body, *, secret=SECRET, at=None):
    sign = stripe_library.WebhookSignature.generate_signature_header
    return {"stripe-signature": sign(body.decode(), secret, int(at or time.time()))}


def day_of(seconds):
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).date()


class Answers(stripe_library.HTTPClient):
    """The API of Stripe with the subscriptions of a customer, without a network."""

    name = "tests"
    subscriptions = ()

    def __init__(self, **options):
        super().__init__()

    def request(self, method, url, headers, post_data=None, **options):
        assert (method, url.partition("?")[0]) == ("get", "https://api.stripe.com/v1/subscriptions")
        assert headers["Authorization"].startswith("Bearer rk_test_")
        if not self.subscriptions:
            return json.dumps({"error": {"type": "api_error"}}), 500, {}
        body = {"object": "list", "url": "/v1/subscriptions", "has_more": False, "data": self.subscriptions}
        return json.dumps(body), 200, {}

    def _sleep_time_seconds(self, *_, **__):
        return 0

    def close(self):
        pass
