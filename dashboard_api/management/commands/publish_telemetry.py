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
    in_one_transaction = False  # statistics and feed are stored one by one

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
        has_statistics = publishing.publish_statistics(websites, now)
        has_new_feed = publishing.publish_feed((entry for _, entry in entries), now)
        text = (
            f"Websites counted: {len(websites)}. Entries of the feed: {len(entries)}. "
            f"Statistics: {'made' if has_statistics else 'made earlier this week'}."
        )
        fields = {"websites": len(websites), "entries": len(entries), "statistics": int(has_statistics)}
        return Result(text=text, json_output=fields | {"changed": has_statistics or has_new_feed})
