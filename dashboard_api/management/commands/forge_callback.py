"""Print a signed payment callback for curl; for demos and tests."""

import json
import time
import uuid
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.billing.callbacks import applying, standard, stripe
from dashboard_api.billing.callbacks.snapshots import STATUSES, latest
from dashboard_api.management.lookup import find_account
from dashboard_api.models import Account, PlanPrice, Subscription
from foundation.operator_command import OperatorCommand, Result, positive

Made = tuple[dict[str, Any], Callable[[bytes], dict[str, str]]]  # the event, and its headers


class Command(OperatorCommand):
    """manage.py forge_callback acct_0001 --status past_due | curl --config -."""

    help = (
        "Print a callback as a payment provider would send it, signed with our own secret, for "
        "'curl --config -'. It is for demos and tests; a deployment that requires https refuses it."
    )
    without_event = "it only prints a request"
    on_record = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("--provider", choices=("standard", "stripe"), default="standard")
        parser.add_argument("--status", choices=STATUSES, default="active")
        parser.add_argument("--plan", default="", help="the plan that is paid for; by default the account's")
        parser.add_argument("--days", type=positive, default=30, help="until the end of the period (30)")
        parser.add_argument("--cancels", action="store_true", help="the plan ends with the period")

    def perform(self, *, ref: str, provider: str, plan: str, **options: Any) -> Result:
        """Sign the next state of the account's subscription."""
        if settings.HTTPS:
            raise CommandError("This deployment is open to others: only its provider sends callbacks.")
        secrets = settings.CALLBACK_SECRETS.get(provider)
        if not secrets:
            name = f"CALLBACK_SECRETS_{provider.upper()}"
            raise CommandError(f"Set {name} first: docs/billing.md shows how.")
        account = find_account(ref)
        plan = plan or getattr(getattr(account, "entitlement", None), "plan", "standard")
        make = {"standard": _of_standard, "stripe": _of_stripe}[provider]
        values, sign = make(account, plan, options, secrets[0])
        body = json.dumps(values, separators=(",", ":"))
        headers = {"content-type": "application/json", **sign(body.encode())}
        url = f"{settings.PORTAL_BASE_URL or 'http://127.0.0.1:8000'}/v1/callbacks/{provider}"
        lines = [
            f"url = {json.dumps(url)}",
            *(f"header = {json.dumps(f'{name}: {value}')}" for name, value in headers.items()),
            f"data-binary = {json.dumps(body)}",
        ]
        return Result(text="\n".join(lines), fields={"url": url, "headers": headers, "body": body})


def _of_standard(account: Account, plan: str, options: dict[str, Any], secret: str) -> Made:
    status, today = options["status"], timezone.now().date()
    data = {
        "billing_ref": str(account.billing_ref),
        "version": _order(account, "standard")[0] + 1,
        "plan": plan,
        "status": status,
        "ends_on": (today + timedelta(days=options["days"])).isoformat(),
        "renews": not options["cancels"],
        "cancels": options["cancels"],
        "past_due_since": _since(account, today) if status == "past_due" else None,
    }
    values = {
        "type": standard.EVENT,
        "timestamp": timezone.now().isoformat(),
        "livemode": settings.CALLBACK_LIVEMODE,
        "data": data,
    }
    event_id, sent_at = f"msg_{uuid.uuid4().hex}", int(time.time())

    def headers(body: bytes) -> dict[str, str]:
        return {
            "webhook-id": event_id,
            "webhook-timestamp": str(sent_at),
            "webhook-signature": standard.signature(event_id, sent_at, body, secret),
        }

    return values, headers


def _of_stripe(account: Account, plan: str, options: dict[str, Any], secret: str) -> Made:
    price = PlanPrice.objects.filter(provider="stripe", plan__slug=plan).order_by("-plan__revision").first()
    if price is None:
        raise CommandError(f"{plan} has no price of stripe: add one in the admin under 'Prices of plans'.")
    sent_at = int(time.time())
    end = sent_at + options["days"] * 86_400
    before = {"past_due": {"status": "active"}, "suspended": {"status": "past_due"}}
    subscription = {
        "id": f"sub_forged_{account.pk}",
        "object": "subscription",
        "customer": f"cus_forged_{account.pk}",
        "livemode": settings.CALLBACK_LIVEMODE,
        "metadata": {"billing_ref": str(account.billing_ref)},
        "status": {"suspended": "unpaid", "expired": "canceled"}.get(options["status"], options["status"]),
        "items": {"object": "list", "data": [{"price": {"id": price.price}, "current_period_end": end}]},
        "cancel_at_period_end": options["cancels"],
        "cancel_at": end if options["cancels"] else None,
        "ended_at": sent_at if options["status"] == "expired" else None,
        "cancellation_details": {"reason": "payment_failed" if options["status"] == "expired" else None},
    }
    values = {
        "id": f"evt_forged_{uuid.uuid4().hex}",
        "object": "event",
        "type": "customer.subscription.updated",
        "created": max(sent_at, _order(account, "stripe")[0] + 1),
        "livemode": settings.CALLBACK_LIVEMODE,
        "data": {"object": subscription, "previous_attributes": before.get(options["status"], {})},
    }
    return values, lambda body: {"stripe-signature": stripe.signature(sent_at, body, secret)}


def _order(account: Account, provider: str) -> tuple[int, int]:
    rows = Subscription.objects.filter(provider=provider, account=account)
    return max((latest(applying.held_by(row)).order for row in rows), default=(0, 0))


def _since(account: Account, today: date) -> str:
    since = getattr(getattr(account, "entitlement", None), "past_due_since", None)
    return (since or today).isoformat()
