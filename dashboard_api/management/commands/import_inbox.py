"""Import the reports that scanners left in a folder; for cron."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from dashboard_api.importing.inbox import Busy, Taken, take_all
from dashboard_api.importing.inbox_files import UnsafeFile
from dashboard_api.importing.service import Said, in_words
from dashboard_api.management.lookup import COMMAND_LINE
from foundation.operator_command import OperatorCommand, Result, web_address


class Command(OperatorCommand):
    """manage.py import_inbox /srv/reports."""

    help = (
        "Import each report in DIR/<host>/ once, the oldest first. Imported reports move to "
        "DIR/<host>/done, refused ones to DIR/<host>/failed with the reason in a .why.txt. Files wait that "
        "changed within the last minute, or whose names begin with a dot or end with .part or .tmp; links "
        "are not followed. DIR/<host>/import.toml may give options for all reports of the host, and "
        "report.json.toml for report.json (docs/scanner-formats.md). A report without a time gets "
        "the time of its file. Exit code 0: no report was refused or left."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder, and what holds for every report in it."""
        super().add_arguments(parser)
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--complete", action="store_true", help="every scan ran to its end")
        parser.add_argument(
            "--base-url",
            type=web_address,
            metavar="URL",
            help="where places that name no host belong, such as https://{host}/, which is each website",
        )
        parser.add_argument("--by", default=COMMAND_LINE, metavar="NAME", help="who imports; kept on record")

    def perform(
        self, *, folder: Path, complete: bool, base_url: str | None, by: str, **options: Any
    ) -> Result:
        """What became of each file."""
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder.")
        try:
            taken = list(take_all(folder, said=Said(complete=complete, base_url=base_url), by=by))
        except Busy as error:
            raise CommandError(f"Another import_inbox is at work in {folder}.") from error
        except UnsafeFile as error:
            raise CommandError(f"Nothing was imported: {error}") from error
        except OSError as error:
            raise CommandError(f"{folder} cannot be used: {error.strerror}.") from error
        text = "\n".join(line for each in taken for line in _in_words(each)) or "Nothing was waiting."
        return Result(
            text=text,
            fields={"files": [fields for each in taken for fields in _fields(each)]},
            failure="Not every report was imported." if any(each.why for each in taken) else "",
        )


def _in_words(taken: Taken) -> list[str]:
    lines = [line for result in taken.results for line in in_words(result)]
    lines += taken.why.splitlines()
    return [f"{taken.path}: {line}" for line in lines or ["It was imported before."]]


def _fields(taken: Taken) -> Iterator[dict[str, Any]]:
    """For a file with reports of several tools, one for each."""
    about = {
        "file": taken.path,
        "refused": taken.why or None,
        "known": taken.is_known,
    }
    for result in map(dataclasses.asdict, taken.results):
        yield about | {"result": result}
    if not taken.results:
        yield about | {"result": None}
