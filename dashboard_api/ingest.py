"""A scan report becomes findings: in one transaction, with every row of it accounted for.

A finding is a problem of the website, its occurrences are the places where it was seen. Only a complete
scan that is not older than the last one can tell that a problem is gone. Decision record 0008.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from dashboard_api import bulk
from dashboard_api.merging import merge
from dashboard_api.models import Coverage, Finding, FindingEvent, Source, Website
from dashboard_api.problems import Problem, SortedRows, sort_rows
from dashboard_api.scanners.report import Reject, ScanReport

BATCH = 1_000


class NothingImported(ValueError):
    """The report is of no use, and nothing was changed; ``result`` tells why."""

    def __init__(self, result: "ImportResult") -> None:
        self.result = result
        super().__init__("every row was rejected" if result.rows else "the report is empty")


class EmptyReport(NothingImported):
    """A report without rows says nothing, unless its scan is known to have been complete, and when."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What became of a report: findings, occurrences, coverage and rejected add up to its rows."""

    host: str
    source: str
    source_name: str
    scanned_at: datetime
    state: str
    detail: str
    rows: int
    findings: int  # rows that told of a problem first; each is new, updated or reopened
    occurrences: int  # rows that told of another place of it, or more about the same place
    coverage: int  # rows that told what was checked
    rejected: int
    failed: int  # rows of the coverage whose check failed
    rejects: tuple[Reject, ...]  # the first of those that were rejected, and why
    failures: tuple[Reject, ...]  # the first of those that failed
    suppressed: int = 0  # rows of the coverage that the report itself suppresses
    suppressions: tuple[Reject, ...] = ()  # the first of those
    new: int = 0
    updated: int = 0
    reopened: int = 0
    fixed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReport:
    """A report about ``website`` that was read to its end; ``result`` lacks only what storing it tells."""

    website: Website
    version: str
    rows: SortedRows
    result: ImportResult
    seen_at: Callable[[datetime | None], datetime]  # what counts of the time that a row tells, if any


def import_report(
    report: ScanReport,
    website: Website,
    *,
    complete: bool = False,
    scanned_at: datetime | None = None,
    base_url: str | None = None,
) -> ImportResult:
    """Read ``report`` and store it; raises EmptyReport, NothingImported or UnreadableReport."""
    return store(read(report, website, complete=complete, scanned_at=scanned_at, base_url=base_url))


def read(
    report: ScanReport,
    website: Website,
    *,
    complete: bool = False,
    scanned_at: datetime | None = None,
    base_url: str | None = None,
    modified_at: datetime | None = None,
) -> ReadReport:
    """Sort the rows of ``report``; raises EmptyReport, NothingImported or UnreadableReport.

    ``complete`` is the operator's word where the format cannot tell; ``scanned_at`` is the operator's
    word against every time in the report, and ``modified_at`` counts where there is none. No time is in
    the future.
    """
    rows = sort_rows(report, website.host, base_url=base_url)
    rows.recognise(partial(_known, website, report.source))
    is_complete = complete if report.complete is None else report.complete
    now = timezone.now()
    known_at = scanned_at or report.scanned_at or modified_at
    ended_at = min(known_at or now, now)

    def seen_at(told: datetime | None) -> datetime:
        return ended_at if scanned_at or told is None else min(told, now)

    result = _accounted(report, rows, website, ended_at=ended_at, is_complete=is_complete)
    if not report.rows and not (is_complete and known_at):
        raise EmptyReport(result)
    if rows.rejected.count and not rows.findings and not rows.coverage:
        raise NothingImported(result)
    return ReadReport(
        website=website,
        version=report.version,
        rows=rows,
        result=result,
        seen_at=seen_at,
    )


def store(report: ReadReport, *, watch: Callable[[int], object] | None = None) -> ImportResult:
    """What a report tells as findings of its website, in one transaction.

    ``watch`` is told how many findings were stored, each time.
    """
    website, rows, result = report.website, report.rows, report.result
    with transaction.atomic(savepoint=False):
        Website.objects.select_for_update().get(pk=website.pk)  # one import of a website at a time
        source, _ = Source.objects.get_or_create(slug=result.source, defaults={"name": result.source_name})
        urls = rows.places_seen if rows.coverage else None
        is_newest = _record_run(result, website, source, urls=urls, version=report.version)
        absent_at = result.scanned_at if is_newest and result.state == Coverage.State.OK else None
        counts: Counter[str] = Counter()
        places_of = partial(rows.places, seen_at=report.seen_at)
        for batch in _batches(rows.problems(report.seen_at)):
            counts += merge(batch, website, source, absent_at=absent_at, places_of=places_of)
            if watch:
                watch(len(batch))
        fixed = _fix_unreported(rows, website, source, at=absent_at) if absent_at else 0
    return replace(
        result, new=counts["new"], updated=counts["updated"], reopened=counts["reopened"], fixed=fixed
    )


def _accounted(
    report: ScanReport, rows: SortedRows, website: Website, *, ended_at: datetime, is_complete: bool
) -> ImportResult:
    failed, suppressed = rows.failed.count, rows.suppressed.count
    remarks = []
    if failed:
        remarks.append(f"Failed checks: {failed}.")
    if rows.unreadable:
        remarks.append(f"Unreadable rows: {rows.unreadable}.")
    if failed and not rows.findings and failed == rows.coverage:
        state = Coverage.State.FAILED
    elif remarks or not is_complete:
        # What failed or could not be read may be just the row that tells of a known problem.
        state = Coverage.State.PARTIAL
    else:
        state = Coverage.State.OK
    return ImportResult(
        host=website.host,
        source=report.source,
        source_name=report.source_name,
        scanned_at=ended_at,
        state=state.value,
        detail=" ".join([*remarks, *([f"Suppressed: {suppressed}."] if suppressed else [])]),
        rows=report.rows,
        findings=rows.findings,
        occurrences=rows.occurrences,
        coverage=rows.coverage,
        rejected=rows.rejected.count,
        failed=failed,
        rejects=tuple(rows.rejected.first),
        failures=tuple(rows.failed.first),
        suppressed=suppressed,
        suppressions=tuple(rows.suppressed.first),
    )


def _known(website: Website, slug: str, fingerprints: Sequence[str]) -> set[str]:
    """Those of the fingerprints under which findings of the source are stored."""
    known: set[str] = set()
    for source in Source.objects.filter(slug=slug):
        for start in range(0, len(fingerprints), BATCH):
            keys = bulk.known(website.pk, source.pk, fingerprints[start : start + BATCH])
            known.update(Finding.objects.filter(pk__in=keys).values_list("fingerprint", flat=True))
    return known


def _record_run(
    result: ImportResult, website: Website, source: Source, *, urls: int | None, version: str
) -> bool:
    """Keep what the newest run covered; whether that is this one (the same run again is)."""
    known = Coverage.objects.filter(website=website, source=source).first()
    is_complete = result.state == Coverage.State.OK
    run = (result.scanned_at, is_complete)
    is_newest = known is None or (known.last_run_at, known.state == Coverage.State.OK) <= run
    coverage = known or Coverage(website=website, source=source)
    if is_newest:
        coverage.state, coverage.detail = result.state, result.detail
        coverage.last_run_at = result.scanned_at
        coverage.urls_checked = urls
        coverage.version = version
    if is_complete and (coverage.completed_at is None or coverage.completed_at < result.scanned_at):
        coverage.completed_at = result.scanned_at
    coverage.save()
    return is_newest


def _fix_unreported(reported: SortedRows, website: Website, source: Source, *, at: datetime) -> int:
    """Close what was open before the complete scan at ``at`` and is not ``reported`` by it; how many."""
    candidates = Finding.objects.filter(
        website=website, source=source, status=Finding.Status.OPEN, last_seen__lt=at
    )
    gone = [
        key
        for key, fingerprint in candidates.order_by().values_list("pk", "fingerprint").iterator()
        if fingerprint not in reported
    ]
    for start in range(0, len(gone), BATCH):
        batch = gone[start : start + BATCH]
        Finding.objects.filter(pk__in=batch).update(status=Finding.Status.FIXED, fixed_at=at)
        FindingEvent.objects.bulk_create(
            FindingEvent(finding_id=key, website_id=website.pk, event=FindingEvent.Event.FIXED, at=at)
            for key in batch
        )
    return len(gone)


def _batches(problems: Iterable[tuple[str, Problem]]) -> Iterator[dict[str, Problem]]:
    """Of about as many places each, so that a report of any length takes little memory."""
    batch: dict[str, Problem] = {}
    places = 0
    for key, problem in problems:
        batch[key] = problem
        places += len(problem.places)
        if places >= BATCH:
            yield batch
            batch, places = {}, 0
    if batch:
        yield batch
