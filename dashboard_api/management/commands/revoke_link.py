"""Stop answering for a link, with the reason on record."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.management.operator_command import COMMAND_LINE, Answer, OperatorCommand, find_link


class Command(OperatorCommand):
    """manage.py revoke_link LINK_ID --reason "Contract ended"."""

    help = "Refuse calls for a link from now on."

    def add_arguments(self, parser: CommandParser) -> None:
        """The link, why and who."""
        super().add_arguments(parser)
        parser.add_argument("link_id", metavar="LINK_ID", help="as link_site told")
        parser.add_argument("--reason", required=True, help="why; kept with the link")
        parser.add_argument("--by", default=COMMAND_LINE, metavar="NAME", help="who decided")

    def perform(self, *, link_id: str, reason: str, by: str, **options: Any) -> Answer:
        """The link as it now is."""
        link = find_link(link_id)
        link.revoke(by=by, reason=reason, now=timezone.now())
        return Answer(
            text=f"Revoked {link}: calls for it are refused from now on.",
            fields={
                "account": link.account.ref,
                "host": link.website.host,
                "link_id": link.link_id,
                "revoked_at": link.revoked_at,
            },
        )
