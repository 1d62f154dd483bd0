"""Archive a website, which revokes its links."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.management.lookup import find_website
from dashboard_api.models.sites import AlreadyArchived
from foundation.operator_command import OnRecord, OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py archive_site shop.example.com --reason "Contract ended"."""

    help = (
        "Archive a website: its links are revoked, reports about it are refused, and its findings stay. "
        "An archived website stays unchanged. restore_site takes it out again."
    )
    on_record = OnRecord(needs_reason=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")

    def perform(self, *, host: str, reason: str, by: str, **options: Any) -> Result:
        """Archive the website once."""
        website = find_website(host)
        try:
            revoked = website.archive(by=by, reason=reason, now=timezone.now())
        except AlreadyArchived as error:
            changed, revoked, text = False, 0, f"{' '.join(error.messages)} Nothing changed."
        else:
            changed, text = True, f"Archived {website}. Revoked links: {revoked}."
        return Result(
            text=text,
            fields={
                "host": website.host,
                "changed": changed,
                "revoked_links": revoked,
                "archived_at": website.archived_at,
                "archived_by": website.archived_by,
                "reason": website.archive_reason,
            },
        )
