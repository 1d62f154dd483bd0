"""Watch limits and plans, and store notices for owners; for cron."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from dashboard_api.billing import notices
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py watch_limits."""

    interval = timedelta(minutes=15)
    help = (
        "Store a notice for each limit that has reached 80 or 100 percent, and for each step before and "
        "after the end of a plan; the API serves them. End overrides after their last day. Run it every few "
        "minutes."
    )
    in_one_transaction = False  # account by account
    no_event_because = "the end of each override has an event"

    def perform(self, **options: Any) -> Result:
        """Watch all accounts."""
        added, ended = notices.watch(timezone.now())
        return Result(
            text=f"Notices: {added}. Overrides ended: {ended}.",
            json_output={"notices": added, "overrides_ended": ended},
        )
