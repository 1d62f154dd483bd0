"""Restore a revoked link, with a reason."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from dashboard_api.management.lifecycle_command import LinkCommand
from dashboard_api.management.lookup import find_link
from dashboard_api.models import OwnershipClaim
from foundation.operator_command import Result


class Command(LinkCommand):
    """manage.py restore_link LINK_ID --reason "Contract renewed"."""

    help = "Restore a revoked link: its calls are answered again."
    method = "restore"
    done = "Restored {link}: its calls are answered again."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--keep-findings",
            action="store_true",
            help="let the account read what was found for accounts that had the website in the meantime",
        )
        parser.add_argument(
            "--shared", action="store_true", help="restore it although other accounts have the website, too"
        )

    def perform(  # type: ignore[override]
        self, *, link_id: str, keep_findings: bool, shared: bool, **options: Any
    ) -> Result:
        """Restore the link; raise an error where others have the website, or had it in the meantime."""
        link = find_link(link_id)
        OwnershipClaim.objects.locked(link.website.host)  # a check could link another account meanwhile
        was_revoked = link.revoked_at is not None
        former = ", ".join(link.website.former_holders(link.account))
        if former and not keep_findings:
            ref, host = link.account.ref, link.website.host
            raise CommandError(
                f"{former} had {host} in the meantime: {ref} would read what was found for {former}. To "
                f"begin without it: 'manage.py link_site {ref} {host} --new-owner'. Otherwise add "
                "--keep-findings."
            )
        result = super().perform(link_id=link_id, **options)
        if was_revoked and not shared:
            link.website.check_not_of_others(link.account)  # of those, too, whose check was a moment earlier
        return result
