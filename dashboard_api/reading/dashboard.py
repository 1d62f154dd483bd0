"""The answer: what is read from the database, and the nine members made of it, in their order."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest, responses
from dashboard_api.contract.requests import ALL
from dashboard_api.models import Finding
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.queries.overview import Bucket, Engine, Filters, Overview, overview
from dashboard_api.reading import sections
from dashboard_api.reading.facet_counts import Counts, Tally
from dashboard_api.reading.listing import Listed
from dashboard_api.reading.search_results import Found

UNKNOWN_SOURCE = -1  # the id of no source


def build_dashboard(
    link: AccountSite, question: DashboardRequest, now: datetime
) -> responses.DashboardResponse:
    """Return everything about the linked website at ``now``; the work does not grow with its findings."""
    website_id, today = link.website_id, now.date()
    weeks = sections.recent_weeks(today)
    stored = overview(
        website_id,
        link.account_id,
        status=None if question.status == ALL else question.status,
        severity=question.severity,
        source=question.source,
        kind=question.kind,
        first_week=weeks[0],
        recent_day=today - limits.RECENT_PERIOD + timedelta(days=1),  # today is the last of them
    )
    engines = sorted(stored.engines, key=lambda engine: (engine.name.lower(), engine.slug))
    filters = _filters(question, engines)
    open_tally = Tally.of(_with_status(Finding.Status.OPEN, stored.buckets))
    counts: Found | Listed
    if question.query:
        counts = Found(website_id, question, filters)
    else:
        buckets = _with_status(question.status, stored.buckets)
        tally = open_tally if question.status == Finding.Status.OPEN else Tally.of(buckets)
        counts = Listed(website_id, question, filters, buckets, tally)
    shown = _shown(engines, stored, counts, open_tally)
    return responses.DashboardResponse(
        ok=True,
        host=link.host,
        dashboard=sections.page(
            question,
            counts=counts,
            by_status=dict(stored.statuses),
            sources=shown,
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
        threats=[sections.threat(row) for row in counts.page({engine.pk: engine for engine in engines})],
        charts=sections.charts(
            counts.tally(), sources=shown, weeks=weeks, history=stored.weeks
        ),  # history follows severity, source and kind, whatever the status and the words
        coverage=sections.coverage(shown, stored.runs, open_tally, today=today),
        analyst_notes=[sections.note(row) for row in stored.notes],
        entitlement=sections.entitlement(link, today=today),
    )


def _filters(question: DashboardRequest, engines: Iterable[Engine]) -> Filters:
    """Return the filters of the request; no finding is of a source that does not exist."""
    ids = {engine.slug: engine.pk for engine in engines}
    source_id = None if question.source is None else ids.get(question.source, UNKNOWN_SOURCE)
    return Filters(question.severity, source_id, question.kind)


def _shown(engines: Iterable[Engine], stored: Overview, *counts: Counts | Tally) -> list[Engine]:
    """Return the engines that are expected to check the website, and those that did or found something."""
    ran = {run.source_id for run in stored.runs}
    found = set().union(*(each.source_ids() for each in counts))
    return [engine for engine in engines if engine.enabled or engine.pk in ran | found]


def _with_status(status: str, buckets: Iterable[Bucket]) -> Sequence[Bucket]:
    return [bucket for bucket in buckets if status in (bucket.status, ALL)]
