"""The results of a search, by words or by time: counted exactly up to a limit, and listed beyond it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest
from dashboard_api.queries import finding_rows, problem_rows
from dashboard_api.queries.finding_rows import NEWEST, PRIORITY, WORST, WORST_FIRST, Period, Span, Threat
from dashboard_api.queries.overview import Bucket, Filters, ProblemTotals, SourceRow
from dashboard_api.queries.search import Matches, SearchQuery, find_matches
from dashboard_api.reading import topics
from dashboard_api.reading.facet_counts import FACETS, Facet, FacetCounts
from dashboard_api.reading.listing import distinguishing_columns
from foundation.words import words_of

# Return the first matches under these filters, at most so many, in this order.
Find = Callable[[Filters, int, str], Matches]


def by_words(
    website_id: int,
    request: DashboardRequest,
    buckets: Callable[[Filters], Sequence[Bucket]],
    period: Period | None,
) -> Find:
    """Return the search for the words of the request, problem and ``period``, as far as it has them.

    It looks only at severities that have findings in ``buckets`` under the filters.
    """
    words = words_of(request.query) if request.query else None
    problems = topics.keys_of(request.problem)

    def find(filters: Filters, limit: int, sort: str) -> Matches:
        severities = {bucket.severity for bucket in buckets(filters) if bucket.passes(filters)}
        query = SearchQuery(
            website_id=website_id,
            words=words,
            status=request.status,
            filters=filters._replace(severity=tuple(severities)),
            problems=problems,
            period=period,
        )
        return find_matches(query, limit=limit, sort=sort)

    return find


def first_seen_in(
    website_id: int, request: DashboardRequest, buckets: Callable[[Filters], Sequence[Bucket]], period: Period
) -> Find:
    """Return the search for findings of ``buckets``, by the filters, that were first seen in ``period``."""

    def find(filters: Filters, limit: int, sort: str) -> Matches:
        matching = [bucket for bucket in buckets(filters) if bucket.passes(filters)]
        by = distinguishing_columns(request, filters)
        found = finding_rows.recent(website_id, matching, period, by=by, limit=limit, sort=sort)
        return Matches([row[0] for row in found], [row[1:] for row in found])

    return find


def in_span(website_id: int, request: DashboardRequest, buckets: Sequence[Bucket], span: Span) -> Find:
    """Return the search for findings of ``buckets`` in a span of time, in the order of that time."""
    problems = topics.keys_of(request.problem)

    def find(filters: Filters, limit: int, sort: str) -> Matches:
        parts = {(bucket.status, bucket.severity) for bucket in buckets if bucket.passes(filters)}
        found = finding_rows.in_span(
            website_id, sorted(parts), filters, span, problems=problems, limit=limit, sort=sort
        )
        return Matches([row[0] for row in found], [row[1:5] for row in found])

    return find


class SearchResults:
    """Counts and pages of a search; beyond the limit, counts cover the worst matches only.

    A facet ignores its own filter, so each facet with a filter needs a search of its own. All filters
    together need one only if no facet has all matches, and another order than the worst first only if there
    are more matches than are counted.
    """

    def __init__(
        self, request: DashboardRequest, filters: Filters, find: Find, *, has_facets: bool = True
    ) -> None:
        self._request = request
        self._filters = filters
        self._find = find
        self._filtered = [
            facet for facet in FACETS.values() if has_facets and getattr(filters, facet) is not None
        ]
        self._matches: dict[Filters, Matches] = {}
        self._facet_counts: dict[Filters, FacetCounts] = {}

    def relation(self, *, without: Facet | None = None) -> Literal["exact", "at_least"]:
        """Return whether the counts are exact, optionally without one filter."""
        matches = self._matches_of(self._filters_without(without))
        return "at_least" if len(matches.ids) > limits.MAX_COUNTED_MATCHES else "exact"

    def known_total(self) -> int:
        """Return the number of matches, or one more than are counted and listed up to this page."""
        return max(len(self._matches_of(self._filters).ids), len(self._listed))

    def facet_counts(self, *, without: Facet | None = None) -> FacetCounts:
        """Return the counts of matches that pass the filters, optionally without one of them."""
        filters = self._filters_without(without)
        if filters not in self._facet_counts:
            self._facet_counts[filters] = FacetCounts(
                self._matches_of(filters).counted(limits.MAX_COUNTED_MATCHES)
            )
        return self._facet_counts[filters]

    def source_ids(self) -> set[int]:
        """Return the ids of sources with matches; the filter by source does not matter."""
        return {*self.facet_counts().by_source, *self.facet_counts(without="source_id").by_source}

    def page(self, sources: Mapping[int, SourceRow]) -> list[Threat]:
        """Return the requested page in the requested order."""
        end = self._request.page * self._request.page_size
        ids = self._listed[end - self._request.page_size : end]
        return finding_rows.threats(ids, sources)

    def problems(self) -> list[ProblemTotals]:
        """Count the matches by problem and severity: all, or the worst where there are too many."""
        return problem_rows.totals_of(self._matches_of(self._filters).ids[: limits.MAX_COUNTED_MATCHES])

    @cached_property
    def _listed(self) -> list[int]:
        """The matches in the requested order, up to the end of the page, and one more if it exists."""
        matches, sort = self._matches_of(self._filters), self._request.sort
        worst_first = matches.ids
        if sort == PRIORITY and self.relation() == "exact":
            return matches.confirmed_first()
        if sort in WORST_FIRST:
            return worst_first
        is_in_order_of_ids = not (self._request.older_than or self._request.fixed_since)
        if is_in_order_of_ids and self.relation() == "exact":
            return sorted(worst_first, reverse=sort == NEWEST)
        return self._find(self._filters, self._request.page * self._request.page_size + 1, sort).ids

    def _filters_without(self, without: Facet | None) -> Filters:
        return self._filters if without is None else self._filters.without(without)

    def _matches_of(self, filters: Filters) -> Matches:
        """Return the worst matches: as many as are counted or listed, and one more if it exists."""
        if filters not in self._matches:
            self._matches[filters] = self._found_for_a_facet(filters) or self._worst_matches(filters)
        return self._matches[filters]

    def _found_for_a_facet(self, filters: Filters) -> Matches | None:
        """Return the matches of all filters from those of a facet, which are needed anyway, if it has all."""
        for facet in self._filtered if filters == self._filters else []:
            if self.relation(without=facet) == "exact":
                return self._matches_of(filters.without(facet)).passing(filters)
        return None

    def _worst_matches(self, filters: Filters) -> Matches:
        most = limits.MAX_COUNTED_MATCHES
        if filters == self._filters and self._request.sort in WORST_FIRST:
            most = max(most, self._request.page * self._request.page_size)
        return self._find(filters, most + 1, WORST)
