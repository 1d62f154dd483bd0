"""Rebuild the search index, after an update changed how words are split (decision record 0012)."""

from typing import Any

from dashboard_api.models import Finding
from dashboard_api.queries import search
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py rebuild_search."""

    help = "Rebuild the search index, after an update of Python or PostgreSQL changed how words are split."
    commits_itself = True

    def perform(self, **options: Any) -> Result:
        """Rebuild the index, while writers wait, and return the number of findings."""
        search.rebuild()
        findings = Finding.objects.count()
        return Result(text=f"Rebuilt the index of {findings} findings.", fields={"findings": findings})
