"""Publish the live feed, and once a week the statistics; for cron."""

import json
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.public import publishing
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py publish_telemetry."""

    interval = timedelta(hours=1)

    help = (
        "Publish the live feed, and the statistics at the first run of a week. --dry-run shows what would be "
        "published, and which website each entry of the feed is about. Run it every hour."
    )
    in_one_transaction = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="publish nothing, and show the documents")

    def perform(self, *, dry_run: bool, **options: Any) -> Result:
        """Publish statistics and feed; after a failure, the published ones remain."""
        now = timezone.now()
        websites = publishing.websites_of(now)
        entries = publishing.entries_of(websites, now)
        if dry_run:
            feed = [{"host": host} | entry for host, entry in entries]
            documents = {"statistics": publishing.statistics_of(websites, now), "feed": feed}
            return Result(text=json.dumps(documents, ensure_ascii=False, indent=1), json_output=documents)
        made = publishing.publish_statistics(websites, now)
        changed = publishing.publish_feed((entry for _, entry in entries), now)
        text = (
            f"Websites counted: {len(websites)}. Entries of the feed: {len(entries)}. "
            f"Statistics: {'made' if made else 'made earlier this week'}."
        )
        json_output = {"websites": len(websites), "entries": len(entries), "statistics": int(made)}
        return Result(text=text, json_output=json_output | {"changed": made or changed})
