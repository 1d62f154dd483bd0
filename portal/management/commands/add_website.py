"""Add a linked website: its host, and its link id from the service."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from foundation.operator_command import OperatorCommand, Result, host_of
from portal.management.lookup import find_account
from portal.models import Website


class Command(OperatorCommand):
    """manage.py add_website acct_0001 shop.example.com 6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e."""

    help = "Add a website to an account, or change the link id of an existing one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")
        parser.add_argument("link_id", metavar="LINK_ID", help="as the service returned it for this host")

    @transaction.atomic
    def perform(self, *, ref: str, host: str, link_id: str, **options: Any) -> Result:
        """Add the website or change its link id; a repetition changes nothing."""
        account = find_account(ref)
        host = host_of(host)
        website = account.websites.select_for_update().filter(host=host).first()
        previous = website.link_id if website else None
        website = website or Website(account=account, host=host)
        website.link_id = link_id
        website.full_clean()
        website.save()
        changed = previous != link_id
        fields = {
            "changed": changed,
            "account": ref,
            "host": host,
            "link_id": link_id,
            "previous_link_id": previous,
        }
        return Result(text=_in_words(ref, host, previous, link_id), fields=fields)


def _in_words(ref: str, host: str, previous: str | None, link_id: str) -> str:
    if previous is None:
        return f"Added {host} to {ref}.\nNext: manage.py add_member {ref} USER"
    if previous == link_id:
        return f"{host} is already there with this link id; nothing was changed."
    return f"Changed the link id of {host} from {previous} to {link_id}."
