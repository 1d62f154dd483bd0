"""The answer's members, one function each, from rows and counts that ``dashboard`` has read."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple, cast

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest, responses
from dashboard_api.contract.requests import ALL
from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.models.revisions import Tags
from dashboard_api.queries.credentials import AccountSite, EntitlementTerms
from dashboard_api.queries.finding_rows import Threat
from dashboard_api.queries.overview import Engine, Note, Recent, Run, Week
from dashboard_api.reading.facet_counts import FACETS, Counts, Tally

WORST_FIRST = sorted(Severity, reverse=True)
LABELS = {severity.value: severity.label for severity in Severity}
GRADES = "ABCDF"  # by the worst open severity, Info to Critical
BAD_GRADES = "CDF"  # certain from the open findings alone, before any check is complete
CHART_TITLES = {
    "severity": "Findings by severity",
    "source": "Findings by source",
    "kind": "Findings by certainty",
    "trend": "New and fixed findings per week",
}


class Grade(NamedTuple):
    """A grade; ``provisional``: no engine has completed a check yet, so the grade may become worse."""

    letter: str | None
    provisional: bool


def page(
    question: DashboardRequest,
    *,
    counts: Counts,
    by_status: Mapping[str, int],
    sources: Sequence[Engine],
    grade: Grade,
    tags: Tags,
    now: datetime,
) -> responses.Page:
    """Return the ``dashboard`` member.

    ``by_status`` counts what passes the other filters, whatever the words; ``tags`` are the website's.
    """
    return responses.Page(
        generated_at=now,
        grade=grade.letter,  # type: ignore[arg-type]  # one of GRADES
        filters=responses.Filters(
            severity=None if question.severity is None else question.severity.label,
            source=question.source,
            kind=question.kind,
            query=question.query or None,
        ),
        page=question.page,
        page_size=question.page_size,
        page_count=-(-counts.listed() // question.page_size),
        total=counts.tally().total(),
        total_relation=counts.relation(),
        facets=facets(question, counts=counts, by_status=by_status, sources=sources),
        revision=".".join(str(tag or 0) for tag in tags),
        bounded_facets=[
            name for name, facet in FACETS.items() if counts.relation(without=facet) == "at_least"
        ],
        grade_provisional=grade.provisional,
    )


def facets(
    question: DashboardRequest,
    *,
    counts: Counts,
    by_status: Mapping[str, int],
    sources: Sequence[Engine],
) -> responses.Facets:
    """Return every value of each filter, zero or not, counted under the other filters."""
    by_severity = counts.tally(without="severity").by_severity
    by_source = counts.tally(without="source_id").by_source
    by_kind = counts.tally(without="kind").by_kind
    return responses.Facets(
        severity=[
            responses.FacetValue(value=severity.label, label=severity.label, count=by_severity[severity])
            for severity in WORST_FIRST
        ],
        source=[
            responses.FacetValue(value=source.slug, label=source.name, count=by_source[source.pk])
            for source in sources
        ],
        kind=[
            responses.FacetValue(value=kind.value, label=kind.label.capitalize(), count=by_kind[kind])
            for kind in Kind
        ],
        status=[] if question.query else _statuses(by_status),
    )


def _statuses(counts: Mapping[str, int]) -> list[responses.FacetValue]:
    """Each of them, and all together."""
    counted = [
        responses.FacetValue(value=status.value, label=status.label, count=counts.get(status, 0))
        for status in Finding.Status
    ]
    return [*counted, responses.FacetValue(value=ALL, label=ALL.capitalize(), count=sum(counts.values()))]


def grade(open_tally: Tally, coverage: Iterable[Run]) -> Grade:
    """Return the grade, A to F, for the worst open finding; a suspected one counts a step milder.

    C, D and F need no complete check. A and B do, because they say that there is nothing worse.
    """
    found = open_tally.by_kind_and_severity
    worst = max((max(severity - (kind == Kind.SUSPECTED), 0) for kind, severity in found), default=0)
    letter = GRADES[worst]
    if any(entry.completed_at for entry in coverage):
        return Grade(letter, provisional=False)
    return Grade(letter, provisional=True) if letter in BAD_GRADES else Grade(None, provisional=False)


def summary(
    open_tally: Tally,
    *,
    recent: Recent,
    coverage: Iterable[Run],
    first_check_by: date | None,
    now: datetime,
) -> responses.Summary:
    """The whole website, whatever the filters."""
    by_severity = open_tally.by_severity
    return responses.Summary(
        open=open_tally.total(),
        by_severity=responses.SeverityCounts(
            **{severity.name.lower(): by_severity[severity] for severity in Severity}
        ),
        confirmed=open_tally.by_kind[Kind.CONFIRMED],
        new_7d=recent.found,
        fixed_7d=recent.fixed,
        oldest_open_days=_days_since(recent.oldest_open, now),
        last_scan_at=max((entry.last_run_at for entry in coverage), default=None),
        newest_open_days=_days_since(recent.newest_open, now),
        first_check_by=first_check_by,
    )


def first_check_by(sources: Iterable[Engine], entries: Iterable[Run], *, linked_on: date) -> date | None:
    """Return when the first enabled engine is due, counted from the link; None once any engine has run."""
    intervals = [source.interval_days for source in sources if source.enabled]
    if any(True for _ in entries) or not intervals:
        return None
    return linked_on + timedelta(days=min(intervals))


def _days_since(day: date | None, now: datetime) -> int | None:
    return None if day is None else max((now.date() - day).days, 0)


def threat(finding: Threat) -> responses.Threat:
    """One finding; of its evidence no more is read than can be shown, and a bit to tell."""
    evidence = cut(finding.evidence_start, limits.MAX_EVIDENCE_BYTES)
    return responses.Threat(
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
        references=within(finding.references, limits.MAX_TEXT_BYTES),
        cwe=finding.cwe[: limits.MAX_NAMES],
        cve=finding.cve[: limits.MAX_NAMES],
        rule=finding.rule,
        first_seen=finding.first_seen,
        last_seen=finding.last_seen,
        evidence_truncated=evidence != finding.evidence_start,
    )


def cut(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8, never inside a character."""
    if len(text) * 4 <= limit:  # no character has more bytes
        return text
    encoded = text.encode()
    return text if len(encoded) <= limit else encoded[:limit].decode(errors="ignore")


def within(texts: Sequence[str], limit: int) -> list[str]:
    """As many of ``texts``, from the first, as ``limit`` bytes of UTF-8 hold, within the bound of names."""
    texts = texts[: limits.MAX_NAMES]
    sizes = itertools.accumulate(len(text.encode()) for text in texts)
    return [text for text, size in zip(texts, sizes, strict=True) if size <= limit]


def charts(
    tally: Tally,
    *,
    sources: Sequence[Engine],
    weeks: list[date],
    history: Iterable[Week],
) -> list[responses.Chart]:
    """Three charts of the filtered findings, and their history week by week."""
    by_severity, by_kind, by_source = tally.by_severity, tally.by_kind, tally.by_source_and_severity
    counted = {week.monday: week for week in history}
    by_week = [counted.get(monday, Week(monday, 0, 0)) for monday in weeks]
    found = [source for source in sources if any(by_source[source.pk, severity] for severity in Severity)]
    return [
        _chart(
            "severity",
            "bar",
            [severity.label for severity in WORST_FIRST],
            {"Findings": [by_severity[severity] for severity in WORST_FIRST]},
        ),
        _chart(
            "source",
            "stacked",
            [source.name for source in found],
            {
                severity.label: [by_source[source.pk, severity] for source in found]
                for severity in WORST_FIRST
            },
        ),
        _chart(
            "kind",
            "bar",
            [kind.label.capitalize() for kind in Kind],
            {"Findings": [by_kind[kind] for kind in Kind]},
        ),
        _chart(
            "trend",
            "line",
            [week.isoformat() for week in weeks],
            {
                "New": [week.found for week in by_week],
                "Fixed": [week.fixed for week in by_week],
            },
        ),
    ]


def _chart(chart_id: str, kind: str, labels: list[str], series: dict[str, list[int]]) -> responses.Chart:
    return responses.Chart(
        id=chart_id,
        title=CHART_TITLES[chart_id],
        type=kind,  # type: ignore[arg-type]  # one of the contract's three
        unit="findings",
        labels=labels,
        series=[responses.Series(name=name, values=values) for name, values in series.items()],
    )


def coverage(
    sources: Iterable[Engine], entries: Iterable[Run], open_tally: Tally, *, today: date
) -> list[responses.CoverageEntry]:
    """One entry for each engine; the absence of a run is ``never``, without a count of findings."""
    by_source = open_tally.by_source
    runs = {entry.source_id: entry for entry in entries}
    return [
        _coverage_entry(source, runs.get(source.pk), by_source[source.pk], today=today) for source in sources
    ]


def _coverage_entry(
    source: Engine, run: Run | None, findings: int, *, today: date
) -> responses.CoverageEntry:
    due = run.last_run_at.date() + timedelta(days=source.interval_days) if run else None
    return responses.CoverageEntry(
        source=source.slug,
        source_name=source.name,
        state=run.state if run else "never",  # type: ignore[arg-type]  # Coverage.State
        last_run_at=run.last_run_at if run else None,
        urls_checked=run.urls_checked if run else None,
        findings=findings if run or findings else None,
        version=run.version if run else "",
        detail=run.detail if run else "",
        next_due_on=due,
        stale=due is not None and due < today,
    )


def note(row: Note) -> responses.Note:
    """One customer-visible note."""
    return responses.Note(
        id=str(row.pk),
        finding_id=None if row.finding_id is None else str(row.finding_id),
        author=row.author,
        body=cut(row.body, limits.MAX_TEXT_BYTES),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def entitlement(link: AccountSite, *, today: date) -> responses.Entitlement:
    """What the account has paid for, as it stands today."""
    paid = cast("EntitlementTerms", link.entitlement)  # authorize lets nobody else through
    return responses.Entitlement(
        plan=paid.plan,
        status=paid.status_on(today),  # type: ignore[arg-type]  # Entitlement.Status
        starts_on=paid.starts_on,
        ends_on=paid.ends_on,
        days_left=max((paid.ends_on - today).days, 0),
        sites_used=link.sites_used,
        sites_limit=paid.sites_limit,
        features=paid.features,
        usable_until=paid.usable_until,
        renews=paid.renews,
    )


def recent_weeks(today: date) -> list[date]:
    """The Mondays of the trend's weeks, oldest first, this week last."""
    monday = today - timedelta(days=today.weekday())
    return [monday - timedelta(weeks=back) for back in reversed(range(limits.TREND_WEEKS))]
