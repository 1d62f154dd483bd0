"""The answer: what is read from the database, and the nine members made of it, in their order."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from dashboard_api import policy, sections
from dashboard_api.contract import ChartAnswer, DashboardAnswer, DashboardQuestion, SummaryAnswer
from dashboard_api.contract.question import ALL
from dashboard_api.found import Found
from dashboard_api.listed import Listed
from dashboard_api.models import Finding, reads
from dashboard_api.models.callers import Seen
from dashboard_api.models.reads import Bucket, Engine, Run
from dashboard_api.tally import Counts, Tally


def build_dashboard(link: Seen, question: DashboardQuestion, now: datetime) -> DashboardAnswer:
    """Everything about the linked website at ``now``; neither statements nor rows grow with its findings."""
    website_id = link.website_id
    engines, runs = reads.engines(website_id)
    by_id = {engine.pk: engine for engine in engines}
    source_id = _source_id(question, engines)
    buckets, by_status = reads.buckets(
        website_id,
        _statuses(question),
        severity=question.severity,
        source_id=source_id,
        kind=question.kind,
    )
    open_tally = _tally(Finding.Status.OPEN, buckets, by_id)
    counts: Found | Listed
    if question.query:
        counts = Found(website_id, question, engines)
    else:
        is_open = question.status == Finding.Status.OPEN
        tally = open_tally if is_open else _tally(question.status, buckets, by_id)
        counts = Listed(website_id, question, source_id, buckets, tally)
    shown = _shown(engines, runs, counts, open_tally)
    names = {engine.slug: engine.name for engine in shown}
    return DashboardAnswer(
        ok=True,
        host=link.host,
        dashboard=sections.page(
            question,
            counts=counts,
            by_status=by_status,
            sources=names,
            grade=sections.grade(open_tally, runs),
            tags=link.tags,
            now=now,
        ),
        summary=_summary(website_id, open_tally, runs, now),
        threats=[sections.threat(row) for row in reads.threats(counts.page(), by_id)],
        charts=_charts(website_id, question, source_id, counts.filtered(question), shown, now),
        coverage=sections.coverage(shown, runs, open_tally, today=now.date()),
        analyst_notes=[sections.note(row) for row in reads.notes(website_id, link.account_id)],
        entitlement=sections.entitlement(link, today=now.date()),
    )


def _tally(status: str, buckets: Sequence[Bucket], engines: Mapping[int, Engine]) -> Tally:
    """What has this status, by the engines' slugs."""
    return Tally(
        (severity, engines[source_id].slug, kind, findings)
        for counted, severity, source_id, kind, findings in buckets
        if status in (counted, ALL)
    )


def _source_id(question: DashboardQuestion, engines: Sequence[Engine]) -> int | None:
    """That of the engine that is asked for."""
    if question.source is None:
        return None
    return next((engine.pk for engine in engines if engine.slug == question.source), reads.NO_SOURCE)


def _statuses(question: DashboardQuestion) -> Sequence[str]:
    """The summary describes what is open, whatever is asked for."""
    if question.status == ALL:
        return Finding.Status.values
    return sorted({Finding.Status.OPEN.value, question.status})


def _shown(engines: Sequence[Engine], runs: Sequence[Run], *counts: Counts) -> list[Engine]:
    """Engines that are expected to check the website, and those that did or found something."""
    ran = {run.source_id for run in runs}
    told = set().union(*(each.sources() for each in counts))
    return [engine for engine in engines if engine.enabled or engine.pk in ran or engine.slug in told]


def _summary(website_id: int, open_tally: Tally, runs: Sequence[Run], now: datetime) -> SummaryAnswer:
    """Days are whole, in UTC: today is the last of the recent ones."""
    recent = reads.recent(website_id, now.date() - policy.RECENT_PERIOD + timedelta(days=1))
    return sections.summary(
        open_tally,
        new=recent.found,
        fixed=recent.fixed,
        oldest=recent.oldest_open,
        newest=recent.newest_open,
        coverage=runs,
        now=now,
    )


def _charts(
    website_id: int,
    question: DashboardQuestion,
    source_id: int | None,
    tally: Tally,
    engines: Sequence[Engine],
    now: datetime,
) -> list[ChartAnswer]:
    """History follows severity, source and kind, whatever the status and the words."""
    weeks = sections.recent_weeks(now.date())
    history = reads.weeks(
        website_id, weeks[0], severity=question.severity, source_id=source_id, kind=question.kind
    )
    return sections.charts(
        tally,
        sources={engine.slug: engine.name for engine in engines},
        weeks=weeks,
        new={week: found for week, (found, _) in history.items()},
        fixed={week: fixed for week, (_, fixed) in history.items()},
    )
