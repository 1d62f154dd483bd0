"""List claims to websites."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard_api.management.lookup import find_account
from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import claims
from foundation.operator_command import OperatorCommand, Result, host_of, positive

_FIELDS = ("state", "method", "link_problem", "created_at", "checked_at", "next_check_at", "ended_at")


class Command(OperatorCommand):
    """manage.py list_claims --state contested."""

    help = "List claims to websites that have not ended, by website; --all lists those that have, too."
    without_event = "it only reads"
    on_record = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", help="to this website")
        parser.add_argument("--account", metavar="REF", help="of this account")
        parser.add_argument("--state", choices=OwnershipClaim.State.values, help="in this state")
        parser.add_argument("--all", action="store_true", help="also those that have ended")
        parser.add_argument("--limit", type=positive, default=100, metavar="N", help="at most N (100)")

    def perform(
        self, *, host: str | None, account: str | None, state: str | None, limit: int, **options: Any
    ) -> Result:
        """Return one row for each claim; --json prints each on a line of its own."""
        found = OwnershipClaim.objects.select_related("account").order_by("host", "pk")
        found = found if options["all"] or state else found.open()
        if host:
            found = found.filter(host=host_of(host))
        if account:
            found = found.filter(account=find_account(account))
        if state:
            found = found.filter(state=state)
        rows = [_fields(claim) for claim in found[:limit]]
        return Result(text="\n".join(map(_in_words, rows)) or "There are no such claims.", fields=rows)


def _fields(claim: OwnershipClaim) -> dict[str, Any]:
    own = {"claim_id": claim.pk, "host": claim.host, "account": claim.account.ref}
    fields = own | {name: getattr(claim, name) for name in _FIELDS}
    return fields | {"answer_due_at": claims.answer_due_at(claim), "waits_for": claims.waits_for(claim)}


def _in_words(row: dict[str, Any]) -> str:
    method = f" by {row['method']}" if row["method"] else ""
    problem = f", not linked: {row['link_problem']}" if row["link_problem"] else ""
    if row["answer_due_at"]:
        problem = f", verified without an answer on {row['answer_due_at']:%Y-%m-%d at %H:%M UTC}"
    elif row["waits_for"]:
        problem = f", waits for {row['waits_for']}"
    return f"{row['host']}  {row['account']}  {row['state']}{method}{problem}  (claim {row['claim_id']})"
