"""No secret, address or reference of another account is where an account reads about its plan."""

import json
import logging
import time

import pytest
from django.conf import settings as deployment
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config.operations import health
from dashboard_api.billing.callbacks import standard
from dashboard_api.models import BillingCustomer, CallbackEvent, Subscription
from foundation.operations.health import Readiness
from tests.commands import run
from tests.dashboard_api.calls import CHANGES_PATH, ask, fields_for
from tests.factories import SECRET, make_account, make_finding, make_link, make_plan, make_user, make_website

pytestmark = pytest.mark.django_db
WHSEC = "whsec_Y2FuYXJ5LWNhbmFyeS1jYW5hcnktMDEyMzQ1Njc4"
METRICS_TOKEN = "canary_metrics_0123456789abcdef012345"
ACCOUNT_PATHS = ("/v1/account/entitlement", "/v1/account/changes")
PAGES = ("/plan/", "/", "/activity/", "/api/calls/", "/sites/shop.example.com/", "/api/")
FILES = ("csv", "json", "sarif")


@pytest.fixture
def others(owner, link, settings, monkeypatch, caplog):
    """Give both accounts a paid plan; return what the owner of the first one must not read."""
    caplog.set_level(logging.DEBUG)
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = "", "config.web.in_process.application"
    settings.CALLBACK_SECRETS, settings.METRICS_TOKEN = {"standard": [WHSEC]}, METRICS_TOKEN
    monkeypatch.setattr(health, "READINESS", Readiness({"database": lambda: None}))
    make_plan()
    other = make_link(
        make_account("acct_other", secrets=("canary_secret_of_another",)), make_website("canary.example.net")
    )
    make_user("canaryperson", email="canary@payer.example")
    for number, account in enumerate((link.account, other.account)):
        pay(owner, account, number)
        override_by_staff(account.entitlement)
    return [
        str(other.account.billing_ref),
        other.link_id,
        *("acct_other", "canary"),
        *(WHSEC[6:], METRICS_TOKEN, SECRET),
        *(deployment.SECRET_KEY, deployment.MASTER_KEYS[0].rpartition(":")[2]),
    ]


def override_by_staff(entitlement):
    browser = Client()
    user = User.objects.filter(username="canarystaff").first()
    browser.force_login(user or make_user("canarystaff", is_staff=True, is_superuser=True))
    fields = {"action": "override_limit", "_selected_action": [entitlement.pk], "confirmed": "1"}
    fields |= {"limit": "seats", "value": "9", "reason": "canaryreason"}
    browser.post(reverse("admin:dashboard_api_entitlement_changelist"), fields)
    entitlement.refresh_from_db()
    assert entitlement.limits.seats == 9


def pay(client, account, number):
    """Report a paid plan as a provider does, with what only billing needs to know."""
    names = {"customer": f"cus_canary_{number}", "subscription": f"sub_canary_{number}"}
    data = {"billing_ref": str(account.billing_ref), "version": 7, "plan": "team", "status": "active"}
    data |= {"ends_on": "2199-12-31", "renews": True, "payer": "canary@payer.example"} | names
    body = json.dumps({"type": "entitlement.set", "data": data}).encode()
    at, event = int(time.time()), f"msg_canary_{number}"
    headers = {"webhook-id": event, "webhook-timestamp": str(at)}
    headers["webhook-signature"] = standard.signature(event, at, body, WHSEC)
    response = client.post("/v1/callbacks/standard", body, content_type="application/json", headers=headers)
    assert response.json() == {"ok": True, "state": "applied"}


def texts_of(client, link):
    """Return everything that is about the plan, or counts or exports it, by its place."""
    own = {"portal_account_ref": link.account.ref}
    texts = {path: ask(client, own, path=path).text for path in ACCOUNT_PATHS}
    texts["dashboard"] = ask(client, fields_for(link)).text
    texts["changes"] = ask(client, fields_for(link, days=7), path=CHANGES_PATH).text
    for page in PAGES:
        response = client.get(page)
        assert response.status_code == 200
        texts[page] = response.text
    for suffix in FILES:
        file = client.get(f"/sites/shop.example.com/findings.{suffix}")
        assert file.status_code == 200
        texts[suffix] = b"".join(file).decode()
    metrics = client.get("/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    assert "threat_dashboard_callbacks_total" in metrics.text
    texts["metrics"] = metrics.text
    for command in ("watch_limits", "process_callbacks"):
        texts[command] = run(command)
    return texts


def found(canaries, texts):
    return {(place, canary) for place, text in texts.items() for canary in canaries if canary in text}


def test_no_secret_and_nothing_of_another_account_is_where_a_plan_is_read(
    client, owner, link, others, caplog
):
    assert (
        CallbackEvent.objects.count() == Subscription.objects.count() == BillingCustomer.objects.count() == 2
    )
    texts = texts_of(client, link)
    assert found(others, texts) == set()
    own = str(link.account.billing_ref)
    assert found([own], texts) <= {("/v1/account/entitlement", own), ("/plan/", own)}
    logged = [canary for canary in others if canary not in ("canary", "acct_other")]
    assert (
        found(
            [*logged, own, "canary@payer", "canaryreason", "cus_canary", "sub_canary"], {"log": caplog.text}
        )
        == set()
    )


def test_a_canary_would_be_found(client, owner, link, others, caplog):
    make_plan("the-canary-plan", is_offered=True, name={"en": "The canary plan"})
    make_finding(link.website, title="A canary finding", first_seen=timezone.now())
    logging.getLogger("dashboard_api").warning("canaryreason")
    places = {place for place, _ in found(others, texts_of(client, link))}
    assert places >= {
        "/v1/account/entitlement",
        "/plan/",
        "dashboard",
        "changes",
        "/sites/shop.example.com/",
        *FILES,
    }
    assert "canaryreason" in caplog.text
