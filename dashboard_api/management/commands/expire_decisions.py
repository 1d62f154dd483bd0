"""Open again what was decided until a day that has passed; run it daily."""

from typing import Any

from django.utils import timezone

from dashboard_api.management.operator_command import Answer, OperatorCommand
from dashboard_api.triage import expire_decisions


class Command(OperatorCommand):
    """manage.py expire_decisions."""

    help = "Open findings again whose decision, false positive or accepted risk, was for a time that is over."

    def perform(self, **options: Any) -> Answer:
        """How many are open again."""
        reopened = expire_decisions(timezone.now())
        return Answer(text=f"Open again: {reopened}.", fields={"reopened": reopened})
