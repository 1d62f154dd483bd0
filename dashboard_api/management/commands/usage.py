"""Print how much of its limits an account uses."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.billing.usage import uses
from dashboard_api.management.lookup import find_account
from dashboard_api.models import Entitlement
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py usage acct_0001."""

    help = "Print the limits of an account, and how much of each is used."
    without_event = "only reads"
    on_record = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")

    def perform(self, *, ref: str, **options: Any) -> Result:
        """Print a line for each limit."""
        entitlement = Entitlement.objects.filter(account=find_account(ref)).first()
        if entitlement is None:
            raise CommandError(
                f"{ref} has no entitlement: first run 'manage.py set_entitlement {ref} --plan ...'."
            )
        rows = uses(entitlement, timezone.now())
        lines = [
            f"{row.name}: {'?' if row.used is None else row.used} of {row.limit or 'any number'}, {row.state}"
            for row in rows
        ]
        return Result(
            text="\n".join(lines),
            fields={"account": ref, "limits": [row._asdict() | {"state": row.state} for row in rows]},
        )
