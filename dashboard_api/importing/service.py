"""Import of a file for one website. Commands, inbox, admin, API and scans all end here."""

import dataclasses
import hashlib
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from django.db import transaction
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api import limits
from dashboard_api.answers.settling import settle
from dashboard_api.importing.ingest import (
    NOTHING_SCANNED,
    SAYS_INCOMPLETE,
    ImportResult,
    NothingImported,
    ReadReport,
    ReportOptions,
    read,
    store,
)
from dashboard_api.importing.journal import Journal
from dashboard_api.models import Coverage, ImportRun, Source, Website
from dashboard_api.models.sites import Archived
from dashboard_api.queries import change_feed
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import Budget, EmptyReport, UnreadableReport
from dashboard_api.scanners.streams import ByteSource

SHOWN_REASONS = 20  # of rows, in a result as text
# Columns of ImportRun with the same name in ImportResult.
_RESULT_COLUMNS = (
    *("scanned_at", "state", "detail", "rows", "findings", "occurrences", "coverage", "rejected"),
    *("new", "updated", "reopened", "fixed"),
)
_AUDITED_COLUMNS = ("state", "rows", "rejected", "new", "updated", "reopened", "fixed", "digest")


class RefusedReport(ValueError):
    """A refused report, which changed no data; the message says why, and what to do."""


class OtherSource(RefusedReport):
    """A report from a scanner that the caller may not import."""


class EmptyRefusal(RefusedReport):
    """A report without rows; callers add how to confirm that this is right."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of one import: its file and author, limits, and callbacks."""

    file_name: str
    by: str
    report: ReportOptions = dataclasses.field(default_factory=ReportOptions)
    dry_run: bool = False  # roll back at the end
    sources: Collection[str] = ()  # accept only these; empty: all but the reserved ones
    reserved_sources: Collection[str] = ()  # refuse these, unless ``sources`` names them
    max_bytes: int | None = None  # also after unpacking
    budget: Budget | None = None  # counts the bytes, also for the caller
    on_read: Callable[[bytes], object] = lambda _part: None  # a part of the file
    on_stored: Callable[[int, int], object] = lambda _count, _total: None  # findings of a batch, of the file
    before_commit: Callable[[list[ImportResult]], object] = lambda _results: None  # in the transaction


def import_file(stream: BinaryIO, website: Website, options: ImportOptions) -> list[ImportResult]:
    """Import all reports of a file, one for each tool in it, in one transaction; raise RefusedReport."""
    _check_not_archived(website)
    digest = hashlib.sha256()
    observed = io.BufferedReader(_Observed(stream, [digest.update, options.on_read]))
    reports, unusable_results = _read_all(observed, website, options)
    all_results = [*(report.result for report in reports), *unusable_results]
    _check_sources(all_results, options)
    total = sum(report.result.findings for report in reports)
    with transaction.atomic():
        _lock(website)
        _check_scanners(website, all_results)
        columns = {
            "by": options.by,
            "file_name": PurePath(options.file_name).name[-255:],
            "digest": digest.hexdigest(),
            "file_modified_at": options.report.modified_at,
        }
        results = _store_all(
            reports,
            unusable_results,
            website,
            columns,
            on_stored=lambda count: options.on_stored(count, total),
        )
        options.before_commit(results)
        transaction.set_rollback(options.dry_run)  # at the end of the block
    return results


def _store_all(
    reports: Sequence[ReadReport],
    unusable_results: Sequence[ImportResult],
    website: Website,
    columns: Mapping[str, Any],
    *,
    on_stored: Callable[[int], object],
) -> list[ImportResult]:
    """Store the reports, and create an ImportRun for each, usable or not; ``columns`` are shared by all."""
    first_results = [*(report.result for report in reports), *unusable_results]
    runs = [_record(result, website, columns) for result in first_results]
    results = []
    for report, run in zip(reports, runs, strict=False):  # the unusable ones come last
        results.append(store(report, Journal(run), on_stored=on_stored))
        settle(website.pk, timezone.now(), run_id=run.pk)
        run.version = report.version[:50]
        _set_last(run)
    results += unusable_results
    for run in runs[len(reports) :]:
        _set_last(run)
    # One value for all reports of the file, so that the change feed shows them together.
    position = change_feed.newest(website.pk)
    for run, result in zip(runs, results, strict=True):
        _complete(run, result, position)
    return results


def _set_last(run: ImportRun) -> None:
    """Set the newest finding and event of the website after the report, by which runs are compared."""
    run.last_finding_id = change_feed.newest(run.website_id).finding_id
    run.last_event_id = change_feed.last_event(run.website_id)


def _check_not_archived(website: Website) -> None:
    try:
        website.check_not_archived()
    except Archived as error:
        raise RefusedReport(" ".join(error.messages)) from error


def _lock(website: Website) -> None:
    """Lock the website against other imports until the transaction ends; raise RefusedReport."""
    locked = Website.objects.select_for_update(no_key=True).filter(pk=website.pk).first()
    if locked is None:
        raise RefusedReport(f"{website} was deleted meanwhile.")
    _check_not_archived(locked)


def _check_scanners(website: Website, results: Sequence[ImportResult]) -> None:
    """Raise RefusedReport if a new scanner exceeds the limit of the website."""
    slugs = {result.source for result in results}
    runs = ImportRun.objects.filter(website=website)
    known = set(Source.objects.filter(pk__in=runs.values("source")).values_list("slug", flat=True))
    if not slugs <= known and len(slugs | known) > limits.MAX_SCANNERS:
        raise RefusedReport(
            f"The website would have reports of more than {limits.MAX_SCANNERS} scanners. Let "
            "each scanner have the "
            "same name in all of its reports. Nothing was changed."
        )


def _read_all(
    stream: BinaryIO, website: Website, options: ImportOptions
) -> tuple[list[ReadReport], list[ImportResult]]:
    """Return the reports to store, and the results of reports without a usable row; raise RefusedReport."""
    usable: list[ReadReport] = []
    unusable: list[ImportResult] = []
    try:
        first = read_report(
            stream,
            format_name=options.report.format_name,
            max_bytes=options.max_bytes,
            budget=options.budget,
        )
        for report in (first, *first.others):
            try:
                usable.append(read(report, website, options.report))
            except NothingImported as error:
                unusable.append(error.result)
    except EmptyReport as error:
        raise _refusal_of_empty() from error
    except UnreadableReport as error:
        raise RefusedReport(f"{error} Nothing was changed.") from error
    if not usable:
        raise _refusal(unusable)
    return usable, [_not_imported(result) for result in unusable]


def _check_sources(results: Sequence[ImportResult], options: ImportOptions) -> None:
    others = {result.source for result in results} - set(options.sources)
    if reserved := others & set(options.reserved_sources):
        raise OtherSource(
            f"Only this service itself reports as {', '.join(sorted(reserved))}: give your "
            "scanner a name of its own. Nothing was changed."
        )
    if options.sources and others:
        raise OtherSource(
            f"The report is from {', '.join(sorted(others))}, and only reports from "
            f"{', '.join(options.sources)} are accepted here. Nothing was changed."
        )


def _refusal(results: list[ImportResult]) -> RefusedReport:
    if any(result.note == NOTHING_SCANNED and not result.rows for result in results):
        return RefusedReport(
            "The report names nothing that was scanned: the scanner may have reached nothing. If it "
            "ended and found nothing, name its target. Nothing was changed."
        )
    if not any(result.rows for result in results):
        if failed := next((result for result in results if result.note == SAYS_INCOMPLETE), None):
            text = (
                "The report is empty, and says that the scan had errors or did not end. Nothing was changed."
            )
            return RefusedReport(f"{text} {failed.detail}".strip())
        return _refusal_of_empty()
    refused = [dataclasses.replace(result, state="refused") for result in results]
    details = "\n".join(line for result in refused for line in in_words(result))
    return RefusedReport(f"Every row was rejected, so nothing was changed.\n{details}")


def _refusal_of_empty() -> EmptyRefusal:
    return EmptyRefusal(
        "The report is empty, which proves nothing without confirmation. If the scan ended and found "
        "nothing, say that it was complete, and name its format (nuclei for an empty file)."
    )


def _not_imported(result: ImportResult) -> ImportResult:
    why = "Every row was rejected"
    if not result.rows:
        why = "It is empty, which proves nothing without confirmation"
    return dataclasses.replace(
        result, state=Coverage.State.PARTIAL.value, detail=f"{why}: nothing was changed."
    )


def digest_of(stream: BinaryIO) -> str:
    """Return the SHA-256 of a file in hexadecimal, as ``ImportRun.digest`` stores it."""
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def in_words(result: ImportResult) -> list[str]:
    """Return the result as lines of English text."""
    values = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    values["scanned_at"] = f"{result.scanned_at:%Y-%m-%d %H:%M}"
    lines = [
        "{source} on {host}, scanned {scanned_at} UTC: {state}.".format(**values),
        (
            "Rows: {rows}. Findings: {findings}, further locations: {occurrences}, "
            "coverage: {coverage}, rejected: {rejected}."
        ).format(**values),
        "New: {new}, updated: {updated}, reopened: {reopened}, fixed: {fixed}.".format(**values),
    ]
    if scope := scope_in_words(result):
        lines.append(scope)
    if result.detail:
        lines.append(result.detail)
    numbers_by_reason: dict[str, list[int]] = {}
    for row in (*result.rejects, *result.failures, *result.suppressions):
        numbers_by_reason.setdefault(row.reason.rstrip("."), []).append(row.row)
    reasons = list(numbers_by_reason.items())[:SHOWN_REASONS]
    for reason, (first, *others) in reasons:
        more_rows = f" (and {len(others)} more row{'s' if len(others) > 1 else ''})" if others else ""
        lines.append(f"Row {first} {reason}{more_rows}.")
    shown = sum(len(numbers) for _, numbers in reasons)
    if more := result.rejected + result.failed + result.suppressed - shown:
        lines.append(f"And {more} more.")
    return lines


def scope_in_words(result: ImportResult) -> str:
    """Return the targets where missing findings count as fixed, or a note about the scope, in English."""
    if not result.targets:
        return result.note if result.state == Coverage.State.OK else ""
    more = f" and {result.more_targets} more" if result.more_targets else ""
    category = f", category {result.category}" if result.category else ""
    return f"Scope of what is fixed: {', '.join(result.targets)}{more}{category}. {result.note}".strip()


def _record(result: ImportResult, website: Website, columns: Mapping[str, Any]) -> ImportRun:
    """Record an import before its report is stored, because the journal refers to the record."""
    return ImportRun.objects.create(
        website=website,
        source=Source.objects.get_or_add(result.source, result.source_name),
        **{name: getattr(result, name) for name in _RESULT_COLUMNS},
        rejects=[{"row": reject.row, "reason": reject.reason} for reject in result.rejects],
        **columns,
    )


def _complete(run: ImportRun, result: ImportResult, position: change_feed.FeedPosition) -> None:
    """Save the columns that are known only after the report was stored."""
    for name in _RESULT_COLUMNS:
        setattr(run, name, getattr(result, name))
    run.scope = scope_in_words(result)[:500]
    run.newest_finding_id, run.newest_event_id = position
    run.save()
    audit("import.stored", run, by=run.by, after={name: getattr(run, name) for name in _AUDITED_COLUMNS})


class _Observed(ByteSource):
    """A stream that passes each part it reads to ``observers``."""

    def __init__(self, stream: BinaryIO, observers: Sequence[Callable[[bytes], object]]) -> None:
        self._stream, self._observers = stream, observers

    def next_bytes(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        for observe in self._observers:
            observe(chunk)
        return chunk
