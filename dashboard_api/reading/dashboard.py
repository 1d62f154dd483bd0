"""The dashboard response: what it reads, and its nine members in their order."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest, responses
from dashboard_api.contract.requests import ALL
from dashboard_api.models import Finding
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.queries.overview import Bucket, Filters, Overview, SourceRow, overview
from dashboard_api.reading import grading, sections
from dashboard_api.reading.facet_counts import Counts, FacetCounts
from dashboard_api.reading.listing import Listing
from dashboard_api.reading.search_results import SearchResults

UNKNOWN_SOURCE = -1  # the id of no source


def build_dashboard(
    link: AccountSite, request: DashboardRequest, now: datetime
) -> responses.DashboardResponse:
    """Return the dashboard of the linked website at ``now``; its cost does not grow with the findings."""
    today = now.date()
    stored = _overview(link, request, today)
    sources = sorted(stored.sources, key=lambda source: (source.name.lower(), source.slug))
    filters = _filters(request, sources)
    open_counts = FacetCounts.of(_with_status(Finding.Status.OPEN, stored.buckets))
    graded = grading.grade(grading.levels_of(open_counts.by_kind_and_severity), stored.runs)
    counts = _counts(link.website_id, request, filters, stored.buckets, open_counts)
    shown = _shown(sources, stored, counts, open_counts)
    return responses.DashboardResponse(
        ok=True,
        host=link.host,
        dashboard=sections.page(
            request,
            counts=counts,
            by_status=dict(stored.statuses),
            sources=shown,
            grade=graded,
            tags=link.tags,
            now=now,
        ),
        summary=sections.summary(
            open_counts,
            recent=stored.recent[0],
            coverage=stored.runs,
            first_check_by=sections.first_check_by(sources, stored.runs, linked_on=link.linked_at.date()),
            graded=graded,
            history=grading.history(stored.history, first_day=_history_day(today), graded=graded),
            now=now,
        ),
        threats=[sections.threat(row) for row in counts.page({source.pk: source for source in sources})],
        charts=sections.charts(
            counts.facet_counts(), sources=shown, weeks=sections.recent_weeks(today), history=stored.weeks
        ),  # the history follows severity, source and kind, not status and words
        coverage=sections.coverage(shown, stored.runs, open_counts, today=today),
        analyst_notes=[sections.note(row) for row in stored.notes],
        entitlement=sections.entitlement(link, today=today),
    )


def _overview(link: AccountSite, request: DashboardRequest, today: date) -> Overview:
    return overview(
        link.website_id,
        link.account_id,
        status=None if request.status == ALL else request.status,
        severity=request.severity,
        source=request.source,
        kind=request.kind,
        first_week=sections.recent_weeks(today)[0],
        history_day=_history_day(today),
        recent_day=today - limits.RECENT_PERIOD + timedelta(days=1),  # today is the last of them
    )


def _history_day(today: date) -> date:
    return today - limits.HISTORY_PERIOD


def _counts(
    website_id: int,
    request: DashboardRequest,
    filters: Filters,
    buckets: Sequence[Bucket],
    open_counts: FacetCounts,
) -> SearchResults | Listing:
    """Return the counts and pages of the request; ``buckets`` have other statuses, too."""
    if request.query:
        return SearchResults(website_id, request, filters)
    buckets = _with_status(request.status, buckets)
    counts = open_counts if request.status == Finding.Status.OPEN else FacetCounts.of(buckets)
    return Listing(website_id, request, filters, buckets, counts)


def _filters(request: DashboardRequest, sources: Iterable[SourceRow]) -> Filters:
    """Return the filters of the request; an unknown source becomes UNKNOWN_SOURCE."""
    ids = {source.slug: source.pk for source in sources}
    source_id = None if request.source is None else ids.get(request.source, UNKNOWN_SOURCE)
    return Filters(request.severity, source_id, request.kind)


def _shown(sources: Iterable[SourceRow], stored: Overview, *counts: Counts | FacetCounts) -> list[SourceRow]:
    """Return the sources that are expected to check the website, and those that did or have findings."""
    ran = {run.source_id for run in stored.runs}
    found = set().union(*(each.source_ids() for each in counts))
    return [source for source in sources if source.enabled or source.pk in ran | found]


def _with_status(status: str, buckets: Iterable[Bucket]) -> Sequence[Bucket]:
    return [bucket for bucket in buckets if status in (bucket.status, ALL)]
