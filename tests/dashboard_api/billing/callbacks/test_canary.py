"""No callback's secret, body or payer is in a log, page, metric, action on record or command's output."""

import json
import logging
import time

import pytest
import stripe as stripe_library
from django.core.management import call_command
from django.utils import timezone

from audit.models import AuditEvent
from config.operations import health
from dashboard_api.billing.callbacks import applying, standard
from dashboard_api.models import BillingCustomer, CallbackEvent, PlanPrice, Subscription
from foundation.operations.health import Readiness
from tests.dashboard_api.billing.callbacks import stripe_events
from tests.factories import make_account, make_plan, make_user

pytestmark = pytest.mark.django_db

WHSEC = "whsec_Y2FuYXJ5LWNhbmFyeS1jYW5hcnktMDEyMzQ1Njc4"
STRIPE_SECRET, API_KEY = "whsec_canaryStripe0123456789abcdef", "rk_test_canaryKey0123456789"
TOKEN = "only-for-tests-0123456789-0123456789"
PAYER = {"email": "canary@payer.example", "name": "Canary Payer", "card": "4242canary"}
CANARIES = (WHSEC[6:], STRIPE_SECRET[6:], API_KEY, "canary@payer", "Canary Payer", "4242canary", "bodycanary")


@pytest.fixture
def sent(client, settings, caplog, monkeypatch):
    """Send events of both providers that are applied, fail, wait, are ignored and are refused."""
    caplog.set_level(logging.DEBUG)
    settings.CALLBACK_SECRETS = {"standard": [WHSEC], "stripe": [STRIPE_SECRET]}
    monkeypatch.setattr(stripe_library, "RequestsClient", stripe_events.Answers)  # an outage of its API
    monkeypatch.setattr(health, "READINESS", Readiness({"database": lambda: None}))
    settings.STRIPE_API_KEY, settings.METRICS_TOKEN = API_KEY, TOKEN
    PlanPrice.objects.create(provider="stripe", price=stripe_events.PRICE, plan=make_plan())
    account = make_account()
    for number, (kind, data) in enumerate(
        [
            ("entitlement.set", {"plan": "team"}),
            ("entitlement.set", {"plan": "bodycanary"}),
            ("entitlement.set", {"plan": "team", "billing_ref": "7a7a7a7a-0000-4000-8000-000000000000"}),
            ("entitlement.set", {"plan": "team", "version": "bodycanary"}),
            ("bodycanary.unknown", {}),
        ]
    ):
        own = {"billing_ref": str(account.billing_ref), "version": number, "status": "active", "payer": PAYER}
        body = json.dumps(
            {"type": "entitlement.set", "data": own | {"ends_on": "2199-12-31"} | data}
        ).encode()
        if kind != "entitlement.set":
            body = json.dumps({"type": "other", "data": PAYER, "note": "bodycanary"}).encode()
        at = int(time.time())
        headers = {"webhook-id": f"msg_{number}", "webhook-timestamp": str(at)}
        good = headers | {"webhook-signature": standard.signature(f"msg_{number}", at, body, WHSEC)}
        for each in (good, headers | {"webhook-signature": "v1,bodycanary"}):
            post(client, "standard", body, each)
    theirs = stripe_events.subscription(description="bodycanary", metadata={"note": "bodycanary", **PAYER})
    for body in (
        stripe_events.checkout(account.billing_ref, customer_details=PAYER, note="bodycanary"),
        stripe_events.event(about=theirs, previous={"description": "bodycanary", "status": "trialing"}),
        stripe_events.event(about=theirs | {"items": {"data": "bodycanary"}}),
        stripe_events.event("invoice.paid", {"customer_email": PAYER["email"], "lines": "bodycanary"}),
    ):
        post(client, "stripe", body, stripe_events.signed(body, secret=STRIPE_SECRET))
        post(client, "stripe", body, {"stripe-signature": "t=1,v1=bodycanary"})
    states = set(CallbackEvent.objects.values_list("state", flat=True))
    assert states == {"applied", "failed", "waiting", "ignored"}
    return account


def post(client, provider, body, headers):
    response = client.post(
        f"/v1/callbacks/{provider}", body, content_type="application/json", headers=headers
    )
    assert response.status_code in (200, 401)
    assert not found_in(response.content.decode())


def found_in(text):
    return [canary for canary in CANARIES if canary in text]


def test_no_secret_or_body_is_shown_anywhere(client, sent, caplog, capsys):
    for command in ("process_callbacks", "reconcile_billing"):
        call_command(command, "--json")
    for event in CallbackEvent.objects.filter(received_at__gte=sent.created_at):
        applying.replay(event.pk, timezone.now())
    call_command("show_account", sent.ref)
    output = capsys.readouterr()
    rows = [
        list(model.objects.values()) for model in (AuditEvent, CallbackEvent, Subscription, BillingCustomer)
    ]
    metrics = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert metrics.status_code == 200
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    pages = ["/admin/", f"/admin/dashboard_api/account/{sent.pk}/change/", "/admin/audit/auditevent/"]
    pages += [f"/admin/dashboard_api/callbackevent/{pk}" for pk in ("", *_keys())]
    texts = [client.get(page, follow=True).content.decode() for page in pages]
    for text in (caplog.text, output.out, output.err, str(rows), metrics.content.decode(), *texts):
        assert not found_in(text)
    assert str(sent.billing_ref) not in caplog.text


def _keys():
    return [f"{pk}/change/" for pk in CallbackEvent.objects.values_list("pk", flat=True)]
