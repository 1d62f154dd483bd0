"""Link a verified website to an account; the customer's calls need the link id."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.management.lookup import find_account, find_website
from dashboard_api.models import OwnershipClaim, SiteLink
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py link_site acct_0001 shop.example.com."""

    help = "Link a verified website to an account and print the link id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")
        parser.add_argument(
            "--shared", action="store_true", help="link it although other accounts have it, too"
        )
        past = parser.add_mutually_exclusive_group()
        past.add_argument(
            "--new-owner", action="store_true", help="begin without what was found for accounts that had it"
        )
        past.add_argument("--keep-findings", action="store_true", help="let the account read all of that")

    def perform(
        self,
        *,
        ref: str,
        host: str,
        by: str,
        new_owner: bool,
        keep_findings: bool,
        shared: bool,
        **options: Any,
    ) -> Result:
        website = find_website(host)
        OwnershipClaim.objects.locked(website.host)  # a check could link another account meanwhile
        account = find_account(ref)
        former = ", ".join(website.former_holders(account))
        if former and new_owner:
            website = website.begin_again(by=by, now=timezone.now())
        elif former and not keep_findings:
            raise CommandError(
                f"{former} had {website} before: {ref} would read what was found for {former}. If the "
                "website has a new owner, add --new-owner; if it has not, --keep-findings."
            )
        link = SiteLink.objects.not_revoked().filter(account=account, website=website).first()
        changed = link is None
        if link is None:
            link = SiteLink.objects.link(account, website, by=by)
            if not shared:
                website.check_not_of_others(account)  # of those, too, whose check was a moment earlier
        text = (
            f"Linked {website} to {ref}" if changed else f"Nothing to do: {ref} has linked {website} already"
        )
        return Result(
            text=f"{text}; the link id is {link.link_id}",
            fields={"changed": changed, "account": ref, "host": website.host, "link_id": link.link_id},
        )
