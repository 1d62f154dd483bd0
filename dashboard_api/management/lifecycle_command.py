"""What the commands that decide about one link or one secret share."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.management.lookup import COMMAND_LINE, find_link, find_secret
from foundation.operator_command import OperatorCommand, Result, positive


class LinkDecision(OperatorCommand):
    """Calls the link's method named ``method``, with the reason on record."""

    method: str
    done: str

    def add_arguments(self, parser: CommandParser) -> None:
        """The link, why and who."""
        super().add_arguments(parser)
        parser.add_argument("link_id", metavar="LINK_ID", help="as link_site told")
        parser.add_argument("--reason", required=True, help="why; kept with the link")
        parser.add_argument("--by", default=COMMAND_LINE, metavar="NAME", help="who decided")

    def perform(self, *, link_id: str, reason: str, by: str, **options: Any) -> Result:
        """The link as it now is."""
        link = find_link(link_id)
        getattr(link, self.method)(by=by, reason=reason, now=timezone.now())
        return Result(
            text=self.done.format(link=link),
            fields={
                "account": link.account.ref,
                "host": link.website.host,
                "link_id": link.link_id,
                "revoked_at": link.revoked_at,
            },
        )


class SecretDecision(OperatorCommand):
    """Calls the secret's method named ``method``; its answer ends with the field named ``moment``."""

    method: str
    moment: str
    done: str

    def add_arguments(self, parser: CommandParser) -> None:
        """The account, so that a mistyped number is noticed, and the secret's number."""
        super().add_arguments(parser)
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("number", metavar="NUMBER", type=positive, help="as issue_secret told")

    def perform(self, *, ref: str, number: int, **options: Any) -> Result:
        """The secret as it now is."""
        secret = find_secret(ref, number)
        getattr(secret, self.method)(now=timezone.now())
        at = getattr(secret, self.moment)
        return Result(
            text=self.done.format(secret=secret, at=f"{at:%Y-%m-%d %H:%M} UTC"),
            fields={"account": ref, "id": number, "state": secret.state, self.moment: at},
        )
