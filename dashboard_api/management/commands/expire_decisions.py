"""Open again what was decided until a day that has passed; run it daily."""

from typing import Any

from django.utils import timezone

from dashboard_api.triage import expire_decisions
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py expire_decisions."""

    help = "Open findings again whose decision, false positive or accepted risk, was for a time that is over."

    def perform(self, **options: Any) -> Result:
        """How many are open again."""
        reopened = expire_decisions(timezone.now())
        return Result(text=f"Open again: {reopened}.", fields={"reopened": reopened})
