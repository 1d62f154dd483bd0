"""The answer: what is read from the database, and the nine members made of it, in their order."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest, responses
from dashboard_api.contract.requests import ALL
from dashboard_api.models import Finding
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.queries.overview import Bucket, Engine, Overview, overview
from dashboard_api.reading import sections
from dashboard_api.reading.facet_counts import Counts, Tally
from dashboard_api.reading.listing import Listed
from dashboard_api.reading.search_results import Found


def build_dashboard(
    link: AccountSite, question: DashboardRequest, now: datetime
) -> responses.DashboardResponse:
    """Everything about the linked website at ``now``; neither statements nor rows grow with its findings."""
    website_id, weeks = link.website_id, sections.recent_weeks(now.date())
    stored = overview(
        website_id,
        link.account_id,
        status=None if question.status == ALL else question.status,
        severity=question.severity,
        source=question.source,
        kind=question.kind,
        first_week=weeks[0],
        recent_day=now.date() - limits.RECENT_PERIOD + timedelta(days=1),  # today is the last of them
        by_status=not question.query,
    )
    engines = sorted(stored.engines, key=lambda engine: (engine.name.lower(), engine.slug))
    by_id = {engine.pk: engine for engine in engines}
    open_tally = _tally(Finding.Status.OPEN, stored.buckets, by_id)
    counts: Found | Listed
    if question.query:
        counts = Found(website_id, question, engines)
    else:
        is_open = question.status == Finding.Status.OPEN
        tally = open_tally if is_open else _tally(question.status, stored.buckets, by_id)
        counts = Listed(website_id, question, _source_id(question, engines), stored.buckets, tally)
    shown = _shown(engines, stored, counts, open_tally)
    names = {engine.slug: engine.name for engine in shown}
    return responses.DashboardResponse(
        ok=True,
        host=link.host,
        dashboard=sections.page(
            question,
            counts=counts,
            by_status=dict(stored.statuses),
            sources=names,
            grade=sections.grade(open_tally, stored.runs),
            tags=link.tags,
            now=now,
        ),
        summary=sections.summary(
            open_tally,
            recent=stored.recent[0],
            coverage=stored.runs,
            first_check_by=sections.first_check_by(engines, stored.runs, linked_on=link.linked_at.date()),
            now=now,
        ),
        threats=[sections.threat(row) for row in counts.page(by_id)],
        charts=sections.charts(
            counts.filtered(question), sources=names, weeks=weeks, history=stored.weeks
        ),  # history follows severity, source and kind, whatever the status and the words
        coverage=sections.coverage(shown, stored.runs, open_tally, today=now.date()),
        analyst_notes=[sections.note(row) for row in stored.notes],
        entitlement=sections.entitlement(link, today=now.date()),
    )


def _tally(status: str, buckets: Sequence[Bucket], engines: Mapping[int, Engine]) -> Tally:
    """What has this status, by the engines' slugs."""
    return Tally(
        (severity, engines[source_id].slug, kind, findings)
        for counted, severity, source_id, kind, findings in buckets
        if status in (counted, ALL)
    )


def _source_id(question: DashboardRequest, engines: Sequence[Engine]) -> int | None:
    """That of the engine that is asked for; of one that there is not, nothing is counted or listed."""
    return next((engine.pk for engine in engines if engine.slug == question.source), None)


def _shown(engines: Sequence[Engine], stored: Overview, *counts: Counts) -> list[Engine]:
    """Engines that are expected to check the website, and those that did or found something."""
    ran = {run.source_id for run in stored.runs}
    found = set().union(*(each.sources() for each in counts))
    return [engine for engine in engines if engine.enabled or engine.pk in ran or engine.slug in found]
