"""Delete share links that ended long ago; run it daily."""

from typing import Any

from django.utils import timezone

from foundation.operator_command import OperatorCommand, Result
from portal.sharing.actions import delete_ended


class Command(OperatorCommand):
    """manage.py prune_share_links."""

    help = "Delete the share links that expired or were revoked more than 30 days ago."

    def perform(self, **options: Any) -> Result:
        """Delete them, and return their number."""
        count = delete_ended(now=timezone.now())
        return Result(text=f"Share links deleted: {count}.", fields={"share_links": count})
