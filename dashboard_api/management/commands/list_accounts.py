"""List the accounts with their plans."""

from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Count, Q
from django.utils import timezone

from dashboard_api.models import Account
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py list_accounts."""

    help = "List the accounts with plan, today's status, last day and number of linked websites."
    without_event = "it only reads"
    on_record = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--search", default="", metavar="TEXT", help="in reference, name or host")

    def perform(self, *, search: str, **options: Any) -> Result:
        """Return one row for each account; --json prints each on a line of its own."""
        accounts = Account.objects.select_related("entitlement").order_by("ref")
        if search:
            named = Q(ref__icontains=search) | Q(name__icontains=search)
            accounts = accounts.filter(named | Q(links__website__host__icontains=search)).distinct()
        linked = Count("links", filter=Q(links__revoked_at=None), distinct=True)
        rows = [_fields(account) for account in accounts.annotate(linked=linked)]
        lines = [
            f"{row['account']}  {row['name'] or '-'}  {row['plan'] or 'no plan'}, {row['status']}"
            f"{', until ' + row['ends_on'] if row['ends_on'] else ''}, websites: {row['websites']}"
            for row in rows
        ]
        return Result(text="\n".join(lines) or "There is no such account.", fields=rows)


def _fields(account: Any) -> dict[str, Any]:
    today = timezone.now().date()
    entitlement = getattr(account, "entitlement", None)
    return {
        "account": account.ref,
        "name": account.name,
        "plan": entitlement.plan if entitlement else None,
        "status": entitlement.status_on(today) if entitlement else "expired",
        "ends_on": entitlement.ends_on.isoformat() if entitlement else None,
        "usable": entitlement is not None and entitlement.is_usable_on(today),
        "websites": account.linked,
    }
