"""Revoke a secret at once, such as after a leak, or retire it while a new one is rolled out."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.management.lookup import find_account
from dashboard_api.models.accounts import AlreadyRetiring, AlreadyRevoked
from foundation.operations.operator_command import OperatorCommand, Result, row_number


class Command(OperatorCommand):
    """manage.py revoke_secret acct_0001 3."""

    help = (
        "Revoke a secret: calls signed with it are refused from now on, or after one more day (--retire). "
        "A portal in the service's process that signs with it gets another at once."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the secret's number and its account, which guards against a mistyped number."""
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("number", metavar="NUMBER", type=row_number, help="as issue_secret prints it")
        parser.add_argument("--retire", action="store_true", help="let it work for one more day")

    def perform(self, *, ref: str, number: int, retire: bool, **options: Any) -> Result:
        account = find_account(ref)
        secret = account.secrets.filter(pk=number).first()
        if secret is None:
            secrets = ", ".join(f"{row.pk} ({row.hint}, {row.state})" for row in account.secrets.all())
            raise CommandError(f"{ref} has no secret {number}; it has: {secrets or 'none'}.")
        unchanged = ""
        try:
            (secret.retire if retire else secret.revoke)(now=timezone.now())
        except (AlreadyRevoked, AlreadyRetiring) as error:
            unchanged = " ".join(error.messages)
        done = f"Revoked {secret}: calls signed with it are refused from now on."
        if retire:
            done = f"Retired {secret}: it works until {secret.retires_at:%Y-%m-%d %H:%M} UTC."
        return Result(
            text=unchanged or done,
            json_output={
                "changed": not unchanged,
                "account": ref,
                "id": number,
                "state": secret.state,
                "retires_at": secret.retires_at,
                "revoked_at": secret.revoked_at,
            },
        )
