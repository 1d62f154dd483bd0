"""End the day: record its open findings, and end decisions and accepted risks after their last day."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from dashboard_api.answers import settling
from dashboard_api.importing.ended_decisions import expire_triage
from dashboard_api.reading.history import record_yesterday
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py end_day."""

    interval = timedelta(days=1)

    help = (
        "Record the open findings of each website at the end of yesterday (only until 06:00 UTC: later "
        "they are unknown). End decisions about false positives and accepted risks after their last day: "
        "the findings are open again, or fixed if complete scans no longer found them. End risks that "
        "customers accepted after their last day, and announce ends in the next 14 days."
    )
    in_one_transaction = False  # decisions end in batches, accepted risks for each website

    def perform(self, **options: Any) -> Result:
        now = timezone.now()
        recorded = record_yesterday(now)
        ended = expire_triage(now)
        risks_ended = settling.end_accepted(now)
        announced = settling.announce_ends(now)
        websites = "too late today" if recorded is None else f"{recorded} websites changed"
        return Result(
            text=f"Open findings of yesterday: {websites}. Ended decisions: {ended}. Ended accepted risks: "
            f"{risks_ended}, announced ends: {announced}.",
            json_output={
                "recorded": recorded,
                "ended": ended,
                "risks_ended": risks_ended,
                "announced": announced,
            },
        )
