"""The dashboard response: what it reads, and its nine members in their order."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from types import MappingProxyType

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest, responses
from dashboard_api.contract.fields import ALL
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Finding
from dashboard_api.queries import change_feed
from dashboard_api.queries.credentials import AccountSite, ScheduleRow
from dashboard_api.queries.finding_rows import FIRST_SEEN, FIXED_AT, NEWEST, OLDEST, Period, Span
from dashboard_api.queries.overview import Bucket, Filters, Overview, Run, SourceRow, overview
from dashboard_api.reading import grading, problems, sections, topics
from dashboard_api.reading.facet_counts import Counts, FacetCounts
from dashboard_api.reading.listing import Listing
from dashboard_api.reading.problems import ProblemGroup
from dashboard_api.reading.search_results import SearchResults, by_words, first_seen_in, in_span
from dashboard_api.scanners import SOURCES

UNKNOWN_SOURCE = -1  # the id of no source


def build_dashboard(
    link: AccountSite,
    request: DashboardRequest,
    now: datetime,
    schedules: Mapping[str, Sequence[ScheduleRow]] = MappingProxyType({}),
) -> responses.DashboardResponse:
    """Return the dashboard of the linked website at ``now``; its cost does not grow with the findings.

    ``schedules`` has our own scanners, each with the schedules of its scans.
    """
    today = now.date()
    stored = _overview(link, request, today)
    sources = sorted(stored.sources, key=lambda source: (source.name.lower(), source.slug))
    by_id = {source.pk: source for source in sources}
    _check_sources(request, sources)
    filters = _filters(request, sources)
    open_counts = FacetCounts.of(_with_status(Finding.Status.OPEN, stored.buckets))
    surplus = grading.repeated(stored.topic_totals)
    levels = grading.without(grading.levels_of(open_counts.by_kind_and_severity), surplus)
    completed = grading.completed_on_pages(stored.runs, by_id)
    graded = grading.grade(levels, completed)
    counts = _counts(link.website_id, request, filters, stored, open_counts, now)
    groups, is_cut = _groups(link.website_id, request, filters, counts, stored)
    shown = _shown(sources, stored, counts, open_counts)
    return responses.DashboardResponse(
        ok=True,
        host=link.host,
        dashboard=sections.page(
            request,
            counts=counts,
            by_status=_by_status(request, filters, stored),
            hosts=_host_facet(request, filters, counts, stored),
            sources=shown,
            grade=graded,
            tags=link.tags,
            do_first=_do_first(link, request, groups, by_id),
            grouped=_grouped(link, request, groups, by_id, is_cut=is_cut),
            now=now,
        ),
        summary=sections.summary(
            open_counts,
            recent=stored.recent[0],
            last_scan_at=_last_completed(completed or stored.runs),
            first_check_by=sections.first_check_by(
                sources, stored.runs, linked_on=link.linked_at.date(), schedules=schedules, today=today
            ),
            graded=graded,
            history=grading.history(
                stored.history, first_day=_history_day(today), graded=graded, surplus=surplus
            ),
            now=now,
        ),
        threats=[] if request.group_by else [sections.threat(row) for row in counts.page(by_id)],
        charts=sections.charts(
            counts.facet_counts(), sources=shown, weeks=sections.recent_weeks(today), history=stored.weeks
        )  # the trend follows severity, source and kind, not status, words, hosts and problem
        + sections.website_charts(stored, today),
        coverage=sections.coverage(shown, stored.runs, open_counts, schedules=schedules, today=today),
        analyst_notes=[sections.note(row) for row in stored.notes],
        entitlement=sections.entitlement(link, today=today),
    )


def _overview(link: AccountSite, request: DashboardRequest, today: date) -> Overview:
    values = {"severity": request.severity, "source": request.source, "kind": request.kind}
    return overview(
        link.website_id,
        link.account_id,
        status=None if request.status == ALL else request.status,
        filters={name: chosen for name, chosen in values.items() if chosen is not None},
        first_week=sections.recent_weeks(today)[0],
        history_day=_history_day(today),
        age_days=[today - timedelta(days=days) for days in limits.AGE_DAYS],  # today is day 0
        recent_day=today - limits.RECENT_PERIOD + timedelta(days=1),  # today is the last of them
        most_problems=_most_problems(request),
        problem_keys=topics.keys_of(request.problem),
        counts_hosts=not (_is_searched(request) or request.problem),
        hosts=request.hosts or (),
        topic_keys=topics.SHARED_KEYS,
    )


def _most_problems(request: DashboardRequest) -> int:
    """Return how many counts of problems the response needs; a search counts those of its matches."""
    if request.group_by and not _is_searched(request) and not request.hosts:
        return _most_totals(request) + 1
    return limits.MAX_DO_FIRST_TOTALS if _shows_first(request) else 0


def _is_searched(request: DashboardRequest) -> bool:
    """Return whether no stored counts are those of the request: it has words or a time."""
    return bool(request.query or request.since or request.older_than or request.fixed_since)


def _shows_first(request: DashboardRequest) -> bool:
    """Return whether the request is one for the first page, without filters."""
    unfiltered = DashboardRequest(
        host=request.host,
        link_id=request.link_id,
        portal_account_ref=request.portal_account_ref,
        page_size=request.page_size,
        group_by=request.group_by,
        sort=request.sort,
    )
    return request == unfiltered


def _groups(
    website_id: int,
    request: DashboardRequest,
    filters: Filters,
    counts: SearchResults | Listing,
    stored: Overview,
) -> tuple[list[ProblemGroup], bool]:
    """Return the problems that the response needs, in their order, and whether there may be more.

    Counts of problems are not stored by host, so those of hosts are counted as a search counts.
    """
    if not request.group_by:
        return problems.grouped(stored.problems), False
    searched = counts if isinstance(counts, SearchResults) else None
    if request.hosts and not searched:
        found = by_words(website_id, request, partial(_buckets, request, stored), None)
        searched = SearchResults(request, filters, found, has_facets=False)
    totals = searched.problems() if searched else stored.problems
    totals = [each.of_kinds(request.kind) for each in totals] if request.kind else totals
    is_cut = len(totals) > _most_totals(request) or bool(searched and searched.relation() == "at_least")
    totals = totals[: _most_totals(request)]
    if request.sort in (NEWEST, OLDEST) and not searched:
        totals = problems.with_ends(website_id, totals, sort=request.sort, status=request.status)
    return problems.grouped(totals, sort=request.sort), is_cut


def _most_totals(request: DashboardRequest) -> int:
    """Return how many counts of problems a list adds up: fewer where it reads findings of each."""
    return limits.MAX_SORTED_TOTALS if request.sort in (NEWEST, OLDEST) else limits.MAX_PROBLEM_TOTALS


def _do_first(
    link: AccountSite,
    request: DashboardRequest,
    groups: Sequence[ProblemGroup],
    sources: Mapping[int, SourceRow],
) -> list[responses.Problem]:
    worst = problems.first_to_do(groups) if _shows_first(request) else []
    return problems.described(link.website_id, worst, sources, status=request.status)


def _grouped(
    link: AccountSite,
    request: DashboardRequest,
    groups: Sequence[ProblemGroup],
    sources: Mapping[int, SourceRow],
    *,
    is_cut: bool,
) -> sections.ProblemPage | None:
    """Return the requested page of problems; None if the request lists findings."""
    if not request.group_by:
        return None
    end = request.page * request.page_size
    return sections.ProblemPage(
        problems.described(
            link.website_id, groups[end - request.page_size : end], sources, status=request.status
        ),
        total=len(groups),
        relation="at_least" if is_cut else "exact",
    )


def _last_completed(runs: Iterable[Run]) -> datetime | None:
    return max((run.completed_at for run in runs if run.completed_at), default=None)


def _history_day(today: date) -> date:
    return today - limits.HISTORY_PERIOD


def _counts(
    website_id: int,
    request: DashboardRequest,
    filters: Filters,
    stored: Overview,
    open_counts: FacetCounts,
    now: datetime,
) -> SearchResults | Listing:
    """Return the counts and pages of the request."""
    if span := _span(request, now):
        stored_buckets = _with_status(request.status, stored.buckets)
        return SearchResults(request, filters, in_span(website_id, request, stored_buckets, span))
    period = _period(website_id, request, now)
    buckets = partial(_buckets, request, stored)
    if request.query or (request.hosts and request.problem):
        return SearchResults(request, filters, by_words(website_id, request, buckets, period))
    if period:
        return SearchResults(request, filters, first_seen_in(website_id, request, buckets, period))
    is_open = request.status == Finding.Status.OPEN and not request.problem and not request.hosts
    counts = open_counts if is_open else FacetCounts.of(buckets(filters))
    return Listing(website_id, request, filters, buckets(filters), counts)


def _buckets(request: DashboardRequest, stored: Overview, filters: Filters) -> Sequence[Bucket]:
    """Return the counts of the requested status: those of the filtered hosts, of the problem, or all."""
    plain = stored.problem_buckets if request.problem else stored.buckets
    return _with_status(request.status, stored.host_buckets if filters.host else plain)


def _host_facet(
    request: DashboardRequest, filters: Filters, counts: SearchResults | Listing, stored: Overview
) -> sections.HostFacet:
    """Return the hosts with most findings under the other filters, and those of the request."""
    is_bounded = False
    if isinstance(counts, SearchResults):
        found = counts.facet_counts(without="host").by_host
    else:
        found = Counter(dict(stored.hosts))
        if found.total() >= limits.MAX_HOST_COUNTS:
            others = filters.without("host")
            buckets = _with_status(request.status, stored.buckets)
            is_bounded = found.total() < sum(each.findings for each in buckets if each.passes(others))
    most = sorted((host for host in found if host), key=lambda host: (-found[host], host))
    shown = dict.fromkeys([*most[: limits.MAX_HOSTS], *(request.hosts or ())])
    return sections.HostFacet([(host, found[host]) for host in shown], is_bounded)


def _period(website_id: int, request: DashboardRequest, now: datetime) -> Period | None:
    """Return the requested days. Earlier imports are left out: findings are stored once seen."""
    if not request.since:
        return None
    since = sections.start_of_days(now, request.since)
    newest = change_feed.newest_before(website_id, since)
    return Period(newest.finding_id if newest else 0, since)


def _span(request: DashboardRequest, now: datetime) -> Span | None:
    """Return the requested time where it has an end, or is that of the fix."""
    if request.fixed_since:
        return Span(FIXED_AT, since=sections.start_of_days(now, request.fixed_since))
    if not request.older_than:
        return None
    since = sections.start_of_days(now, request.since) if request.since else None
    return Span(FIRST_SEEN, since=since, before=sections.start_of_days(now, request.older_than))


def _by_status(request: DashboardRequest, filters: Filters, stored: Overview) -> dict[str, int]:
    """Return the numbers of findings by status under the other filters, whatever the words."""
    if not request.problem:
        return dict(stored.statuses)
    counts: Counter[str] = Counter()
    for bucket in stored.problem_buckets:
        counts[bucket.status] += bucket.findings * bucket.passes(filters)
    return counts


def _check_sources(request: DashboardRequest, sources: Iterable[SourceRow]) -> None:
    """Raise InvalidRequest for a source of neither the website nor the product: it may be misspelt.

    Whether another account has it makes no difference.
    """
    known = SOURCES | {source.slug for source in sources}
    if unknown := [slug for slug in request.source or () if slug not in known]:
        message = f"has {', '.join(unknown)}, which is unknown; the sources are {', '.join(sorted(known))}"
        raise InvalidRequest([{"field": "source", "message": message}])


def _filters(request: DashboardRequest, sources: Iterable[SourceRow]) -> Filters:
    """Return the filters of the request; a source without a row for the website becomes UNKNOWN_SOURCE."""
    ids = {source.slug: source.pk for source in sources}
    chosen = request.source
    source_ids = None if chosen is None else tuple(ids.get(slug, UNKNOWN_SOURCE) for slug in chosen)
    return Filters(request.severity, source_ids, request.kind, request.hosts)


def _shown(sources: Iterable[SourceRow], stored: Overview, *counts: Counts | FacetCounts) -> list[SourceRow]:
    """Return the sources that are expected to check the website, and those that did or have findings."""
    ran = {run.source_id for run in stored.runs}
    found = set().union(*(each.source_ids() for each in counts))
    return [source for source in sources if source.enabled or source.pk in ran | found]


def _with_status(status: str, buckets: Iterable[Bucket]) -> Sequence[Bucket]:
    return [bucket for bucket in buckets if status in (bucket.status, ALL)]
