"""Issue a secret that signs calls; it is shown once, and stored encrypted."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard_api.management.lookup import find_account
from dashboard_api.models import Secret
from foundation.operations.operator_command import OperatorCommand, Result, read_secret


class Command(OperatorCommand):
    """manage.py issue_secret acct_0001 > secret.txt."""

    help = (
        "Issue a secret and show it once, or store one that exists (--from-stdin). Only the secret goes to "
        "standard output, so you can redirect it to a file or to 'manage.py connect_account'."
    )
    in_one_transaction = False  # a person may be asked to type the secret; storing it is one transaction

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument(
            "--from-stdin", action="store_true", help="read an existing secret of 16 characters or more"
        )
        kind.add_argument(
            "--test",
            action="store_true",
            dest="is_test",
            help="issue a test secret: its calls get the example website of /v1/docs and count nowhere",
        )
        parser.add_argument(
            "--for-portal",
            action="store_true",
            help="for a portal of ours only: its calls are neither limited nor counted",
        )

    @sensitive_variables()
    def perform(
        self, *, ref: str, from_stdin: bool, is_test: bool, for_portal: bool, by: str, **options: Any
    ) -> Result:
        """Issue the secret; show it unless it was read from standard input."""
        account = find_account(ref)
        typed = read_secret() if from_stdin else None
        for stored in account.secrets.filter(is_test=False).usable(timezone.now()):
            if typed and stored.holds(typed):
                same = {"changed": False, "account": ref, "id": stored.pk, "hint": stored.hint}
                return Result(text=f"Nothing to do: {stored} is the same secret.", json_output=same)
        secret, clear = Secret.objects.issue(
            account, by=by, secret=typed, is_test=is_test, for_portal=for_portal
        )
        json_output = {
            "changed": True,
            "account": ref,
            "id": secret.pk,
            "hint": secret.hint,
            "created_by": by,
        }
        if from_stdin:
            return Result(text=f"Stored {secret}: it works from now on.", json_output=json_output)
        return Result(
            text=clear,
            # On standard error, because the text may go to a file.
            stderr_text=f"This is {secret}. Store it now: it is not shown again.",
            json_output=json_output | {"secret": clear},
        )
