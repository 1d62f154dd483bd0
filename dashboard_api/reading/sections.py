"""Builds the members of the responses, one function each, from rows and counts that were read before."""

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple, cast

from dashboard_api import limits
from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.models.revisions import Tags
from dashboard_api.queries.credentials import AccountSite, EntitlementTerms, ScheduleRow
from dashboard_api.queries.overview import Note, OpenDay, Run, SourceRow
from dashboard_api.queries.threats import Threat
from dashboard_api.reading import topics
from dashboard_api.reading.answered import RowAnswer
from dashboard_api.reading.cells import Cells, Counts, Day
from dashboard_api.reading.days import recent_weeks
from dashboard_api.reading.found import Found
from dashboard_api.reading.grading import Grade
from dashboard_api.reading.matching import NO_FILTERS, Filters
from dashboard_api.reading.next_checks import next_check, next_report
from dashboard_api.reading.website import Website
from signed_api import findings as contract
from signed_api.answers import (
    ACCEPTED,
    DISPUTED,
    FIXED,
    LATER,
    NO_DAY,
    OVERDUE,
    THIS_WEEK,
    UNANSWERED,
    WAITING,
    WILL_FIX,
)
from signed_api.findings import ALL, OPEN, DashboardRequest

WORST_FIRST = sorted(Severity, reverse=True)
LABELS = {severity.value: severity.label for severity in Severity}
AGES = [
    f"Up to {limits.AGE_DAYS[0]} days",
    *(f"{first + 1} to {last} days" for first, last in itertools.pairwise(limits.AGE_DAYS)),
    f"Over {limits.AGE_DAYS[-1]} days",
]
ANSWER_LABELS = {
    UNANSWERED: "Not answered",
    WILL_FIX: "Will be fixed",
    ACCEPTED: "Risk accepted",
    WAITING: "Waits for a second person",
    DISPUTED: "Disputed",
    FIXED: "Said to be fixed",
}
DUE_LABELS = {OVERDUE: "Overdue", THIS_WEEK: "Due this week", LATER: "Due later", NO_DAY: "No due date"}
CHART_TITLES = {
    "severity": "Findings by severity",
    "source": "Findings by source",
    "kind": "Findings by certainty",
    "trend": "New and fixed findings per week",
    "open": "Open findings at the end of each week",
    "age": "Age of open findings",
}


class ProblemPage(NamedTuple):
    """One page of problems, and the number on all pages."""

    problems: list[contract.Problem]
    total: int


def page(
    request: DashboardRequest,
    *,
    found: Found,
    sources: Sequence[SourceRow],
    grade: Grade,
    tags: Tags,
    do_first: list[contract.Problem],
    problem_page: ProblemPage | None,
    answers_version: int,
    now: datetime,
) -> contract.Page:
    """Return the ``dashboard`` member; ``tags`` make the data version.

    The page lists findings, or problems if there is a ``problem_page``.
    """
    total = found.counts().total()
    listed_total = total if problem_page is None else problem_page.total
    return contract.Page(
        generated_at=now,
        grade=grade.letter,
        filters=contract.Filters(
            severity=request.severity or None,
            source=request.source or None,
            kind=request.kind or None,
            query=request.query or None,
            problem=request.problem or None,
            sort=request.sort,
            since=request.since,
            hosts=request.hosts or None,
            older_than=request.older_than,
            fixed_since=request.fixed_since,
            answer=request.answer or None,
            assignee=request.assignee or None,
            due=request.due or None,
        ),
        page=request.page,
        page_size=request.page_size,
        page_count=-(-listed_total // request.page_size),  # rounded up
        total=total,
        facets=facets(found, sources=sources),
        revision=".".join(str(tag or 0) for tag in (*tags, answers_version)),
        grade_provisional=grade.provisional,
        do_first=do_first,
        problems=problem_page.problems if problem_page else [],
        problem_total=problem_page.total if problem_page else None,
    )


def facets(found: Found, *, sources: Sequence[SourceRow]) -> contract.Facets:
    """Return every value of each filter with its count under the other filters, even if that is 0."""
    by_severity = found.counts(without="severity").by_severity
    by_source = found.counts(without="source_id").by_source
    by_kind = found.counts(without="kind").by_kind
    return contract.Facets(
        severity=[
            contract.FacetValue(value=severity.label, label=severity.label, count=by_severity[severity])
            for severity in Severity
        ],
        source=[
            contract.FacetValue(value=source.slug, label=source.name, count=by_source[source.pk])
            for source in sources
        ],
        kind=[
            contract.FacetValue(value=kind.value, label=kind.label.capitalize(), count=by_kind[kind])
            for kind in Kind
        ],
        status=_statuses(found.by_status()),
        hosts=[contract.FacetValue(value=host, label=host, count=count) for host, count in found.by_host()],
        answer=_values(found.by("answer"), ANSWER_LABELS),
        assignee=[
            contract.FacetValue(value=person, label=person, count=count)
            for person, count in found.by_assignee()
        ],
        due=_values(found.by("due"), DUE_LABELS),
    )


def _values(counts: Mapping[str, int], labels: Mapping[str, str]) -> list[contract.FacetValue]:
    return [
        contract.FacetValue(value=value, label=label, count=counts.get(value, 0))
        for value, label in labels.items()
    ]


def _statuses(counts: Mapping[str, int]) -> list[contract.FacetValue]:
    """Return the count of each status, and their sum."""
    counted = [
        contract.FacetValue(value=status.value, label=status.label, count=counts.get(status, 0))
        for status in Finding.Status
    ]
    return [*counted, contract.FacetValue(value=ALL, label=ALL.capitalize(), count=sum(counts.values()))]


def summary(
    website: Website,
    *,
    last_scan_at: datetime | None,
    first_check_by: date | None,
    graded: Grade,
    history: list[contract.HistoryDay],
    cells: Cells,
    now: datetime,
) -> contract.Summary:
    """Return the totals of the whole website; ``cells`` are those of the account."""
    answers = cells.by("answer", NO_FILTERS, OPEN)
    due = cells.by("due", NO_FILTERS, OPEN)
    by_severity = website.open.by_severity
    recent_day = now.date() - limits.RECENT_PERIOD + timedelta(days=1)  # the period includes today
    recent = [day for day in website.days if day.day >= recent_day]
    return contract.Summary(
        open=website.open.total(),
        by_severity={severity.label: by_severity[severity] for severity in Severity},
        confirmed=website.open.by_kind[Kind.CONFIRMED],
        new_7d=sum(day.findings for day in recent if not day.is_fix),
        fixed_7d=sum(day.findings for day in recent if day.is_fix),
        oldest_open_days=_days_since(min(website.open_days, default=None), now),
        last_scan_at=last_scan_at,
        newest_open_days=_days_since(max(website.open_days, default=None), now),
        first_check_by=first_check_by,
        next_grade=graded.next,
        history=history,
        answers={answer: answers.get(answer, 0) for answer in ANSWER_LABELS},
        overdue=due[OVERDUE],
        due_this_week=due[THIS_WEEK],
        fix_times=website.fix_times,
    )


def with_today(history: Sequence[OpenDay], open_counts: Counts, today: date) -> list[OpenDay]:
    """Return the days, and add today if its counts differ from the last day's."""
    counts = open_day(today, open_counts)
    # Compare without the day, which is the first value. Without stored days, no finding was open before.
    is_unchanged = history[-1][1:] == counts[1:] if history else not any(counts[1:])
    return [*history] if is_unchanged else [*history, counts]


def open_day(day: date, open_counts: Counts) -> OpenDay:
    """Return the counts of open findings in the form in which days are stored."""
    by_severity, by_kind = open_counts.by_severity, open_counts.by_kind_and_severity
    return OpenDay(
        day,
        *(by_severity[severity] for severity in Severity),
        # Suspected findings have no column for Info, which is 0.
        *(by_kind[Kind.SUSPECTED.value, severity] for severity in Severity if severity),
    )


def applicable(
    sources: Iterable[SourceRow],
    runs: Iterable[Run],
    scanners: Collection[str],
    *,
    schedules: Mapping[str, Sequence[ScheduleRow]],
) -> list[SourceRow]:
    """Return the sources that apply to the website: what they did not look at is missing from its results.

    A scanner of our own in ``scanners`` that never reported applies if a schedule runs it, or if another one
    of ours has scanned the website.
    """
    is_scanned = any(run.ours_at for run in runs)
    return [
        source
        for source in sources
        if source.has_reported
        or source.enabled
        or (source.slug in scanners and (is_scanned or schedules.get(source.slug)))
    ]


def first_check_by(
    sources: Iterable[SourceRow],
    runs: Sequence[Run],
    *,
    linked_on: date,
    schedules: Mapping[str, Sequence[ScheduleRow]],
    today: date,
) -> date | None:
    """Return the day on which the first source is due after linking, unless a source has run already.

    Scanners in ``schedules`` are our own: only a schedule makes them due. Others are due after an interval.
    """
    if runs:
        return None
    days = [
        next_check(schedules[source.slug], last_run_at=None, today=today).on
        if source.slug in schedules
        else linked_on + timedelta(days=source.interval_days)
        for source in sources
        if source.enabled or schedules.get(source.slug)
    ]
    return min(filter(None, days), default=None)


def _days_since(day: date | None, now: datetime) -> int | None:
    return None if day is None else max((now.date() - day).days, 0)


def threat(finding: Threat, answered: RowAnswer) -> contract.Threat:
    """Return a finding for the list with the account's answer; long evidence and texts are cut."""
    evidence = cut(finding.evidence_start, limits.MAX_EVIDENCE_BYTES)
    return contract.Threat(
        id=str(finding.pk),
        severity=LABELS[finding.severity],
        source=finding.source.slug,
        source_name=finding.source.name,
        kind=finding.kind,
        status=finding.status,
        title=finding.title,
        description=cut(finding.description, limits.MAX_TEXT_BYTES),
        location=finding.location,
        locations_count=finding.locations_count,
        evidence=evidence,
        remediation=cut(finding.remediation, limits.MAX_TEXT_BYTES),
        references=first_texts(finding.references, limits.MAX_TEXT_BYTES),
        cwe=finding.cwe[: limits.MAX_NAMES],
        cve=finding.cve[: limits.MAX_NAMES],
        rule=finding.rule,
        first_seen=finding.first_seen,
        last_seen=finding.last_seen,
        evidence_truncated=evidence != finding.evidence_start,
        problem=topics.problem_id(finding.problem),
        topic=topics.topic_of(finding.problem),
        verified=finding.source_kind is not None,
        answer=answered.answer,
        due=answered.due,
    )


def cut(text: str, max_bytes: int) -> str:
    """Return the start of ``text``: at most ``max_bytes`` of UTF-8, in whole characters."""
    if len(text) * 4 <= max_bytes:  # a character has at most 4 bytes
        return text
    encoded = text.encode()
    return text if len(encoded) <= max_bytes else encoded[:max_bytes].decode(errors="ignore")


def first_texts(texts: Sequence[str], max_bytes: int) -> list[str]:
    """Return as many of ``texts`` as fit into ``max_bytes`` of UTF-8 together, at most MAX_NAMES."""
    texts = texts[: limits.MAX_NAMES]
    sums = itertools.accumulate(len(text.encode()) for text in texts)
    return [text for text, bytes_so_far in zip(texts, sums, strict=True) if bytes_so_far <= max_bytes]


def charts(
    found: Found,
    website: Website,
    *,
    sources: Sequence[SourceRow],
    history: Sequence[OpenDay],
    today: date,
) -> list[contract.Chart]:
    """Return the charts: of the filtered findings, of their weekly trend, and of all open findings."""
    counts = found.counts()
    by_source = counts.by_source_and_severity
    shown = [source for source in sources if counts.by_source[source.pk]]
    return [
        _chart(
            "severity",
            "bar",
            [severity.label for severity in Severity],
            {"Findings": [counts.by_severity[severity] for severity in Severity]},
        ),
        _chart(
            "source",
            "stacked",
            [source.name for source in shown],
            {severity.label: [by_source[source.pk, severity] for source in shown] for severity in Severity},
        ),
        _chart(
            "kind",
            "bar",
            [kind.label.capitalize() for kind in Kind],
            {"Findings": [counts.by_kind[kind] for kind in Kind]},
        ),
        _trend(website.days, found.filters, today),
        _open_by_week(history, today),
        _ages(website.open_days, today),
    ]


def _trend(days: Iterable[Day], filters: Filters, today: date) -> contract.Chart:
    """Return new and fixed findings by week; only the filters by severity, source and kind apply."""
    filters = filters.without("host")
    new: Counter[date] = Counter()
    fixed: Counter[date] = Counter()
    for is_fix, day, severity, source_id, kind, findings in days:
        if filters.allow(severity, source_id, kind):
            monday = day - timedelta(days=day.weekday())
            counts = fixed if is_fix else new
            counts[monday] += findings
    weeks = recent_weeks(today)
    return _chart(
        "trend",
        "line",
        [week.isoformat() for week in weeks],
        {"New": [new[week] for week in weeks], "Fixed": [fixed[week] for week in weeks]},
    )


def _open_by_week(history: Sequence[OpenDay], today: date) -> contract.Chart:
    """Return the open findings at the end of each week, from the first week with data."""
    first_known = history[0].day if history else today
    weeks = [monday for monday in recent_weeks(today) if monday + timedelta(days=6) >= first_known]
    ends = [min(monday + timedelta(days=6), today) for monday in weeks]
    # The last day stored until the end of each week; without one, no finding was open.
    days = [max((day for day in history if day.day <= end), default=None) for end in ends]
    return _chart(
        "open",
        "line",
        [week.isoformat() for week in weeks],
        {severity.label: [getattr(day, severity.name.lower(), 0) for day in days] for severity in Severity},
    )


def _ages(open_days: Mapping[date, int], today: date) -> contract.Chart:
    counts = [0] * len(AGES)
    for day, findings in open_days.items():
        age = (today - day).days + 1  # today is the first day
        counts[bisect_left(limits.AGE_DAYS, age)] += findings  # the first bound that is not below the age
    return _chart("age", "bar", AGES, {"Findings": counts})


def _chart(chart_id: str, kind: str, labels: list[str], series: dict[str, list[int]]) -> contract.Chart:
    return contract.Chart(
        id=chart_id,
        title=CHART_TITLES[chart_id],
        type=kind,
        unit="findings",
        labels=labels,
        series=[contract.Series(name=name, values=values) for name, values in series.items()],
    )


def coverage(
    sources: Iterable[SourceRow],
    runs: Iterable[Run],
    open_counts: Counts,
    *,
    schedules: Mapping[str, Sequence[ScheduleRow]],
    today: date,
) -> list[contract.CoverageEntry]:
    """Return an entry for each source; a source without a run has the state ``never``.

    ``schedules`` give the next run of our own scanners. After a report from outside, it is due an interval
    later.
    """
    by_source = open_counts.by_source
    run_of = {run.source_id: run for run in runs}
    return [
        _coverage_entry(
            source,
            run_of.get(source.pk),
            by_source[source.pk],
            schedules=schedules.get(source.slug, ()),
            today=today,
        )
        for source in sources
    ]


def _coverage_entry(
    source: SourceRow, run: Run | None, findings: int, *, schedules: Sequence[ScheduleRow], today: date
) -> contract.CoverageEntry:
    if run is None:
        due = next_check(schedules, last_run_at=None, today=today)
    elif run.ours_at:  # last_run_at may belong to a target that is no longer scanned
        due = next_check(schedules, last_run_at=run.ours_at, today=today)
    else:
        due = next_report(run.last_run_at, source.interval_days, today=today)
    return contract.CoverageEntry(
        source=source.slug,
        source_name=source.name,
        state=run.state if run else "never",
        last_run_at=run.last_run_at if run else None,
        urls_checked=run.urls_checked if run else None,
        findings=findings if run or findings else None,
        version=run.version if run else "",
        detail=run.detail if run else "",
        next_due_on=due.on,
        stale=due.is_overdue,
        ours=run is not None and run.ours_at is not None,
    )


def note(row: Note) -> contract.Note:
    """Return a note that customers may read."""
    return contract.Note(
        id=str(row.pk),
        finding_id=None if row.finding_id is None else str(row.finding_id),
        author=row.author,
        body=cut(row.body, limits.MAX_TEXT_BYTES),
        created_at=row.created_at,
        updated_at=row.updated_at,
        problem=topics.problem_id(row.problem) if row.problem else None,
        pinned=bool(row.pinned),
    )


def entitlement(link: AccountSite, *, today: date) -> contract.Entitlement:
    """Return the entitlement of the account as of ``today``."""
    terms = cast("EntitlementTerms", link.entitlement)  # authorize refuses links without an entitlement
    return contract.Entitlement(
        plan=terms.plan,
        status=terms.status_on(today),
        starts_on=terms.starts_on,
        ends_on=terms.ends_on,
        days_left=max((terms.ends_on - today).days, 0),
        sites_used=link.sites_used,
        sites_limit=terms.sites_limit,
        features=terms.features,
        usable_until=terms.usable_until,
        renews=terms.renews,
        limits=[_limit_state(state, today) for state in terms.limit_states],
    )


def _limit_state(state: Mapping[str, Any], today: date) -> contract.LimitState:
    """Return the stored state of a limit; it is ok again if the count has restarted since."""
    resets_at = datetime.fromisoformat(state["resets_at"]) if state["resets_at"] else None
    has_restarted = resets_at is not None and resets_at.date() <= today
    return contract.LimitState(
        name=state["name"],
        limit=state["limit"],
        state="ok" if has_restarted else state["state"],
        resets_at=None if has_restarted else resets_at,
    )
