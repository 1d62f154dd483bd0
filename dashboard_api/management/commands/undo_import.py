"""Take an import back, with a reason."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.importing.undo import preview, undo
from dashboard_api.models import ImportRun
from foundation.operator_command import OnRecord, OperatorCommand, Result, row_number


class Command(OperatorCommand):
    """manage.py undo_import 4711 --reason "The report of another website"."""

    help = (
        "Take back the newest import of a scanner on a website, at most 30 days old, and then the one before "
        "it: findings that only it brought are deleted, findings that it closed are open again, and "
        "everything else that it changed is restored. Decisions by analysts stay. If there are newer imports "
        "of the scanner, they are named: take them back first."
    )
    on_record = OnRecord(needs_reason=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "number", metavar="NUMBER", type=row_number, help="of the import, as the admin shows it"
        )
        parser.add_argument("--dry-run", action="store_true", help="show the outcome; change nothing")

    def perform(self, *, number: int, reason: str, by: str, dry_run: bool, **options: Any) -> Result:
        run = ImportRun.objects.select_related("website", "source").filter(pk=number).first()
        if run is None:
            raise CommandError(f"There is no import {number}: the admin lists imports with their numbers.")
        now = timezone.now()
        result = preview(run, now=now) if dry_run else undo(run, by=by, reason=reason, now=now)
        begin = "Dry run: nothing was changed. This would take back" if dry_run else "Took back"
        return Result(
            text=f"{begin} {run}.\n{result.in_words()}",
            fields={"import": run.pk, "host": run.website.host, **asdict(result), "dry_run": dry_run},
        )
