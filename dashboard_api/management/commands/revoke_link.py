"""Revoke a link, with a reason."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.models import SiteLink
from dashboard_api.models.accounts import AlreadyRevoked
from foundation.operations.operator_command import AuditOptions, OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py revoke_link LINK_ID --reason "Contract ended"."""

    help = "Revoke a link: its calls are refused from now on. You can restore it in the admin."
    audit_options = AuditOptions(requires_reason=True)  # --by and --reason

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("link_id", metavar="LINK_ID", help="as show_account prints it")

    def perform(self, *, link_id: str, reason: str, by: str, **options: Any) -> Result:
        link = SiteLink.objects.select_related("account", "website").filter(link_id=link_id.lower()).first()
        if link is None:
            raise CommandError(
                f"There is no link {link_id}: 'manage.py show_account REF' lists those of REF."
            )
        unchanged = ""
        try:
            link.revoke(by=by, reason=reason, now=timezone.now())
        except AlreadyRevoked as error:
            unchanged = " ".join(error.messages)
        return Result(
            text=unchanged or f"Revoked {link}: its calls are refused from now on.",
            json_output={
                "changed": not unchanged,
                "account": link.account.ref,
                "host": link.website.host,
                "link_id": link.link_id,
                "revoked_at": link.revoked_at,
            },
        )
