"""Bring a scanner's report in: every row of it becomes findings, coverage, or a reject with its reason."""

import dataclasses
import sys
from argparse import ArgumentTypeError
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from dashboard_api.ingest import EmptyReport, ImportResult, NothingImported, import_report
from dashboard_api.locations import Elsewhere, place_on
from dashboard_api.management.operator_command import Answer, OperatorCommand, find_account, find_website
from dashboard_api.models import SiteLink, Website
from dashboard_api.scanners import READERS, read_report
from dashboard_api.scanners.report import UnreadableReport

SHOWN_ROWS = 20
STANDARD_INPUT = "-"


class Command(OperatorCommand):
    """manage.py import_report nuclei.jsonl --host shop.example.com."""

    help = (
        "Import a scanner's report as findings of one website. Exit code 0: imported, and rows that were "
        "rejected are listed with their reasons; 1: refused, nothing was changed; 2: wrong options."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The report, the website, and what the report cannot tell by itself."""
        super().add_arguments(parser)
        parser.add_argument("file", metavar="FILE", help="the report; - is standard input")
        parser.add_argument("--host", required=True, help="the website that was scanned")
        parser.add_argument("--account", metavar="REF", help="refuse unless this account links the website")
        parser.add_argument(
            "--format",
            choices=["auto", *READERS],
            default="auto",
            help="auto recognises the format by the file's content; docs/scanner-formats.md describes each",
        )
        parser.add_argument(
            "--complete",
            action="store_true",
            help="the scan ran to its end: open findings that it does not report are fixed",
        )
        parser.add_argument(
            "--scanned-at",
            type=_moment,
            metavar="ISO",
            help="when the scan ended, such as 2026-01-31T14:00:00Z; replaces the times in the report",
        )
        parser.add_argument(
            "--base-url",
            type=_base_url,
            metavar="URL",
            help="where places that name no host, such as /login, belong",
        )
        parser.add_argument("--dry-run", action="store_true", help="tell what would happen; store nothing")

    def perform(self, *, file: str, host: str, account: str | None, dry_run: bool, **options: Any) -> Answer:
        """Import the report, or with ``dry_run`` everything but the commit."""
        website = find_website(host)
        if account is not None:
            _check_linked(account, website)
        _check_base_url(options["base_url"], website)
        said = {name: options[name] for name in ("complete", "scanned_at", "base_url")}
        try:
            with _opened(file) as stream, transaction.atomic():
                report = read_report(stream, format_name=options["format"])
                result = import_report(report, website, **said)
                transaction.set_rollback(dry_run)
        except OSError as error:
            raise CommandError(f"Cannot read {file}: {error.strerror}.") from error
        except UnreadableReport as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        except EmptyReport as error:
            raise CommandError(
                "The report is empty, which says nothing by itself. If the scan ended and found nothing, "
                "say so with --complete and --scanned-at."
            ) from error
        except NothingImported as error:
            raise CommandError(
                f"Every row was rejected, so nothing was changed.\n{_in_words(error.result)}"
            ) from error
        dry = "Dry run: nothing was stored. Otherwise:\n" if dry_run else ""
        return Answer(text=dry + _in_words(result), fields=dataclasses.asdict(result) | {"dry_run": dry_run})


def _in_words(result: ImportResult) -> str:
    lines = [
        f"{result.source} on {result.host}, scanned {result.scanned_at:%Y-%m-%d %H:%M} UTC: {result.state}.",
        (
            f"Rows: {result.rows}. Findings: {result.findings}, further occurrences: {result.occurrences}, "
            f"coverage: {result.coverage}, rejected: {len(result.rejected)}."
        ),
        f"New: {result.new}, known: {result.updated}, open again: {result.reopened}, fixed: {result.fixed}.",
    ]
    if result.detail:
        lines.append(result.detail)
    told = [*result.rejected, *result.failed]
    lines += [f"Row {row.row} {row.reason}." for row in told[:SHOWN_ROWS]]
    if len(told) > SHOWN_ROWS:
        lines.append(f"And {len(told) - SHOWN_ROWS} more; --json tells them all.")
    return "\n".join(lines)


def _check_linked(ref: str, website: Website) -> None:
    links = SiteLink.objects.filter(account=find_account(ref), website=website)
    if not links.exists():
        raise CommandError(f"{ref} does not link {website}: first run 'manage.py link_site {ref} {website}'.")
    if not links.not_revoked().exists():
        raise CommandError(
            f"The link of {ref} to {website} is revoked: first run 'manage.py restore_link "
            f"{links[0].link_id} --reason ...', or leave --account out."
        )


def _check_base_url(base_url: str | None, website: Website) -> None:
    try:
        if base_url:
            place_on(website.host, base_url)
    except Elsewhere as error:
        raise CommandError(f"--base-url {error}.") from error


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == STANDARD_INPUT else Path(file).open("rb")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"{text} is not a time such as 2026-01-31T14:00:00Z") from error
    if moment > timezone.now():
        raise ArgumentTypeError(f"{text} lies in the future")
    return moment


def _base_url(text: str) -> str:
    if not text.lower().startswith(("http://", "https://")):
        raise ArgumentTypeError(f"{text} does not start with http:// or https://")
    return text
