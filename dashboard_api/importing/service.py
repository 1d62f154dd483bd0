"""Import a file for one website, on record: for the command, the inbox and the admin."""

import dataclasses
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import BinaryIO

from django.db import transaction

from dashboard_api.importing.ingest import (
    ImportOptions,
    ImportResult,
    NothingImported,
    ReadReport,
    read,
    store,
)
from dashboard_api.models import Coverage, ImportRun, Source, Website
from dashboard_api.queries import change_feed
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import ByteSource

SHOWN_REASONS = 20
# The fields of a result that its record has, too.
_RECORDED = (
    *("scanned_at", "state", "detail", "rows", "findings", "occurrences", "coverage", "rejected"),
    *("new", "updated", "reopened", "fixed"),
)


class RefusedReport(ValueError):
    """Nothing was changed; the message says why, and what to do."""


class EmptyRefusal(RefusedReport):
    """The report has no rows; callers add how to confirm that this is right."""


def import_file(
    stream: BinaryIO,
    website: Website,
    options: ImportOptions,
    *,
    file_name: str,
    by: str,
    dry_run: bool = False,
    on_read: Callable[[bytes], object] | None = None,
    on_stored: Callable[[int, int], object] = lambda _count, _total: None,
    before_commit: Callable[[], object] = lambda: None,
) -> list[ImportResult]:
    """Import all reports of a file, one for each tool in it, in one transaction; raise RefusedReport.

    With ``dry_run`` the transaction is rolled back. ``on_read`` is called with each part that is read,
    ``on_stored`` with the number of findings of each batch and of all reports together, and
    ``before_commit`` at the end of the transaction.
    """
    digest = hashlib.sha256()
    observers = [digest.update, on_read] if on_read else [digest.update]
    reports, unusable = _read_all(io.BufferedReader(_Observed(stream, observers)), website, options)
    total = sum(report.result.findings for report in reports)
    with transaction.atomic():
        stored = [store(report, on_stored=lambda count: on_stored(count, total)) for report in reports]
        results = [*stored, *unusable]
        # One value for all reports of the file, so that the change feed shows them together.
        newest = change_feed.newest(website.pk)
        for result in results:
            run = _run(result, website, newest)
            run.by, run.file_name, run.digest = by, PurePath(file_name).name[-255:], digest.hexdigest()
            run.file_modified_at = options.modified_at
            run.save()
        before_commit()
        transaction.set_rollback(dry_run)
    return results


def _read_all(
    stream: BinaryIO, website: Website, options: ImportOptions
) -> tuple[list[ReadReport], list[ImportResult]]:
    """Return the reports to store, and the results of those without a usable row; raise RefusedReport."""
    usable: list[ReadReport] = []
    unusable: list[ImportResult] = []
    try:
        first = read_report(stream, format_name=options.format_name)
        for report in (first, *first.others):
            try:
                usable.append(read(report, website, options))
            except NothingImported as error:
                unusable.append(error.result)
    except UnreadableReport as error:
        raise RefusedReport(f"{error} Nothing was changed.") from error
    if not usable:
        raise _refusal(unusable)
    return usable, [_not_imported(result) for result in unusable]


def _refusal(results: list[ImportResult]) -> RefusedReport:
    if not any(result.rows for result in results):
        return EmptyRefusal(
            "The report is empty, which says nothing by itself. If the scan ended and found nothing, say "
            "that it was complete, and when."
        )
    details = "\n".join(line for result in results for line in in_words(result))
    return RefusedReport(f"Every row was rejected, so nothing was changed.\n{details}")


def _not_imported(result: ImportResult) -> ImportResult:
    why = "Every row was rejected" if result.rows else "It is empty, which says nothing by itself"
    return dataclasses.replace(
        result, state=Coverage.State.PARTIAL.value, detail=f"{why}: nothing was changed."
    )


def digest_of(stream: BinaryIO) -> str:
    """Return the digest of a file, as the record of its import has it."""
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def in_words(result: ImportResult) -> list[str]:
    """Return the result in words, one line each."""
    lines = [
        f"{result.source} on {result.host}, scanned {result.scanned_at:%Y-%m-%d %H:%M} UTC: {result.state}.",
        (
            f"Rows: {result.rows}. Findings: {result.findings}, further occurrences: {result.occurrences}, "
            f"coverage: {result.coverage}, rejected: {result.rejected}."
        ),
        f"New: {result.new}, updated: {result.updated}, reopened: {result.reopened}, fixed: {result.fixed}.",
    ]
    if scope := scope_in_words(result):
        lines.append(scope)
    if result.detail:
        lines.append(result.detail)
    rows: dict[str, list[int]] = {}
    for row in (*result.rejects, *result.failures, *result.suppressions):
        rows.setdefault(row.reason.rstrip("."), []).append(row.row)
    reasons = list(rows.items())[:SHOWN_REASONS]
    lines += [f"Row {first} {reason}{_and_more(more)}." for reason, (first, *more) in reasons]
    shown = sum(len(numbers) for _, numbers in reasons)
    if more := result.rejected + result.failed + result.suppressed - shown:
        lines.append(f"And {more} more.")
    return lines


def scope_in_words(result: ImportResult) -> str:
    """Return where a missing finding counts as fixed; empty where the report proves nothing."""
    if not result.targets:
        return result.note if result.state == Coverage.State.OK else ""
    more = f" and {result.more_targets} more" if result.more_targets else ""
    category = f", category {result.category}" if result.category else ""
    return f"Scope of what is fixed: {', '.join(result.targets)}{more}{category}. {result.note}".strip()


def _and_more(rows: list[int]) -> str:
    return f" (and {len(rows)} more row{'s' if len(rows) > 1 else ''})" if rows else ""


def _run(result: ImportResult, website: Website, newest: change_feed.FeedPosition) -> ImportRun:
    """Return the unsaved record of ``result``; it lacks what the reports of a file share."""
    return ImportRun(
        website=website,
        source=Source.objects.imported(result.source, result.source_name),
        scope=scope_in_words(result)[:500],
        **{name: getattr(result, name) for name in _RECORDED},
        newest_finding_id=newest.finding_id,
        newest_event_id=newest.event_id,
        rejects=[{"row": reject.row, "reason": reject.reason} for reject in result.rejects],
    )


class _Observed(ByteSource):
    """A stream that calls ``observers`` with each part that is read."""

    def __init__(self, stream: BinaryIO, observers: Sequence[Callable[[bytes], object]]) -> None:
        self._stream, self._observers = stream, observers

    def next_bytes(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        for observe in self._observers:
            observe(chunk)
        return chunk
