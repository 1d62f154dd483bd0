"""Make an account, with an entitlement so that its calls are answered."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from dashboard_api.management.entitlement_options import (
    add_entitlement_options,
    given,
    in_fields,
    in_words,
    new_entitlement,
)
from dashboard_api.models import Account
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py create_account acct_0001 --name "Shop Ltd"."""

    help = "Make an account, entitled to the plan 'standard' for one year from today unless told otherwise."

    def add_arguments(self, parser: CommandParser) -> None:
        """The reference, a name, and the entitlement."""
        super().add_arguments(parser)
        parser.add_argument("ref", metavar="REF", help="portal_account_ref of its calls, such as acct_0001")
        parser.add_argument("--name", default="", help="whom it belongs to")
        add_entitlement_options(parser)

    @transaction.atomic
    def perform(self, *, ref: str, name: str, **options: Any) -> Result:
        """Account and entitlement, or neither."""
        account = Account(ref=ref, name=name)
        account.full_clean()
        account.save()
        entitlement = new_entitlement(account, given(options))
        entitlement.full_clean()
        entitlement.save()
        return Result(
            text=f"Made the account {ref}. {in_words(entitlement)}\nNext: manage.py issue_secret {ref}",
            fields={"account": ref, "name": name, "entitlement": in_fields(entitlement)},
        )
