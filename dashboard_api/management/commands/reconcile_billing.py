"""Compare entitlements with what payment providers reported last; for cron."""

import logging
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dashboard_api.billing.callbacks import applying
from dashboard_api.billing.snapshots import CannotApply, Snapshot
from dashboard_api.billing.wanted import lock_entitlement, values_to_change, wanted_values
from dashboard_api.models import Account
from foundation.operations.operator_command import OperatorCommand, Result

logger = logging.getLogger(__name__)


class Command(OperatorCommand):
    """manage.py reconcile_billing."""

    interval = timedelta(days=1)
    in_one_transaction = False  # a lock must not last while a provider is asked

    help = (
        "List the accounts whose entitlement differs from what the payment provider reported last, such as "
        "after a change by hand; --repair sets what the provider reported. With STRIPE_API_KEY it asks "
        "Stripe, and so finds events that never arrived. Run it once a day."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="change the entitlements")

    def perform(self, *, repair: bool, by: str, reason: str, **options: Any) -> Result:
        """Compare the entitlement of each account that has a subscription or a customer of a provider."""
        drift: list[dict[str, Any]] = []
        paying = Q(subscriptions__isnull=False) | Q(billing_customers__isnull=False)
        for account in Account.objects.filter(paying).distinct().order_by("ref"):
            try:
                fetched = applying.fetch(account, timezone.now())  # waits for the network: no lock yet
            except CannotApply as error:
                drift.append({"account": account.ref, "differs": error.code, "repaired": False})
                continue
            with transaction.atomic():
                drift += _drift_of(account, fetched, repair=repair, by=by, reason=reason)
        not_repaired = [row for row in drift if not row["repaired"]]
        for row in not_repaired:
            logger.error(
                "The entitlement of %s differs from what was paid: %s", row["account"], row["differs"]
            )
        repaired = len(drift) - len(not_repaired)
        fields = {"differences": len(drift), "accounts": drift, "changed": bool(repaired)}
        return Result(text=_in_words(drift, repaired), json_output=fields, found=len(not_repaired))


def _in_words(drift: list[dict[str, Any]], repaired: int) -> str:
    if not drift:
        return "No differences."
    refs = ", ".join(row["account"] for row in drift)
    done = f"{repaired} repaired" if repaired else "--repair sets what the provider reported"
    lines = [f"{row['account']}: {row['differs']}" for row in drift]
    return "\n".join([f"Differences: {len(drift)} found, {done} ({refs}).", *lines])


def _drift_of(
    account: Account, fetched: dict[str, list[Snapshot]], *, repair: bool, by: str, reason: str
) -> list[dict[str, Any]]:
    """Return the account with what differs, if anything does; with ``repair``, set what was reported."""
    now = timezone.now()
    lock_entitlement(account)  # only for the lock: no event may change it meanwhile
    try:
        target = wanted_values(account, now, fetched)
    except CannotApply as error:
        return [{"account": account.ref, "differs": error.code, "repaired": False}]
    to = values_to_change(account, target) if target else {}
    if not to:
        return []
    if repair:
        reason = reason or "Drift from the payment provider"
        applying.adopt(account, fetched, by=by, reason=reason, now=now)
    return [{"account": account.ref, "differs": ", ".join(sorted(to)), "repaired": repair}]
