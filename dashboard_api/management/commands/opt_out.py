"""Keep a host, a domain or a prefix of addresses from being scanned."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard_api.crawler import stopping
from dashboard_api.models import ScanOptOut
from foundation.operator_command import OnRecord, OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py opt_out shop.example.com --reason "asked by e-mail"."""

    help = (
        "Never scan a host, a domain with all its hosts (--domain) or a prefix of addresses such as "
        "192.0.2.0/24, whatever plan or proof says. Scans that wait or run there are cancelled."
    )
    on_record = OnRecord(needs_reason=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("value", metavar="VALUE", help="a host, a domain or a prefix")
        parser.add_argument("--domain", action="store_true", help="the domain with all its hosts")
        parser.add_argument("--end", action="store_true", help="allow scans again")

    def perform(self, *, value: str, domain: bool, end: bool, reason: str, by: str, **options: Any) -> Result:
        """Add the opt-out, or end it; both can be repeated."""
        kind = ScanOptOut.Kind.PREFIX if "/" in value else ScanOptOut.Kind.HOST
        opt_out = ScanOptOut(
            kind=ScanOptOut.Kind.DOMAIN if domain else kind, value=value, reason=reason, by=by
        )
        opt_out.clean()
        if end:
            changed = stopping.end_opt_out(opt_out, by=by, reason=reason)
            text = f"{opt_out} can be scanned again." if changed else f"{opt_out} has no opt-out."
            return Result(text=text, fields={"value": opt_out.value, "changed": changed})
        cancelled = stopping.opt_out(opt_out)
        if cancelled is None:
            return Result(
                text=f"{opt_out} has an opt-out already.", fields={"value": opt_out.value, "changed": False}
            )
        text = f"{opt_out} is never scanned. Scans cancelled: {cancelled}."
        return Result(text=text, fields={"value": opt_out.value, "changed": True, "cancelled": cancelled})
