"""Revoke a token for reports."""

from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.management.lifecycle_command import change
from dashboard_api.management.lookup import find_account
from foundation.operator_command import OperatorCommand, Result, row_number


class Command(OperatorCommand):
    """manage.py revoke_report_token acct_0001 3."""

    help = "Revoke a token for reports: reports sent with it are refused at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument(
            "number", metavar="NUMBER", type=row_number, help="as issue_report_token prints it"
        )

    def perform(self, *, ref: str, number: int, **options: Any) -> Result:
        tokens = find_account(ref).report_tokens
        token = tokens.filter(pk=number).first()
        if token is None:
            others = ", ".join(f"{each.pk} ({each.name})" for each in tokens.all())
            raise CommandError(f"{ref} has no token {number}; it has: {others or 'none'}.")
        unchanged = change(partial(token.revoke, now=timezone.now()))
        fields = {
            "changed": not unchanged,
            "account": ref,
            "id": token.pk,
            "name": token.name,
            "revoked_at": token.revoked_at,
        }
        return Result(text=unchanged or f"Revoked {token}: reports sent with it are refused.", fields=fields)
