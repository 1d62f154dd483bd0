"""Issue a secret to sign calls with; it is shown once and stored encrypted."""

from typing import Any

from django.core.management.base import CommandParser
from django.views.decorators.debug import sensitive_variables

from dashboard_api.management.lookup import COMMAND_LINE, find_account
from dashboard_api.models import Secret
from foundation.operator_command import OperatorCommand, Result, read_secret


class Command(OperatorCommand):
    """manage.py issue_secret acct_0001 > secret.txt."""

    help = (
        "Issue a secret and show it once, or store one that exists (--from-stdin). Only the secret goes to "
        "standard output, so you can redirect it to a file or to 'manage.py connect_account'."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument(
            "--from-stdin", action="store_true", help="read an existing secret of 16 characters or more"
        )
        parser.add_argument("--by", default=COMMAND_LINE, metavar="NAME", help="who issues it")

    @sensitive_variables("clear")
    def perform(self, *, ref: str, from_stdin: bool, by: str, **options: Any) -> Result:
        """Issue the secret; show it unless it was read from standard input."""
        account = find_account(ref)
        secret, clear = Secret.objects.issue(account, by=by, secret=read_secret() if from_stdin else None)
        fields = {"account": ref, "id": secret.pk, "hint": secret.hint, "created_by": by}
        if from_stdin:
            return Result(text=f"Stored {secret}: it works from now on.", fields=fields)
        return Result(
            text=clear,
            remark=f"This is {secret}. Store it now: it is not shown again.",
            fields=fields | {"secret": clear},
        )
