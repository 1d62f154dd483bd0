"""The results of a search: counted exactly up to a limit, and listed beyond it."""

from collections.abc import Mapping
from typing import Literal

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest
from dashboard_api.queries import finding_rows, problem_rows
from dashboard_api.queries.finding_rows import Threat
from dashboard_api.queries.overview import Filters, ProblemTotals, SourceRow
from dashboard_api.queries.search import Matches, SearchQuery, find_matches
from dashboard_api.reading.facet_counts import Facet, FacetCounts
from foundation.words import words_of


class SearchResults:
    """Counts and pages of a search; beyond the limit, counts cover the worst matches only.

    A facet ignores its own filter, so each facet with a filter needs a further search.
    """

    def __init__(self, website_id: int, request: DashboardRequest, filters: Filters) -> None:
        self._website_id = website_id
        self._request = request
        self._filters = filters
        self._matches: dict[Filters, Matches] = {}
        self._facet_counts: dict[Filters, FacetCounts] = {}

    def relation(self, *, without: Facet | None = None) -> Literal["exact", "at_least"]:
        """Return whether the counts are exact, optionally without one filter."""
        matches = self._matches_of(self._filters_without(without))
        return "at_least" if len(matches.ids) > limits.MAX_COUNTED_MATCHES else "exact"

    def known_total(self) -> int:
        """Return the number of matches, or one more than are counted and listed up to this page."""
        return len(self._matches_of(self._filters).ids)

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
        """Return the requested page, worst first."""
        end = self._request.page * self._request.page_size
        return finding_rows.threats(
            self._matches_of(self._filters).ids[end - self._request.page_size : end], sources
        )

    def problems(self) -> list[ProblemTotals]:
        """Count the matches by problem and severity: all, or the worst where there are too many."""
        return problem_rows.totals_of(self._matches_of(self._filters).ids[: limits.MAX_COUNTED_MATCHES])

    def _filters_without(self, without: Facet | None) -> Filters:
        return self._filters if without is None else self._filters.without(without)

    def _matches_of(self, filters: Filters) -> Matches:
        """Return the worst matches: as many as are counted or listed, and one more if it exists."""
        if filters not in self._matches:
            most = limits.MAX_COUNTED_MATCHES
            if filters == self._filters:
                most = max(most, self._request.page * self._request.page_size)
            query = SearchQuery(
                website_id=self._website_id,
                words=words_of(self._request.query),
                status=self._request.status,
                filters=filters,
            )
            self._matches[filters] = find_matches(query, limit=most + 1)
        return self._matches[filters]
