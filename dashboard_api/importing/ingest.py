"""A scan report becomes findings: in one transaction, with every row of it accounted for.

A finding is a problem of the website, its occurrences are the places where it was seen. Only a complete
scan that is the newest of its scope can tell that a problem is gone, and only inside its scope. Decision
records 0008 and 0035.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from dashboard_api.importing import bulk_insert
from dashboard_api.importing.absence import close_absent
from dashboard_api.importing.coverage import EVERYWHERE, Run, record_run
from dashboard_api.importing.locations import place_on
from dashboard_api.importing.merge import merge
from dashboard_api.importing.parts import part_of
from dashboard_api.importing.scopes import Scan, Targets, target_of
from dashboard_api.importing.staging import Problem, SortedRows, sort_rows
from dashboard_api.limits import MAX_CATEGORY_LENGTH
from dashboard_api.models import Coverage, Finding, Source, Website
from dashboard_api.scanners.report import Reject, ScanReport
from dashboard_api.scanners.text import one_line

BATCH = 1_000
SHOWN_TARGETS = 20
_NO_TARGET = "The report names no target; if it was another, name it."
_ANY_PART = "The report is empty and may be any of several parts: name its category to call anything fixed."


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
    category: str = ""
    targets: tuple[str, ...] = ()  # the first of those where a missing problem was called fixed
    more_targets: int = 0
    note: str = ""  # about the scope, for the operator


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReport:
    """A report about ``website`` that was read to its end; ``result`` lacks only what storing it tells."""

    website: Website
    version: str
    rows: SortedRows
    result: ImportResult
    seen_at: Callable[[datetime | None], datetime]  # what counts of the time that a row tells, if any
    targets: tuple[str, ...]  # of its coverage: EVERYWHERE where the report does not name all of them
    proves_absence: bool
    is_unnamed_part: bool


def import_report(
    report: ScanReport,
    website: Website,
    *,
    complete: bool = False,
    scanned_at: datetime | None = None,
    base_url: str | None = None,
    targets: Sequence[str] = (),
    category: str = "",
) -> ImportResult:
    """Read ``report`` and store it; raises EmptyReport, NothingImported or UnreadableReport."""
    read_report = read(
        report,
        website,
        complete=complete,
        scanned_at=scanned_at,
        base_url=base_url,
        targets=targets,
        category=category,
    )
    return store(read_report)


def read(
    report: ScanReport,
    website: Website,
    *,
    complete: bool = False,
    scanned_at: datetime | None = None,
    base_url: str | None = None,
    modified_at: datetime | None = None,
    targets: Sequence[str] = (),
    category: str = "",
) -> ReadReport:
    """Sort the rows of ``report``; raises EmptyReport, NothingImported or UnreadableReport.

    ``complete`` is the operator's word where the format cannot tell; ``scanned_at`` is the operator's
    word against every time in the report, and ``modified_at`` counts where there is none. No time is in
    the future. ``targets`` were scanned, too. ``category`` names the scan, whose only report this is: rules
    that it does not list ran as well.
    """
    category = one_line(category)
    # Some rows, such as a certificate's expiry, are judged as of this time.
    report.judged_at = scanned_at or report.scanned_at or modified_at
    rows = sort_rows(report, website.host, base_url=base_url)
    rows.recognise(partial(_known, website, report.source))
    for target in targets:
        rows.scope.targets.add(target_of(place_on(website.host, target)))
    note = ""
    if not rows.scope.targets:
        rows.scope.targets.add(website.host)
        note = _NO_TARGET
    rows.scope.category = (category or report.category)[:MAX_CATEGORY_LENGTH]
    if category and report.is_unnamed_part:
        rows.scope.checks = None  # the operator says that the report is the whole scan, so all rules ran
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
        result=replace(result, note=note),
        seen_at=seen_at,
        targets=tuple(rows.scope.targets) if report.names_targets and not note else (EVERYWHERE,),
        proves_absence=is_complete and not rows.unreadable and result.state != Coverage.State.FAILED,
        is_unnamed_part=report.is_unnamed_part and not category,
    )


def store(report: ReadReport, *, watch: Callable[[int], object] | None = None) -> ImportResult:
    """What a report tells as findings of its website, in one transaction.

    ``watch`` is told how many findings were stored, each time.
    """
    website, rows, result = report.website, report.rows, report.result
    with transaction.atomic(savepoint=False):
        Website.objects.select_for_update().get(pk=website.pk)  # one import of a website at a time
        source = Source.objects.imported(result.source, result.source_name)
        if report.is_unnamed_part:
            report = _in_its_part(report, source)
            result = report.result
        scan = _record(report, source)
        counts: Counter[str] = Counter()
        places_of = partial(rows.places, seen_at=report.seen_at)
        for batch in _batches(rows.problems(report.seen_at)):
            counts += merge(batch, website, source, scan=scan, places_of=places_of)
            if watch:
                watch(len(batch))
        fixed = close_absent(rows, website, source, scan) if scan.absent_at else 0
    return replace(
        result,
        new=counts["new"],
        updated=counts["updated"],
        reopened=counts["reopened"],
        fixed=fixed,
        category=scan.scope.category,
        **_shown(scan),
    )


def _shown(scan: Scan) -> dict[str, Any]:
    """Return the targets to show; none where the report does not prove absence."""
    if scan.absent_at is None:
        return {}
    targets = tuple(scan.scope.targets)
    return {"targets": targets[:SHOWN_TARGETS], "more_targets": len(targets[SHOWN_TARGETS:])}


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
    """Return those of ``fingerprints`` that stored findings of the source have."""
    known: set[str] = set()
    for source in Source.objects.filter(slug=slug):
        for start in range(0, len(fingerprints), BATCH):
            keys = bulk_insert.known(website.pk, source.pk, fingerprints[start : start + BATCH])
            known.update(Finding.objects.filter(pk__in=keys).values_list("fingerprint", flat=True))
    return known


def _record(report: ReadReport, source: Source) -> Scan:
    """Record the run; return the scope in which it proves absence, which only the newest run can."""
    result, scope = report.result, report.rows.scope
    run = Run(
        category=scope.category,
        state=result.state,
        detail=result.detail,
        version=report.version,
        ended_at=result.scanned_at,
    )
    newest = record_run(report.website, source, run, urls=_urls(report))
    if EVERYWHERE not in newest and len(newest) < len(report.targets):
        scope.targets = Targets(newest)
    return Scan(scope=scope, absent_at=result.scanned_at if newest and report.proves_absence else None)


def _urls(report: ReadReport) -> dict[str, int | None]:
    """Return the number of addresses checked at each target, where the report says so."""
    if not report.rows.coverage:
        return dict.fromkeys(report.targets)
    if len(report.targets) == 1:
        return {report.targets[0]: report.rows.places_seen}
    counts = report.rows.places_by_target()
    return {target: counts[target] for target in report.targets}


def _in_its_part(report: ReadReport, source: Source) -> ReadReport:
    """Return ``report`` with the category of the part it continues; if unclear, it proves no absence."""
    category = part_of(report.rows.pairs(), report.website, source)
    report.rows.scope.category = category or ""
    if category is not None:
        return report
    return replace(report, proves_absence=False, result=replace(report.result, note=_ANY_PART))


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
