"""Create an account with an entitlement."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from dashboard_api.billing import entitlements
from dashboard_api.management.entitlement_options import (
    add_entitlement_options,
    fields_in,
    in_words,
    result_fields,
)
from dashboard_api.models import Account
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py create_account acct_0001 --name "Shop Ltd"."""

    help = "Create an account, by default with the plan 'standard' for one year from today."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="its portal_account_ref, such as acct_0001")
        parser.add_argument("--name", default="", help="the name of the customer")
        add_entitlement_options(parser)

    def perform(self, *, ref: str, name: str, by: str, reason: str, **options: Any) -> Result:
        """Create both, or neither; an account that exists stays unchanged."""
        existing = Account.objects.select_related("entitlement").filter(ref=ref).first()
        if existing is not None:
            return _unchanged(existing, name, fields_in(options))
        account = Account(ref=ref, name=name)
        account.full_clean()
        account.save()
        entitlement = entitlements.change(account, fields_in(options), by=by, reason=reason)
        return Result(
            text=f"Created the account {ref}. {in_words(entitlement)}\nNext: manage.py issue_secret {ref}",
            fields={"changed": True, "account": ref, "name": name, "entitlement": result_fields(entitlement)},
        )


def _unchanged(account: Account, name: str, plan: dict[str, Any]) -> Result:
    """Return the result for an account that exists; raise CommandError if it differs from the options."""
    entitlement = getattr(account, "entitlement", None)
    differs = any(getattr(entitlement, field, None) != value for field, value in plan.items())
    if (name and name != account.name) or differs:
        raise CommandError(
            f"{account} already exists, with another name or plan: change the plan with "
            f"'manage.py set_entitlement {account}', and the name in the admin."
        )
    return Result(
        text=f"Nothing to do: {account} already exists.",
        fields={
            "changed": False,
            "account": account.ref,
            "name": account.name,
            "entitlement": entitlement and result_fields(entitlement),
        },
    )
