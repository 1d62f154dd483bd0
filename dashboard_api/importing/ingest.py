"""The two steps of an import: ``read`` a report without locks, then ``store`` findings and coverage.

Every row counts once: as a finding, a further occurrence, coverage or a reject. A scan proves that a finding
is gone only inside its scope, and only if it is complete and the newest of this scope.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from dashboard_api.decisions import standing
from dashboard_api.importing import bulk_insert
from dashboard_api.importing.apply import apply_absent, apply_reported, severities_of_open
from dashboard_api.importing.coverage import EVERYWHERE, category_of, record_run
from dashboard_api.importing.journal import Journal
from dashboard_api.importing.locations import is_on_website, normalise_location
from dashboard_api.importing.scopes import Scan, Targets, target_of
from dashboard_api.importing.staging import FAILED_CHECK, GroupedFinding, StagedReport, TimeOf, stage
from dashboard_api.limits import MAX_CATEGORY_LENGTH
from dashboard_api.models import Coverage, CoverageScope, Finding, Severity, Source, Website
from dashboard_api.scanners.report import Reject, ScanReport, UnreadableReport
from dashboard_api.scanners.text import one_line
from dashboard_api.scanners.times import UnreadTime

BATCH = 1_000  # occurrences or fingerprints in one step
SHOWN_TARGETS = 20  # in a result
_NO_TARGET = "The report names no target; name it if it was not the website itself."
NOTHING_SCANNED = (
    "The report names no target that was scanned, so it fixes nothing; if there was one, name it."
)
SAYS_INCOMPLETE = "The report is empty, and says that the scan had errors or did not end."
_ANY_PART = "The report is empty and may be any of several parts: name its category to call anything fixed."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """The operator's statements about a report, in addition to its content.

    ``scanned_at`` replaces every time in the report; ``modified_at`` is the file's time, for reports without
    a time. ``targets`` are scanned targets that the report does not name. ``category`` names the scan, and
    says that this report is all of it: rules that it does not list ran as well. ``may_fix=False`` keeps
    missing findings open.
    """

    format_name: str = "auto"
    complete: bool = False  # used if the format cannot say it
    scanned_at: datetime | None = None
    base_url: str | None = None
    modified_at: datetime | None = None
    targets: Sequence[str] = ()
    category: str = ""
    may_fix: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The outcome of a report: findings, occurrences, coverage and rejected add up to its rows."""

    host: str
    source: str
    source_name: str
    scanned_at: datetime
    state: str
    detail: str
    rows: int
    findings: int  # distinct findings; each is new, updated or reopened
    occurrences: int  # further rows of the same findings
    coverage: int  # rows about what was checked
    rejected: int
    failed: int  # coverage rows with a failed check
    rejects: tuple[Reject, ...]  # the first rejected rows, with reasons
    failures: tuple[Reject, ...]  # the first failed rows, with reasons
    suppressed: int = 0  # coverage rows that the report itself suppresses
    suppressions: tuple[Reject, ...] = ()  # the first suppressed rows, with reasons
    new: int = 0
    updated: int = 0
    reopened: int = 0
    fixed: int = 0
    new_severities: dict[str, int] = field(default_factory=dict)  # new and reopened findings that are open
    unclear_severities: dict[str, int] = field(default_factory=dict)  # finding rows at unclear locations
    category: str = ""
    targets: tuple[str, ...] = ()  # the first targets where missing findings count as fixed
    more_targets: int = 0
    note: str = ""  # about the scope, for the operator
    unknown_severities: int = 0  # unreadable rows: each may be a finding of any severity


class NothingImported(ValueError):
    """An empty report, or one with only rejected rows; ``result`` says why. The database is unchanged."""

    def __init__(self, result: ImportResult) -> None:
        self.result = result
        super().__init__("every row was rejected" if result.rows else "the report is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReport:
    """A report that was read to its end; ``result`` lacks the numbers that ``store`` adds."""

    website: Website
    version: str
    rows: StagedReport
    result: ImportResult
    time_of: TimeOf
    targets: tuple[str, ...]  # of its coverage; (EVERYWHERE,) if the report does not name them all
    is_broken_off: bool  # the report says so; what was checked is unknown
    proves_absence: bool
    is_unnamed_part: bool  # perhaps one of several parts; no category says which


def read(report: ScanReport, website: Website, options: ReportOptions) -> ReadReport:
    """Read every row of ``report``; raise NothingImported or UnreadableReport."""
    # Some rows, such as a certificate's expiry, are judged as of this time.
    report.judged_at = _scanned_at(report, options)
    report.is_on_website = partial(is_on_website, website.host)
    rows = stage(report, website.host, base_url=options.base_url)
    rows.use_stored_aliases(partial(_stored_fingerprints, website, report.source))
    note = _complete_scope(rows, report, website, options)
    says_complete = options.complete if report.complete is None else report.complete
    is_complete = says_complete and note != NOTHING_SCANNED
    scanned_at = _scanned_at(report, options)
    now = timezone.now()
    ended_at = min(scanned_at or now, now)
    result = _result(report, rows, website, ended_at=ended_at, is_complete=is_complete)
    # An empty report counts only if it is sure what it is.
    is_usable = report.rows or (is_complete and (scanned_at or options.format_name != "auto"))
    if report.complete is False and not report.rows and note != NOTHING_SCANNED:
        note = SAYS_INCOMPLETE
    if not is_usable or (rows.rejected.count and rows.rejected.count == report.rows):
        raise NothingImported(replace(result, note=note))
    return ReadReport(
        website=website,
        version=report.version,
        rows=rows,
        result=replace(result, note=note),
        time_of=_time_of(options, ended_at=ended_at, now=now),
        targets=tuple(rows.scope.targets) if report.names_every_target and not note else (EVERYWHERE,),
        is_broken_off=bool(report.failure),
        proves_absence=options.may_fix
        and is_complete
        and not rows.unidentified
        and result.state != Coverage.State.FAILED,
        is_unnamed_part=report.is_unnamed_part and not one_line(options.category),
    )


def _complete_scope(rows: StagedReport, report: ScanReport, website: Website, options: ReportOptions) -> str:
    """Add the operator's targets and category to the scope; return a note if no target is named."""
    scope, category = rows.scope, one_line(options.category)
    for target in options.targets:
        scope.targets.add(target_of(normalise_location(website.host, target)))
    scope.category = (category or report.category)[:MAX_CATEGORY_LENGTH]
    if category and report.is_unnamed_part:
        scope.checks = None  # every rule
    if scope.targets:
        return ""
    scope.targets.add(website.host)
    return NOTHING_SCANNED if report.names_every_target else _NO_TARGET  # such a report names every target


def _scanned_at(report: ScanReport, options: ReportOptions) -> datetime | None:
    """Return the time of the scan, if known; raise UnreadableReport if it is ambiguous.

    With "now" or the time of the file in its place, an old scan could fix findings of a newer one.
    """
    time = options.scanned_at or report.scanned_at or options.modified_at
    if isinstance(time, UnreadTime):
        raise UnreadableReport(
            f"The time of the scan is not clear: the report says {time}. Say with scanned_at when it ended."
        )
    return time


def _time_of(options: ReportOptions, *, ended_at: datetime, now: datetime) -> TimeOf:
    """Return a function from the time in a row to the time that counts for the row."""
    if options.scanned_at:
        return lambda _: ended_at
    return lambda at: ended_at if at is None else min(at, now)


def store(
    report: ReadReport, journal: Journal, *, on_stored: Callable[[int], object] = lambda _: None
) -> ImportResult:
    """Store ``report``; the caller has begun a transaction and locked the website.

    ``journal`` records the replaced values. ``on_stored`` gets the number of findings of each batch.
    """
    website, rows, result = report.website, report.rows, report.result
    with transaction.atomic(savepoint=False):
        source = Source.objects.get_or_add(result.source, result.source_name)
        if report.is_unnamed_part:
            report = _with_category(report, source)
            result = report.result
        scan = _record_run(report, source, journal)
        journal.record_scan(scan, rows.suppressed_fingerprints())
        counts: Counter[str] = Counter()
        opened: list[int] = []  # ids of new and reopened findings
        for batch in _batches(rows.grouped_findings(report.time_of)):
            batch_counts, ids = apply_reported(batch, website, source, scan, journal)
            counts += batch_counts
            opened += ids
            on_stored(len(batch))
        fixed = apply_absent(rows, website, source, scan, journal)
        standing.apply_to(website, source, timezone.now())
        new_severities = severities_of_open(opened)
    targets = () if scan.absent_at is None else tuple(scan.scope.targets)  # where absence is proven
    return replace(
        result,
        new=counts["new"],
        updated=counts["updated"],
        reopened=counts["reopened"],
        fixed=fixed,
        new_severities=new_severities,
        category=scan.scope.category,
        targets=targets[:SHOWN_TARGETS],
        more_targets=len(targets[SHOWN_TARGETS:]),
    )


def _result(
    report: ScanReport, rows: StagedReport, website: Website, *, ended_at: datetime, is_complete: bool
) -> ImportResult:
    findings = rows.findings
    remarks = [f"Failed checks: {rows.failed.count}."] if rows.failed.count else []
    remarks += [f"Unreadable rows: {rows.unreadable}."] if rows.unreadable else []
    reached_nothing = not (findings or rows.scope.failed_locations) and rows.failed.count == rows.coverage
    if rows.failed.count and reached_nothing:
        state = Coverage.State.FAILED
    elif remarks or not is_complete:
        # A failed or unreadable row may be about a stored finding.
        state = Coverage.State.PARTIAL
    else:
        state = Coverage.State.OK
    remarks += [f"Suppressed: {rows.suppressed.count}."] if rows.suppressed.count else []
    failure = report.failure
    if state == Coverage.State.FAILED and not failure:
        failure = rows.failed.first[0].reason.removeprefix(FAILED_CHECK).rstrip(".")
    remarks = [f"The scan is incomplete: {failure}.", *remarks] if failure else remarks
    return ImportResult(
        host=website.host,
        source=report.source,
        source_name=report.source_name,
        scanned_at=ended_at,
        state=state.value,
        detail=" ".join(remarks),
        rows=report.rows,
        findings=findings,
        occurrences=rows.finding_rows - findings,
        coverage=rows.coverage,
        rejected=rows.rejected.count,
        failed=rows.failed.count,
        rejects=tuple(rows.rejected.first),
        failures=tuple(rows.failed.first),
        suppressed=rows.suppressed.count,
        suppressions=tuple(rows.suppressed.first),
        unclear_severities={Severity(each).label: n for each, n in rows.unclear_severities.items()},
        unknown_severities=rows.unknown_severities,
    )


def _stored_fingerprints(website: Website, slug: str, fingerprints: Sequence[str]) -> set[str]:
    """Return the ``fingerprints`` that are stored for the source ``slug``, which may be new."""
    matches: set[str] = set()
    for source in Source.objects.filter(slug=slug):
        for start in range(0, len(fingerprints), BATCH):
            ids = bulk_insert.ids_of(website.pk, source.pk, fingerprints[start : start + BATCH])
            matches.update(Finding.objects.filter(pk__in=ids).values_list("fingerprint", flat=True))
    return matches


def _record_run(report: ReadReport, source: Source, journal: Journal) -> Scan:
    """Record the run; return its scan, reduced to the targets where the run is the newest."""
    result, scope = report.result, report.rows.scope
    run = CoverageScope(
        category=scope.category,
        state=result.state,
        detail=result.detail,
        version=report.version,
        last_run_at=result.scanned_at,
    )
    newest = record_run(
        report.website, source, run, checked_addresses=_checked_addresses(report), journal=journal
    )
    if EVERYWHERE not in newest and len(newest) < len(report.targets):
        scope.targets = Targets(newest)
    return Scan(scope=scope, absent_at=result.scanned_at if newest and report.proves_absence else None)


def _checked_addresses(report: ReadReport) -> dict[str, int | None]:
    """Return the number of addresses checked at each target, if the report says it."""
    if not report.rows.coverage or (report.is_broken_off and report.result.state != Coverage.State.FAILED):
        return dict.fromkeys(report.targets)
    if len(report.targets) == 1:
        return {report.targets[0]: report.rows.locations_count}
    counts = report.rows.locations_by_target()
    return {target: counts[target] for target in report.targets}


def _with_category(report: ReadReport, source: Source) -> ReadReport:
    """Return ``report`` in the category that it continues; if unclear, it proves no absence."""
    category = category_of(report.rows.rules_and_locations(), report.website, source)
    report.rows.scope.category = category or ""
    if category is not None:
        return report
    return replace(report, proves_absence=False, result=replace(report.result, note=_ANY_PART))


def _batches(findings: Iterable[tuple[str, GroupedFinding]]) -> Iterator[dict[str, GroupedFinding]]:
    """Yield batches of about BATCH occurrences, so that memory does not grow with the report."""
    batch: dict[str, GroupedFinding] = {}
    occurrences = 0
    for fingerprint, finding in findings:
        batch[fingerprint] = finding
        occurrences += len(finding.occurrences)
        if occurrences >= BATCH:
            yield batch
            batch, occurrences = {}, 0
    if batch:
        yield batch
