"""One report's file into one website, on record: what the command, the inbox and the admin share."""

import dataclasses
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import BinaryIO, cast

from django.db import transaction

from dashboard_api.importing.ingest import ImportResult, NothingImported, ReadReport, read, store
from dashboard_api.models import Coverage, ImportRun, Source, Website
from dashboard_api.queries import change_feed
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import UnreadableReport

SHOWN_REASONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the operator says that the report cannot tell by itself."""

    format_name: str = "auto"
    complete: bool = False
    scanned_at: datetime | None = None
    base_url: str | None = None
    modified_at: datetime | None = None  # of the file: the scan's time where nothing else names one
    targets: Sequence[str] = ()
    category: str = ""


class RefusedReport(ValueError):
    """Nothing was changed; the message says why, and what to do."""


class EmptyRefusal(RefusedReport):
    """A report without rows; each caller adds how to confirm that this is right."""


def import_file(
    stream: BinaryIO,
    website: Website,
    said: Said,
    *,
    file_name: str,
    by: str,
    dry_run: bool = False,
    watch: Callable[[int], object] | None = None,
    watch_storing: Callable[[int, int], object] | None = None,
    preview: Callable[[], object] | None = None,
) -> list[ImportResult]:
    """Import the report in ``stream``, of several tools each one's, all together; raises RefusedReport.

    With ``dry_run`` everything but the commit. ``watch`` is told how many bytes were read, each time, and
    ``watch_storing`` how many findings were stored, of how many; ``preview`` is called in the transaction.
    """
    digest = hashlib.sha256()
    watched = cast("BinaryIO", io.BufferedReader(_Watched(stream, digest.update, watch or _nobody)))
    reports, unusable = _read_all(watched, website, said)
    total = sum(report.result.findings for report in reports)

    def stored(count: int) -> None:
        if watch_storing:
            watch_storing(count, total)

    with transaction.atomic():
        results = [*(store(report, watch=stored) for report in reports), *unusable]
        newest = change_feed.newest(
            website.pk
        )  # of all of them: whoever asks by import hears of a file at once
        for result in results:
            _record(result, website, newest, said, file_name=file_name, by=by, digest=digest.hexdigest())
        if preview:
            preview()
        transaction.set_rollback(dry_run)
    return results


def _read_all(stream: BinaryIO, website: Website, said: Said) -> tuple[list[ReadReport], list[ImportResult]]:
    """What each tool reports; and what became of reports that are of no use beside them."""
    usable: list[ReadReport] = []
    unusable: list[ImportResult] = []
    options = dataclasses.asdict(said)
    format_name = options.pop("format_name")
    try:
        first = read_report(stream, format_name=format_name)
        for report in (first, *first.others):
            try:
                usable.append(read(report, website, **options))
            except NothingImported as error:
                unusable.append(error.result)
    except UnreadableReport as error:
        raise RefusedReport(f"{error} Nothing was changed.") from error
    if not usable:
        raise _refusal(unusable)
    return usable, [_left_out(result) for result in unusable]


def _refusal(results: list[ImportResult]) -> RefusedReport:
    if not any(result.rows for result in results):
        return EmptyRefusal(
            "The report is empty, which says nothing by itself. If the scan ended and found nothing, say "
            "that it was complete, and when."
        )
    details = "\n".join(line for result in results for line in in_words(result))
    return RefusedReport(f"Every row was rejected, so nothing was changed.\n{details}")


def _left_out(result: ImportResult) -> ImportResult:
    why = "Every row was rejected" if result.rows else "It is empty, which says nothing by itself"
    return dataclasses.replace(
        result, state=Coverage.State.PARTIAL.value, detail=f"{why}: nothing was changed."
    )


def digest_of(stream: BinaryIO) -> str:
    """What tells whether a file was imported before: as the record of its import has it."""
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def in_words(result: ImportResult) -> list[str]:
    """What became of the report, a line each."""
    lines = [
        f"{result.source} on {result.host}, scanned {result.scanned_at:%Y-%m-%d %H:%M} UTC: {result.state}.",
        (
            f"Rows: {result.rows}. Findings: {result.findings}, further occurrences: {result.occurrences}, "
            f"coverage: {result.coverage}, rejected: {result.rejected}."
        ),
        f"New: {result.new}, known: {result.updated}, open again: {result.reopened}, fixed: {result.fixed}.",
    ]
    if scope := scope_in_words(result):
        lines.append(scope)
    if result.detail:
        lines.append(result.detail)
    rows: dict[str, list[int]] = {}
    for row in (*result.rejects, *result.failures, *result.suppressions):
        rows.setdefault(row.reason.rstrip("."), []).append(row.row)
    listed = list(rows.items())[:SHOWN_REASONS]
    lines += [f"Row {first} {reason}{_and_more(more)}." for reason, (first, *more) in listed]
    shown = sum(len(numbers) for _, numbers in listed)
    if more := result.rejected + result.failed + result.suppressed - shown:
        lines.append(f"And {more} more.")
    return lines


def scope_in_words(result: ImportResult) -> str:
    """Say where a missing problem counts as fixed; empty where the report proves nothing."""
    if not result.targets:
        return result.note if result.state == Coverage.State.OK else ""
    more = f" and {result.more_targets} more" if result.more_targets else ""
    category = f", category {result.category}" if result.category else ""
    return f"Scope of what is fixed: {', '.join(result.targets)}{more}{category}. {result.note}".strip()


def _and_more(rows: list[int]) -> str:
    return f" (and {len(rows)} more row{'s' if len(rows) > 1 else ''})" if rows else ""


def _nobody(_: object) -> None:
    """Watches."""


def _record(
    result: ImportResult,
    website: Website,
    newest: change_feed.Newest,
    said: Said,
    *,
    file_name: str,
    by: str,
    digest: str,
) -> None:
    ImportRun.objects.create(
        website=website,
        source=Source.objects.imported(result.source, result.source_name),
        scanned_at=result.scanned_at,
        by=by,
        file_name=PurePath(file_name).name[-255:],
        digest=digest,
        file_modified_at=said.modified_at,
        state=result.state,
        detail=result.detail,
        scope=scope_in_words(result)[:500],
        rows=result.rows,
        findings=result.findings,
        occurrences=result.occurrences,
        coverage=result.coverage,
        rejected=result.rejected,
        new=result.new,
        updated=result.updated,
        reopened=result.reopened,
        fixed=result.fixed,
        newest_finding_id=newest.finding_id,
        newest_event_id=newest.event_id,
        rejects=[{"row": reject.row, "reason": reject.reason} for reject in result.rejects],
    )


class _Watched(io.RawIOBase):
    """``stream``, of which each part that is read is shown."""

    def __init__(
        self, stream: BinaryIO, show: Callable[[bytes], object], watch: Callable[[int], object]
    ) -> None:
        self._stream, self._show, self._watch = stream, show, watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._show(chunk)
        self._watch(len(chunk))
        return len(chunk)
