"""Look for the tokens of claims that are due for a check; for cron."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import calendar
from dashboard_api.ownership.checks import check_claim
from foundation.operations.operator_command import OperatorCommand, Result, positive
from foundation.operations.storage import is_storage_fault

logger = logging.getLogger(__name__)


class Command(OperatorCommand):
    """manage.py check_claims."""

    interval = timedelta(minutes=15)

    help = (
        "Look for the tokens of claims to websites: soon after a website was added, and weekly once it is "
        "verified. A claim whose token is found is verified and linked; if the token is then missing for two "
        "weeks, the link ends. Run it every few minutes."
    )
    in_one_transaction = False  # a lock must not last while a check waits for the network
    no_event_because = "each change of a claim has an event"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--minutes", type=positive, default=4, help="start no check after this many minutes (4)"
        )

    def perform(self, *, minutes: int, **options: Any) -> Result:
        """Check the claims that were due at the start, one per account in turn."""
        began = timezone.now()
        lines, checked = [], 0
        for claim in OwnershipClaim.objects.due(began):
            if timezone.now() > began + timedelta(minutes=minutes):
                break
            after = _check(claim, timezone.now())
            if after is None:  # the check failed
                continue
            checked += 1
            if after.state != claim.state:
                lines.append(f"{after}: {after.state}")
        lines.append(f"Claims checked: {checked}.")
        return Result(text="\n".join(lines), json_output={"checked": checked, "changed": len(lines) - 1})


def _check(claim: OwnershipClaim, now: datetime) -> OwnershipClaim | None:
    """Check a claim, and return it; log a failure, so that the other claims are still checked."""
    try:
        return check_claim(claim, now=now)
    except Exception as error:
        if is_storage_fault(error):
            raise
        logger.exception("%s: the check failed", claim)
        OwnershipClaim.objects.filter(pk=claim.pk).update(next_check_at=calendar.next_check(claim, now))
        return None
