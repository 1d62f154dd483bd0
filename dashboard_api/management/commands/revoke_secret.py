"""Refuse a secret at once, such as one that leaked."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.management.operator_command import Answer, OperatorCommand, find_secret, positive


class Command(OperatorCommand):
    """manage.py revoke_secret acct_0001 3."""

    help = "Refuse calls signed with a secret from now on."

    def add_arguments(self, parser: CommandParser) -> None:
        """The account, so that a mistyped number is noticed, and the secret's number."""
        super().add_arguments(parser)
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("number", metavar="NUMBER", type=positive, help="as issue_secret told")

    def perform(self, *, ref: str, number: int, **options: Any) -> Answer:
        """The secret, and since when it is refused."""
        secret = find_secret(ref, number)
        secret.revoke(now=timezone.now())
        return Answer(
            text=f"Revoked {secret}: calls signed with it are refused from now on.",
            fields={"account": ref, "id": number, "state": secret.state, "revoked_at": secret.revoked_at},
        )
