"""Let another value of a limit hold for one account."""

from datetime import date
from typing import Any

import msgspec
from django.core.management.base import CommandError, CommandParser

from dashboard_api.billing import entitlements
from dashboard_api.management.entitlement_options import day, limit_and_value
from dashboard_api.management.lookup import find_account
from dashboard_api.models.plans import LIMIT_NAMES
from foundation.operator_command import OnRecord, OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py override_limit acct_0001 calls_per_day=50000 --until 2026-12-31 --reason "Migration"."""

    help = "Let another value of a limit hold for an account than that of its plan, until a day or for good."
    on_record = OnRecord(needs_reason=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument(
            "limit", metavar="NAME=N", type=limit_and_value, nargs="?", help="such as websites=9"
        )
        parser.add_argument(
            "--until", type=day, metavar="DAY", help="last day, included; without it, for good"
        )
        parser.add_argument(
            "--end", choices=LIMIT_NAMES, metavar="NAME", help="let the limit of the plan hold again"
        )

    def perform(
        self,
        *,
        ref: str,
        limit: tuple[str, int | None] | None,
        until: date | None,
        end: str | None,
        by: str,
        reason: str,
        **options: Any,
    ) -> Result:
        """Set or end an override."""
        if (limit is None) == (end is None):
            raise CommandError("Give a limit and its value, such as seats=9, or --end seats.")
        account = find_account(ref)
        existing = entitlements.locked(account)
        before = existing.overrides if existing else None
        if limit is not None:
            entitlement = entitlements.override(account, *limit, until=until, by=by, reason=reason)
        else:
            entitlement = entitlements.end_override(account, str(end), by=by, reason=reason)
        limits = msgspec.to_builtins(entitlement.limits)
        words = ", ".join(f"{name} {'none' if value is None else value}" for name, value in limits.items())
        changed = entitlement.overrides != before
        return Result(
            text=f"{ref}: {words}.{'' if changed else ' Nothing changed.'}",
            fields={"changed": changed, "account": ref, "limits": limits, "overrides": entitlement.overrides},
        )
