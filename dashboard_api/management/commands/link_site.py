"""Link a verified website to an account; the customer's calls need the link id."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard_api.management.lookup import find_account, find_website
from dashboard_api.models import SiteLink
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py link_site acct_0001 shop.example.com."""

    help = "Link a verified website to an account and print the link id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")

    def perform(self, *, ref: str, host: str, by: str, **options: Any) -> Result:
        website = find_website(host)
        account = find_account(ref)
        link = SiteLink.objects.not_revoked().filter(account=account, website=website).first()
        changed = link is None
        link = link or SiteLink.objects.link(account, website, by=by)
        text = (
            f"Linked {website} to {ref}" if changed else f"Nothing to do: {ref} has linked {website} already"
        )
        return Result(
            text=f"{text}; the link id is {link.link_id}",
            fields={"changed": changed, "account": ref, "host": website.host, "link_id": link.link_id},
        )
