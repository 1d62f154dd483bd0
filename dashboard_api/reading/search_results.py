"""The results of a search: counted exactly up to a bound, and listed beyond it."""

from collections.abc import Mapping
from typing import Literal

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest
from dashboard_api.queries import finding_rows
from dashboard_api.queries.finding_rows import Threat
from dashboard_api.queries.overview import Engine, Filters
from dashboard_api.queries.search import Matches, Sought, matches
from dashboard_api.reading.facet_counts import Facet, Tally
from foundation.words import words_of


class Found:
    """The counts and pages of a search; beyond the counted number, counts cover the worst matches only.

    A facet leaves its own filter out, so it is counted from a search of its own.
    """

    def __init__(self, website_id: int, question: DashboardRequest, filters: Filters) -> None:
        self._website_id = website_id
        self._question = question
        self._filters = filters
        self._matches: dict[Filters, Matches] = {}
        self._tallies: dict[Filters, Tally] = {}

    def relation(self, *, without: Facet | None = None) -> Literal["exact", "at_least"]:
        """Return whether the counts are exact; one filter may be left out."""
        found = self._find(self._but(without))
        return "at_least" if len(found.ids) > limits.MAX_COUNTED_MATCHES else "exact"

    def listed(self) -> int:
        """Return the number of known matches: all, or one more than are counted or listed up to this page."""
        return len(self._find(self._filters).ids)

    def tally(self, *, without: Facet | None = None) -> Tally:
        """Return the counts of what passes the filters; one filter may be left out."""
        filters = self._but(without)
        if filters not in self._tallies:
            self._tallies[filters] = Tally(self._find(filters).counted(limits.MAX_COUNTED_MATCHES))
        return self._tallies[filters]

    def source_ids(self) -> set[int]:
        """Return the engines that found something, whichever engine is asked for."""
        return {*self.tally().by_source, *self.tally(without="source_id").by_source}

    def page(self, engines: Mapping[int, Engine]) -> list[Threat]:
        """Return the requested page, worst first."""
        end = self._question.page * self._question.page_size
        return finding_rows.threats(
            self._find(self._filters).ids[end - self._question.page_size : end], engines
        )

    def _but(self, without: Facet | None) -> Filters:
        return self._filters if without is None else self._filters.without(without)

    def _find(self, filters: Filters) -> Matches:
        """Return the worst matches: as many as are counted or listed, and one more if there are more."""
        if filters not in self._matches:
            most = limits.MAX_COUNTED_MATCHES
            if filters == self._filters:
                most = max(most, self._question.page * self._question.page_size)
            sought = Sought(
                website_id=self._website_id,
                words=words_of(self._question.query),
                status=self._question.status,
                filters=filters,
            )
            self._matches[filters] = matches(sought, limit=most + 1)
        return self._matches[filters]
