"""Make the index of words anew; needed only when what a word is has changed (decision record 0012)."""

from typing import Any

from dashboard_api.models import Finding
from dashboard_api.queries import search
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py rebuild_search."""

    help = "Make the search index anew, after an update of Python or PostgreSQL changed what a word is."

    def perform(self, **options: Any) -> Result:
        """How many findings are searched; writers wait meanwhile."""
        search.rebuild()
        findings = Finding.objects.count()
        return Result(text=f"{findings} findings are indexed anew.", fields={"findings": findings})
