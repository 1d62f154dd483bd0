"""Look for the tokens of the claims whose check is due; for cron."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership.checks import check_claim
from foundation.operator_command import OperatorCommand, Result, positive


class Command(OperatorCommand):
    """manage.py check_claims."""

    interval = timedelta(minutes=15)

    help = (
        "Look for the tokens of claims to websites: soon after a website was added, and weekly once it is "
        "verified. A claim whose token is found is verified and linked; if the token is then missing for two "
        "weeks, the link ends. Run it every few minutes."
    )
    commits_itself = True
    without_event = "each change of a claim has an event"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--minutes", type=positive, default=4, help="begin no check after this time (4)")

    def perform(self, *, minutes: int, **options: Any) -> Result:
        """Check the claims that were due at the start, the oldest first."""
        began = timezone.now()
        lines, checked = [], 0
        for claim in OwnershipClaim.objects.due(began):
            if timezone.now() > began + timedelta(minutes=minutes):
                break
            after = check_claim(claim, now=timezone.now())
            checked += 1
            if after.state != claim.state:
                lines.append(f"{after}: {after.state}")
        lines.append(f"Claims checked: {checked}.")
        return Result(text="\n".join(lines), fields={"checked": checked, "changed": len(lines) - 1})
