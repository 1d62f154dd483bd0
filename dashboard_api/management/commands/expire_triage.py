"""End decisions whose last day has passed; run it daily."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from dashboard_api.ended_decisions import expire_triage
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py expire_triage."""

    interval = timedelta(days=1)

    help = (
        "End decisions about false positives and accepted risks whose last day has passed: the findings are "
        "open again, or fixed where complete scans no longer found them."
    )
    commits_itself = True

    def perform(self, **options: Any) -> Result:
        ended = expire_triage(timezone.now())
        return Result(text=f"Ended decisions: {ended}.", fields={"ended": ended})
