"""Issue a token with which a program sends reports over HTTP; it is shown once and stored as a digest."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard_api import limits
from dashboard_api.management.lookup import find_account, find_website
from dashboard_api.models import ReportToken
from foundation.operator_command import OperatorCommand, Result, positive


class Command(OperatorCommand):
    """manage.py issue_report_token acct_0001 shop.example.com --name "GitHub Actions"."""

    help = (
        "Issue a token for POST /v1/reports and show it once. Only the token goes to standard output. It can "
        "send reports about the named websites and do nothing else."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("hosts", metavar="HOST", nargs="+", help="websites that the account has linked")
        parser.add_argument("--name", required=True, help="where it is used, such as 'GitHub Actions'")
        parser.add_argument(
            "--source",
            dest="sources",
            action="append",
            default=[],
            metavar="SCANNER",
            help="a scanner whose reports it may send, such as zap; may be repeated; by default, any",
        )
        parser.add_argument(
            "--days", type=positive, default=limits.TOKEN_LIFETIME.days, metavar="N", help="days to its end"
        )

    @sensitive_variables("clear")
    def perform(
        self, *, ref: str, hosts: list[str], name: str, sources: list[str], days: int, by: str, **options: Any
    ) -> Result:
        websites = [find_website(host) for host in hosts]
        expires_at = timezone.now() + timedelta(days=days)
        token, clear = ReportToken.objects.issue(
            find_account(ref), websites, name=name, sources=sources, expires_at=expires_at, by=by
        )
        return Result(
            text=clear,
            remark=f"This is {token}, until {expires_at:%Y-%m-%d}. Store it now: it is not shown again.",
            fields={
                "account": ref,
                "id": token.pk,
                "name": token.name,
                "hosts": [website.host for website in websites],
                "sources": token.sources,
                "expires_at": expires_at,
                "token": clear,
            },
        )
