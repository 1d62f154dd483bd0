"""Import the reports that scanners left in a folder; for cron."""

import dataclasses
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from dashboard_api.importing.inbox import InboxLocked, InboxResult, import_all
from dashboard_api.importing.inbox_files import UnsafeFile
from dashboard_api.importing.ingest import ImportResult, ReportOptions
from dashboard_api.importing.service import in_words
from foundation.operations.operator_command import OperatorCommand, Result, web_address


class Command(OperatorCommand):
    """manage.py import_inbox /srv/reports."""

    interval = timedelta(hours=1)

    help = (
        "Import each report in DIR/<host>/ once, the oldest first. Imported reports move to "
        "DIR/<host>/done, refused ones to DIR/<host>/failed with the reason in a .why.txt. Files that "
        "changed within the last minute wait, as do names that begin with a dot or end with .part or .tmp; "
        "links are not followed. DIR/<host>/import.toml may give options for all reports of the host, and "
        "report.json.toml for report.json (docs/scanner-formats.md). A report without a time gets "
        "the time of its file. Exit code 0: no report was refused or left."
    )
    no_event_because = "each import has an event"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--complete", action="store_true", help="every scan ran to its end")
        parser.add_argument(
            "--base-url",
            type=web_address,
            metavar="URL",
            help="the base of locations without a host; {host} is each website's host: https://{host}/",
        )

    def perform(
        self, *, folder: Path, complete: bool, base_url: str | None, by: str, **options: Any
    ) -> Result:
        """Import the reports, and return the outcome of each file."""
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder.")
        try:
            options_of_all = ReportOptions(complete=complete, base_url=base_url)
            results = list(import_all(folder, options=options_of_all, by=by))
        except InboxLocked as error:
            raise CommandError(f"Another import_inbox is running in {folder}: wait for its end.") from error
        except UnsafeFile as error:
            raise CommandError(f"Nothing was imported: {error}") from error
        except PermissionError as error:
            raise CommandError(
                f"{folder} cannot be used: {error.strerror}. The user who runs "
                "this must be able to read the reports, and to write in their folders."
            ) from error
        except OSError as error:
            raise CommandError(f"{folder} cannot be used: {error.strerror}.") from error
        recent = sum(each.is_recent for each in results)
        results = [each for each in results if not each.is_recent]
        lines = [line for each in results for line in _in_words(each)]
        if recent:
            lines.append(f"Waiting for a later run, because they changed within the last minute: {recent}.")
        return Result(
            text="\n".join(lines) or "There are no reports to import.",
            json_output={
                "files": [row for each in results for row in _json_reports(each)],
                "waiting": recent,
            },
            failure="Not every report was imported." if any(each.why for each in results) else "",
        )


def _in_words(file: InboxResult) -> list[str]:
    lines = [line for result in file.results for line in in_words(result)]
    lines += file.why.splitlines()
    return [f"{file.path}: {line}" for line in lines or ["It was imported before."]]


def _json_reports(file: InboxResult) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file, one for each report in it."""
    shared = {"file": file.path, "error": file.why or None, "duplicate": file.is_duplicate}
    results: Sequence[ImportResult | None] = file.results or [None]  # also for a refused file
    for result in results:
        yield shared | {"result": result and dataclasses.asdict(result)}
