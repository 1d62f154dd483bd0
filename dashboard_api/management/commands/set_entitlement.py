"""Change the entitlement of an account."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.billing import entitlements
from dashboard_api.billing.wanted import lock_entitlement
from dashboard_api.management.entitlement_options import (
    add_entitlement_options,
    entitlement_fields,
    entitlement_in_words,
    given_fields,
    result_fields,
)
from dashboard_api.management.lookup import find_account
from dashboard_api.models.entitlements import new_entitlement
from foundation.operations.operator_command import OperatorCommand, Result, positive


class Command(OperatorCommand):
    """manage.py set_entitlement acct_0001 --extend-days 30."""

    help = "Change an account's entitlement; fields without an option stay unchanged."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        add_entitlement_options(parser)
        parser.add_argument(
            "--extend-days",
            type=positive,
            metavar="N",
            help="extend it by N days, from its last day or from today, whichever is later",
        )

    def perform(self, *, ref: str, extend_days: int | None, by: str, reason: str, **options: Any) -> Result:
        """Make all changes in one transaction, or fail without any."""
        changes = given_fields(options)
        if not changes and extend_days is None:
            raise CommandError("Say what to change, such as --plan, --status, --ends-on or --extend-days.")
        if "ends_on" in changes and extend_days is not None:
            raise CommandError("Give either --ends-on or --extend-days.")
        account = find_account(ref)
        existing = lock_entitlement(account)
        before = (entitlement_fields(existing), existing.agreed) if existing else None
        if extend_days is not None:
            changes |= entitlements.extension(
                existing or new_entitlement(account, {}),
                days=extend_days,
                today=timezone.now().date(),
                status=changes.get("status", ""),
            ) | {name: value for name, value in changes.items() if name == "status"}  # --status wins
        entitlement = entitlements.change(account, changes, by=by, reason=reason)
        is_changed = (entitlement_fields(entitlement), entitlement.agreed) != before
        return Result(
            text=f"{ref}: {entitlement_in_words(entitlement)}{'' if is_changed else ' Nothing changed.'}",
            json_output={"changed": is_changed, "account": ref, "entitlement": result_fields(entitlement)},
        )
