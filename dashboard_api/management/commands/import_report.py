"""Import reports of scanners: each row becomes a finding, coverage, or a reject with its reason."""

import dataclasses
import sys
from argparse import Action, ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm

from dashboard_api.importing.ingest import ReportOptions
from dashboard_api.importing.locations import OutsideWebsite, normalise_location
from dashboard_api.importing.service import EmptyRefusal, ImportOptions, RefusedReport, import_file, in_words
from dashboard_api.management.lookup import find_account, find_website
from dashboard_api.models import SiteLink, Website
from dashboard_api.scanners import READERS, finding_csv
from dashboard_api.scanners.times import parse_time
from foundation.operations.operator_command import OperatorCommand, Result, web_address

STANDARD_INPUT = "-"  # as the name of a file
_REPORT_OPTIONS = ("format_name", "complete", "scanned_at", "base_url", "targets", "category")


class Progress:
    """A progress bar on a terminal, hidden in a pipe: bytes that were read, then stored findings."""

    def __init__(self, file: str) -> None:
        size = None if file == STANDARD_INPUT else Path(file).stat().st_size
        self._bar = _bar(size, unit="B")
        self._is_storing = False

    def read(self, part: bytes) -> None:
        """Count the bytes of a part of the file."""
        self._bar.update(len(part))

    def stored(self, count: int, total: int) -> None:
        """Count stored findings, out of ``total``."""
        if not self._is_storing:
            self._bar.close()
            self._bar, self._is_storing = _bar(total, unit=" findings"), True
        self._bar.update(count)

    def close(self) -> None:
        """Remove the bar from the terminal."""
        self._bar.close()


def _bar(total: int | None, *, unit: str) -> tqdm:  # type: ignore[type-arg]
    # ``disable=None`` hides it unless standard error is a terminal.
    return tqdm(total=total, unit=unit, unit_scale=True, disable=None, leave=False)


def _add_report_options(parser: CommandParser) -> None:
    """Add an option for each of _REPORT_OPTIONS."""
    parser.add_argument(
        "--format",
        dest="format_name",
        choices=["auto", *READERS],
        default="auto",
        help="auto detects the format by the file's content; docs/scanner-formats.md describes each format",
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="the scan ran to its end: open findings that it does not report count as fixed",
    )
    parser.add_argument(
        "--scanned-at",
        type=_past_time,
        metavar="ISO",
        help="when the scan ended, such as 2026-01-31T14:00:00Z; replaces the times in the report",
    )
    parser.add_argument(
        "--base-url",
        type=web_address,
        metavar="URL",
        help="the base of locations without a host, such as /login",
    )
    parser.add_argument(
        "--target",
        dest="targets",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a host that was scanned but is not named in the report; may be repeated",
    )
    parser.add_argument(
        "--category",
        default="",
        metavar="NAME",
        help="a name for this scan, if one scanner checks the website in several parts: it can fix only "
        "findings of earlier reports with the same name",
    )


class _PrintTemplate(Action):
    """Prints a CSV file to fill in, and exits."""

    def __call__(self, parser: ArgumentParser, *_arguments: object) -> None:
        sys.stdout.write(finding_csv.template())
        parser.exit()


class Command(OperatorCommand):
    """manage.py import_report nuclei.jsonl --host shop.example.com."""

    help = (
        "Import scanners' reports as findings of one website. Exit code 0: imported, and rows that were "
        "rejected are listed with their reasons; 1: a report was refused and changed nothing, or with "
        "--strict rows were rejected and the others imported; 2: wrong options. "
        "Several files are imported one by one; a file with reports of several tools is imported "
        "as a whole. gzip is unpacked. --json prints one object per line, for each report of each file."
    )
    no_event_because = "each import has an event"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", metavar="FILE", nargs="+", help="a report; - is standard input")
        parser.add_argument(
            "--template", nargs=0, action=_PrintTemplate, help="print a CSV file to fill in, and exit"
        )
        parser.add_argument("--host", required=True, help="the website that was scanned")
        parser.add_argument("--account", metavar="REF", help="refuse unless this account links the website")
        _add_report_options(parser)
        parser.add_argument(
            "--strict",
            action="store_true",
            help="exit with code 1 if rows were rejected; the rest is imported",
        )
        parser.add_argument("--dry-run", action="store_true", help="show the outcome; store nothing")

    def handle(self, *args: Any, files: list[str], **options: Any) -> None:
        """Import the reports one by one; after a refusal, the others are still imported."""
        self._rejected = 0  # rows of all files; ``perform`` adds to it
        if len(files) == 1:
            super().handle(*args, file=files[0], prefix="", **options)
            refused = 0
        else:
            refused = sum(not self._is_imported(*args, file=file, **options) for file in files)
        failures = [f"Refused: {refused} of {len(files)} reports."] if refused else []
        if options["strict"] and self._rejected:
            failures.append(f"Rejected rows: {self._rejected}.")
        if failures:
            raise CommandError(" ".join(failures))

    def _is_imported(self, *args: Any, file: str, **options: Any) -> bool:
        try:
            super().handle(*args, file=file, prefix=f"{file}: ", **options)
        except CommandError as error:
            if not options["as_json"]:
                self.stderr.write("\n".join(f"{file}: {line}" for line in str(error).splitlines()))
            return False
        return True

    def json_error(self, message: str, **options: Any) -> dict[str, Any]:
        return {"file": options["file"], "error": message} if "file" in options else {"error": message}

    def perform(
        self, *, file: str, prefix: str, host: str, account: str | None, by: str, **options: Any
    ) -> Result:
        """Import the report; ``dry_run`` does everything except the commit."""
        website = find_website(host)
        if account is not None:
            _check_linked(account, website)
        _check_locations(website, "--base-url", [options["base_url"]] if options["base_url"] else [])
        _check_locations(website, "--target", options["targets"])
        dry_run: bool = options["dry_run"]
        try:
            with _open(file) as stream, closing(Progress(file)) as progress:
                import_options = ImportOptions(
                    file_name=file,
                    by=by,
                    report=ReportOptions(**{name: options[name] for name in _REPORT_OPTIONS}),
                    dry_run=dry_run,
                    on_read=progress.read,
                    on_stored=progress.stored,
                )
                results = import_file(stream, website, import_options)
        except OSError as error:
            raise CommandError(f"Cannot read {file}: {error.strerror}.") from error
        except EmptyRefusal as error:
            raise CommandError(f"{error} Add --complete and --format.") from error
        except RefusedReport as error:
            raise CommandError(str(error)) from error
        self._rejected += sum(result.rejected for result in results)
        lines = ["Dry run: nothing was stored. Otherwise:"] if dry_run else []
        lines += [line for each in results for line in in_words(each)]
        json_output = [{"file": file, **dataclasses.asdict(each), "dry_run": dry_run} for each in results]
        return Result(text="\n".join(prefix + line for line in lines), json_output=json_output)


def _check_linked(ref: str, website: Website) -> None:
    links = SiteLink.objects.filter(account=find_account(ref), website=website)
    if not links.exists():
        raise CommandError(
            f"{ref} does not link {website}: link it in the admin or by 'manage.py onboard {ref} {website}'."
        )
    if not links.not_revoked().exists():
        raise CommandError(
            f"The link of {ref} to {website} is revoked: restore it in the admin, or leave --account out."
        )


def _check_locations(website: Website, option: str, locations: Sequence[str]) -> None:
    try:
        for location in locations:
            normalise_location(website.host, location)
    except OutsideWebsite as error:
        raise CommandError(f"{option} {error}.") from error


def _open(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == STANDARD_INPUT else Path(file).open("rb")


def _past_time(text: str) -> datetime:
    moment = parse_time(text)
    if moment is None:
        raise ArgumentTypeError(f"{text} is not a time such as 2026-01-31T14:00:00Z")
    if moment > timezone.now():
        raise ArgumentTypeError(f"{text} is in the future")
    return moment
