"""Create an account with an entitlement."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from dashboard_api.management.entitlement_options import (
    add_entitlement_options,
    fields_in,
    in_fields,
    in_words,
    new_entitlement,
)
from dashboard_api.models import Account
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py create_account acct_0001 --name "Shop Ltd"."""

    help = "Create an account, by default with the plan 'standard' for one year from today."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="portal_account_ref of its calls, such as acct_0001")
        parser.add_argument("--name", default="", help="the name of the customer")
        add_entitlement_options(parser)

    @transaction.atomic
    def perform(self, *, ref: str, name: str, **options: Any) -> Result:
        """Create both, or neither."""
        account = Account(ref=ref, name=name)
        account.full_clean()
        account.save()
        entitlement = new_entitlement(account, fields_in(options))
        entitlement.full_clean()
        entitlement.save()
        return Result(
            text=f"Created the account {ref}. {in_words(entitlement)}\nNext: manage.py issue_secret {ref}",
            fields={"account": ref, "name": name, "entitlement": in_fields(entitlement)},
        )
