"""Base classes of commands that change the state of a link or a secret."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.management.lookup import find_link, find_secret
from dashboard_api.models.accounts import AlreadyRetiring, AlreadyRevoked
from dashboard_api.models.sites import NotRevoked
from foundation.operator_command import OnRecord, OperatorCommand, Result, row_number


def change(operation: Callable[[], object]) -> str:
    """Perform ``operation``; return why nothing changed, or an empty text if something did."""
    try:
        operation()
    except (AlreadyRevoked, AlreadyRetiring, NotRevoked) as error:
        return " ".join(error.messages)
    return ""


class LinkCommand(OperatorCommand):
    """A command that calls ``method`` of a link, with a reason."""

    method: str
    done: str
    on_record = OnRecord(needs_reason=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("link_id", metavar="LINK_ID", help="as link_site prints it")

    def perform(self, *, link_id: str, reason: str, by: str, **options: Any) -> Result:
        link = find_link(link_id)
        operation = partial(getattr(link, self.method), by=by, reason=reason, now=timezone.now())
        unchanged = change(operation)
        return Result(
            text=unchanged or self.done.format(link=link),
            fields={
                "changed": not unchanged,
                "account": link.account.ref,
                "host": link.website.host,
                "link_id": link.link_id,
                "revoked_at": link.revoked_at,
            },
        )


class SecretCommand(OperatorCommand):
    """A command that calls ``method`` of a secret and prints its time, the field ``time_field``."""

    method: str
    time_field: str
    done: str

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the account, which guards against a mistyped number, and the secret's number."""
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("number", metavar="NUMBER", type=row_number, help="as issue_secret prints it")

    def perform(self, *, ref: str, number: int, **options: Any) -> Result:
        secret = find_secret(ref, number)
        unchanged = change(partial(getattr(secret, self.method), now=timezone.now()))
        at = getattr(secret, self.time_field)
        return Result(
            text=unchanged or self.done.format(secret=secret, at=f"{at:%Y-%m-%d %H:%M} UTC"),
            fields={
                "changed": not unchanged,
                "account": ref,
                "id": number,
                "state": secret.state,
                self.time_field: at,
            },
        )
