"""Reopen findings whose decision has ended; run it daily."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from dashboard_api.triage import expire_triage
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py expire_triage."""

    interval = timedelta(days=1)

    help = "Reopen findings whose false positive or accepted risk was decided until a day that has passed."
    commits_itself = True

    def perform(self, **options: Any) -> Result:
        reopened = expire_triage(timezone.now())
        return Result(text=f"Reopened findings: {reopened}.", fields={"reopened": reopened})
