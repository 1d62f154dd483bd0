"""Publish the statistics of yesterday and the live feed; for cron."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.public import publishing
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py publish_telemetry."""

    interval = timedelta(hours=1)

    help = (
        "Publish the live feed, and after 02:00 UTC the statistics of the day before. Nothing is published "
        "that tells whose website it is about; --dry-run shows what would be published, and what is left out "
        "and why. Run it every hour."
    )
    commits_itself = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="publish nothing, and show the statistics")

    def perform(self, *, dry_run: bool, **options: Any) -> Result:
        """Publish; a failure leaves everything published as it was."""
        now = timezone.now()
        websites = publishing.population(publishing.last_day(now), now)
        if dry_run:
            document, table = publishing.build_statistics(websites, now)
            removed = [each._asdict() for each in table.removed]
            lines = [f"{each.cell}: {each.websites} ({each.reason})" for each in table.removed]
            text = "\n".join([publishing.encode(document).decode(), "Left out:", *lines])
            return Result(text=text, fields={"statistics": document, "left_out": removed})
        made = publishing.publish_statistics(websites, now) if publishing.are_missing(now) else False
        drawn, withdrawn = publishing.publish_feed(websites, now)
        text = (
            f"Websites counted: {len(websites)}. Statistics: {'made' if made else 'made earlier'}. "
            f"Entries of the feed drawn: {drawn}; withdrawn: {withdrawn}."
        )
        fields = {"websites": len(websites), "statistics": int(made), "drawn": drawn, "withdrawn": withdrawn}
        return Result(text=text, fields=fields | {"changed": bool(made or drawn or withdrawn)})
