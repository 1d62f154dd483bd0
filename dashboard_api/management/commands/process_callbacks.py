"""Apply payment callbacks that could not be applied when they arrived; for cron."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from dashboard_api.billing.callbacks import applying
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py process_callbacks."""

    interval = timedelta(minutes=15)

    help = (
        "Apply payment callbacks that failed or that wait for their account. A failed callback is retried "
        "after 1, 5 and 30 minutes, 2 and 12 hours, then given up; a waiting one is given up after a day. "
        "Run it every few minutes."
    )
    in_one_transaction = False  # each event has its own transaction
    no_event_because = "each change of an entitlement has an event"

    def perform(self, **options: Any) -> Result:
        """Process the events that are due, the oldest first."""
        now = timezone.now()
        states = applying.process_due(now)
        open_events = applying.undelivered(now)
        words = [f"{state} {number}" for state, number in sorted(states.items())]
        text = f"Callbacks: {', '.join(words) or 'none due'}."
        if any(open_events.values()):
            problems = ", ".join(f"{state} {number}" for state, number in open_events.items() if number)
            text += f" These need attention: {problems}."
        return Result(text=text, json_output={"applied": 0, **states, "changed": sum(states.values())})
