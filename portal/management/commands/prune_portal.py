"""Delete old rows of the portal: share links, stored answers, changes of teams; run it hourly."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from audit import seals
from foundation.operations.operator_command import OperatorCommand, Result
from portal.models import LastAnswer, SentReminder
from portal.sharing.actions import delete_ended
from portal.team.actions import delete_old

_AGE_OF_REMINDERS = timedelta(days=100)  # longer than the time before a last day in which they are due


class Command(OperatorCommand):
    """manage.py prune_portal."""

    interval = timedelta(hours=1)

    help = (
        "Delete the share links that expired or were revoked more than 30 days ago, the answers of the "
        "service that were stored for outages more than a day ago, the record of reminders "
        "after 100 days, and invitations and changes of teams after 400 days, as actions on record."
    )

    def perform(self, **options: Any) -> Result:
        """Delete them all, and return the numbers of share links and team changes."""
        now = timezone.now()
        count = delete_ended(now=now)
        changes = delete_old(now=now)
        LastAnswer.objects.expire(now)
        SentReminder.objects.filter(created_at__lt=now - _AGE_OF_REMINDERS).delete()
        seals.prune(now)  # the service's command also prunes, but it may be another deployment
        json_output = {"share_links": count, "team_changes": changes}
        return Result(
            text=f"Share links deleted: {count}; changes of teams: {changes}.", json_output=json_output
        )
