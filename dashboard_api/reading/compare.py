"""The response that compares two runs of one scanner.

No snapshot is stored. Ids of findings and of events grow in the order in which imports and decisions are
stored, because each locks the website. A run has the newest ids at its end, so the events up to them tell the
state of each finding then. Taking a run back deletes its findings and events.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from dashboard_api.errors import UnknownRun
from dashboard_api.models import Coverage, Finding, FindingEvent, ImportRun, ScanJob
from dashboard_api.queries import compared
from dashboard_api.queries.compared import Step, Texts
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading import sections, topics
from signed_api import compare as contract
from signed_api.compare import (
    ANSWERED,
    CAME_BACK,
    EXPIRED,
    FIXED,
    GROUPS,
    NEW,
    NOT_RECORDED,
    NOT_REPORTED,
    PARTIAL,
    PROFILE,
    RE_RATED,
    SCOPE,
    STILL_OPEN,
    VERSION,
    CompareRequest,
)

FIRST_ROWS = 20  # of each group
Event, Status = FindingEvent.Event, Finding.Status
_ANSWERED = (Status.ACCEPTED_RISK.value, Status.FALSE_POSITIVE.value)
_SHORTENED = " more"  # a scope with more targets than it names


class _Position(NamedTuple):
    """The newest ids of a finding and of an event at the end of a run."""

    finding_id: int
    event_id: int


class _Compared(NamedTuple):
    """A finding after both runs; values before are None if it was not known then."""

    id: int
    severity_before: int | None
    severity: int
    status_before: str | None
    status: str
    new_check: bool = False


class _Groups(NamedTuple):
    """The findings of each listed group, the numbers of open findings, and why a group is unknown."""

    rows: Mapping[str, Sequence[_Compared]]
    open_before: int | None
    open_after: int | None
    still_open: int | None
    reasons: Mapping[str, str]


def build_comparison(
    link: AccountSite, request: CompareRequest, *, listed_by: Callable[[ImportRun], set[int] | None]
) -> contract.CompareResponse:
    """Return two runs compared; raises UnknownRun (404).

    ``listed_by`` returns the findings that the report of a run lists, or None if that is not on record.
    """
    earlier, later = _runs(link.website_id, request)
    groups = _groups(earlier, later, listed_by)
    shown = {name: _page(name, rows, request) for name, rows in groups.rows.items()}
    texts = compared.texts([row.id for rows in shown.values() for row in rows])
    profiles = dict(
        ScanJob.objects.filter(runs__import_run__in=[earlier, later]).values_list(
            "runs__import_run", "profile"
        )
    )
    first = _run(earlier, profiles.get(earlier.pk), groups.open_before)
    second = _run(later, profiles.get(later.pk), groups.open_after)
    differences, unknown = _differences(first, second)
    return contract.CompareResponse(
        ok=True,
        host=link.host,
        source=later.source.slug,
        source_name=later.source.name,
        earlier=first,
        later=second,
        differences=differences,
        unknown_differences=unknown,
        groups=[_group(name, groups, shown.get(name, ()), texts, later.source.slug) for name in GROUPS],
    )


# Which runs


def _runs(website_id: int, request: CompareRequest) -> tuple[ImportRun, ImportRun]:
    """Return the earlier and the later run; raises UnknownRun if one is missing or taken back."""
    runs = ImportRun.objects.not_undone().filter(website=website_id).select_related("source")
    if request.source:
        runs = runs.filter(source__slug=request.source)
    complete = runs.filter(state=Coverage.State.OK).order_by("-imported_at", "-pk")
    earlier = _one(runs, request.from_run) if request.from_run else None
    if request.to_run:
        later = _one(runs, request.to_run)
    elif earlier is not None:
        later = _first(complete.filter(source=earlier.source_id, pk__gt=earlier.pk))
    else:
        before = complete.filter(source=OuterRef("source"), pk__lt=OuterRef("pk")).order_by()
        later = _first(complete.filter(Exists(before)))
    if earlier is None:
        earlier = _first(complete.filter(source=later.source_id, pk__lt=later.pk))
    if earlier.source_id != later.source_id:
        raise UnknownRun
    return earlier, later


def _one(runs: QuerySet[ImportRun], text: str) -> ImportRun:
    return _first(runs.filter(pk=int(text)))


def _first(runs: QuerySet[ImportRun]) -> ImportRun:
    run = runs.first()
    if run is None:
        raise UnknownRun
    return run


# The findings after both runs


def _groups(
    earlier: ImportRun, later: ImportRun, listed_by: Callable[[ImportRun], set[int] | None]
) -> _Groups:
    before, after = _position(earlier), _position(later)
    if before is None or after is None:
        return _Groups({}, None, None, None, dict.fromkeys(GROUPS, NOT_RECORDED))
    website, source = later.website_id, later.source_id
    changed = compared.changed(
        website, source, after=before.finding_id, until=after.finding_id, after_event=before.event_id
    )
    steps = compared.steps(website, source, after_event=before.event_id)
    by_finding = {finding: list(own) for finding, own in groupby(steps, key=attrgetter("finding_id"))}
    known = compared.problems(website, source, until=before.finding_id)
    findings = []
    for each in changed:
        own, is_known = by_finding.get(each.id, []), each.id <= before.finding_id
        findings.append(
            _Compared(
                each.id,
                _severity_after(before.event_id, own, each.severity) if is_known else None,
                _severity_after(after.event_id, own, each.severity),
                _status_after(before.event_id, own) if is_known else None,
                _status_after(after.event_id, own),
                not is_known and each.has_rule and each.problem not in known,
            )
        )
    unchanged = compared.open_now(website, source, until=before.finding_id)
    for each in changed:
        unchanged.pop(each.id, None)
    still = [each for each in findings if each.status_before == each.status == Status.OPEN]
    rows = {
        NEW: [each for each in findings if each.status_before is None and each.status == Status.OPEN],
        CAME_BACK: [
            each for each in findings if each.status_before not in (None, Status.OPEN) and _is_open(each)
        ],
        FIXED: [
            each
            for each in findings
            if each.status == Status.FIXED and each.status_before not in (None, Status.FIXED)
        ],
        ANSWERED: [
            each for each in findings if each.status in _ANSWERED and each.status_before != each.status
        ],
        RE_RATED: [each for each in still if each.severity_before != each.severity],
    }
    reasons = {}
    if later.state == Coverage.State.OK:
        rows[NOT_REPORTED] = []
    elif (listed := listed_by(later)) is None:
        reasons[NOT_REPORTED] = EXPIRED
    else:
        same = (
            _Compared(number, severity, severity, Status.OPEN, Status.OPEN)
            for number, severity in unchanged.items()
        )
        rows[NOT_REPORTED] = [each for each in (*still, *same) if each.id not in listed]
    return _Groups(
        rows={name: sorted(found, key=_worst_first) for name, found in rows.items()},
        open_before=len(unchanged) + sum(each.status_before == Status.OPEN for each in findings),
        open_after=len(unchanged) + sum(map(_is_open, findings)),
        still_open=len(unchanged) + len(still),
        reasons=reasons,
    )


def _position(run: ImportRun) -> _Position | None:
    if run.last_finding_id is None or run.last_event_id is None:
        return None
    return _Position(run.last_finding_id, run.last_event_id)


def _is_open(finding: _Compared) -> bool:
    return finding.status == Status.OPEN


def _worst_first(finding: _Compared) -> tuple[int, int]:
    return -finding.severity, -finding.id


def _status_after(event_id: int, steps: Iterable[Step]) -> str:
    """Return the status after the events up to ``event_id``.

    An event that does not fit the status before it has lost its cause: an import that was taken back.
    """
    status: str = Status.OPEN
    for step in steps:
        if step.id > event_id:
            break
        is_standing = step.decision_id is not None
        match step.event:
            case Event.FIXED:
                status = Status.FIXED
            case Event.REGRESSED:
                status = Status.OPEN
            case Event.FALSE_POSITIVE | Event.ACCEPTED_RISK if not is_standing or status == Status.OPEN:
                status = step.event
            case Event.RECONSIDERED if not is_standing or status in _ANSWERED:
                status = Status.OPEN
            case Event.DECISION_EXPIRED if status in _ANSWERED:
                status = Status.OPEN
    return status


def _severity_after(event_id: int, steps: Iterable[Step], now: int) -> int:
    """Return the severity after the events up to ``event_id``: where the next change of it began."""
    later = (step.severity_before for step in steps if step.id > event_id)
    return next((severity for severity in later if severity is not None), now)


# The members of the response


def _page(name: str, rows: Sequence[_Compared], request: CompareRequest) -> Sequence[_Compared]:
    if not request.group:
        return rows[:FIRST_ROWS]
    start = (request.page - 1) * request.page_size
    return rows[start : start + request.page_size] if name == request.group else ()


def _run(run: ImportRun, profile: str | None, is_open: int | None) -> contract.ComparedRun:
    return contract.ComparedRun(
        id=str(run.pk),
        at=run.scanned_at,
        imported_at=run.imported_at,
        state=run.state,
        detail=run.detail,
        version=run.version,
        profile=profile,
        scope=run.scope or None,
        findings=run.findings,
        new=run.new,
        reopened=run.reopened,
        fixed=run.fixed,
        open=is_open,
    )


def _differences(first: contract.ComparedRun, second: contract.ComparedRun) -> tuple[list[str], list[str]]:
    """Return how the runs differ, and in what this is not known."""
    differences, unknown = [], []
    for name in (VERSION, SCOPE, PROFILE):
        values = {getattr(first, name), getattr(second, name)}
        if len(values) == 2 and None not in values:
            differences.append(name)
        elif None in values or (name == SCOPE and _SHORTENED in str(values)):
            unknown.append(name)
    if {first.state, second.state} != {Coverage.State.OK}:
        differences.append(PARTIAL)
    return differences, unknown


def _group(
    name: str, groups: _Groups, shown: Sequence[_Compared], texts: Mapping[int, Texts], source: str
) -> contract.ComparedGroup:
    rows = groups.rows.get(name)
    count = groups.still_open if name == STILL_OPEN else None if rows is None else len(rows)
    return contract.ComparedGroup(
        name=name,
        count=count,
        new_checks=sum(each.new_check for each in rows or ()),
        reason=groups.reasons.get(name),
        findings=[_finding(each, texts[each.id]) for each in shown],
        filters={"source": source, "status": "open"} if name == STILL_OPEN else {},
    )


def _finding(finding: _Compared, text: Texts) -> contract.ComparedFinding:
    before = finding.severity_before
    return contract.ComparedFinding(
        id=str(finding.id),
        severity=sections.LABELS[finding.severity],
        severity_before=None if before is None else sections.LABELS[before],
        status=finding.status,
        status_before=finding.status_before,
        title=text.title,
        location=text.location,
        rule=text.rule,
        problem=topics.problem_id(text.problem),
        new_check=finding.new_check,
    )
