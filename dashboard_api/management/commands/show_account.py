"""Show an account: plan, use of its limits, secrets, websites and tokens for reports."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.billing.usage import uses
from dashboard_api.management.entitlement_options import entitlement_in_words, result_fields
from dashboard_api.management.lookup import find_account
from dashboard_api.models import Account
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py show_account acct_0001."""

    help = (
        "Show an account: its plan and how much of each limit is used, its secrets without their values, its "
        "websites, its tokens for reports."
    )
    no_event_because = "it only reads"
    audit_options = None  # neither --by nor --reason

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")

    def perform(self, *, ref: str, **options: Any) -> Result:
        account = find_account(ref)
        entitlement = getattr(account, "entitlement", None)
        json_output = {
            "account": ref,
            "name": account.name,
            "created_at": account.created_at,
            "billing_ref": str(account.billing_ref),
            "entitlement": result_fields(entitlement) if entitlement else None,
            "limits": [
                row._asdict() | {"state": row.state}
                for row in (uses(entitlement, timezone.now()) if entitlement else ())
            ],
            **_parts(account),
        }
        lines = [
            f"{ref}  {account.name}".rstrip(),
            entitlement_in_words(entitlement) if entitlement else "It has no plan.",
            f"Reference for payments: {account.billing_ref}",
        ]
        return Result(text="\n".join([*lines, *_lines(json_output)]), json_output=json_output)


def _parts(account: Account) -> dict[str, list[dict[str, Any]]]:
    """Return the account's secrets, websites and report tokens as fields."""
    links = account.links.select_related("website").order_by("website__host")
    return {
        "secrets": [
            {
                "id": row.pk,
                "hint": row.hint,
                "is_test": row.is_test,
                "for_portal": row.for_portal,
                "state": row.state,
                "last_used_at": row.last_used_at,
            }
            for row in account.secrets.order_by("pk")
        ],
        "websites": [
            {"host": row.website.host, "link_id": row.link_id, "revoked_at": row.revoked_at} for row in links
        ],
        "report_tokens": [
            {
                "id": row.pk,
                "name": row.name,
                "hosts": [website.host for website in row.websites.all()],
                "sources": row.sources,
                "expires_at": row.expires_at,
                "last_used_at": row.last_used_at,
                "revoked_at": row.revoked_at,
            }
            for row in account.report_tokens.order_by("pk").prefetch_related("websites")
        ],
    }


def _lines(account: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each limit, secret, website and token of the account, as ``--json`` has them."""
    for row in account["limits"]:
        used = "?" if row["used"] is None else row["used"]
        limit = "any number" if row["limit"] is None else row["limit"]
        yield f"Limit {row['name']}: {used} of {limit}, {row['state']}"
    for row in account["secrets"]:
        purpose = " for the portal" if row["for_portal"] else ""
        yield (
            f"Secret {row['id']}{purpose} ({row['hint']}): {row['state']}, "
            f"last use: {_day(row['last_used_at'])}"
        )
    for row in account["websites"]:
        state = f", revoked {_day(row['revoked_at'])}" if row["revoked_at"] else ""
        yield f"Website {row['host']}: link id {row['link_id']}{state}"
    for row in account["report_tokens"]:
        state = (
            f"revoked {_day(row['revoked_at'])}" if row["revoked_at"] else f"until {_day(row['expires_at'])}"
        )
        yield f"Token {row['id']} ({row['name']}) for {', '.join(row['hosts'])}: {state}"


def _day(moment: Any) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "never"
