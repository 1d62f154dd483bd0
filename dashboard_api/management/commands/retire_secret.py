"""Let a secret end by itself, while its successor is rolled out."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.management.operator_command import Answer, OperatorCommand, find_secret, positive


class Command(OperatorCommand):
    """manage.py retire_secret acct_0001 3."""

    help = "Let a secret work for one more day, then no more."

    def add_arguments(self, parser: CommandParser) -> None:
        """The account, so that a mistyped number is noticed, and the secret's number."""
        super().add_arguments(parser)
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("number", metavar="NUMBER", type=positive, help="as issue_secret told")

    def perform(self, *, ref: str, number: int, **options: Any) -> Answer:
        """The secret, and until when it works."""
        secret = find_secret(ref, number)
        secret.retire(now=timezone.now())
        return Answer(
            text=f"{secret} works until {secret.retires_at:%Y-%m-%d %H:%M} UTC, then no more.",
            fields={"account": ref, "id": number, "state": secret.state, "retires_at": secret.retires_at},
        )
