"""The total and the facets of a dashboard request."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from dashboard_api import limits
from dashboard_api.queries.overview import SourceRow
from dashboard_api.reading.answered import Answered
from dashboard_api.reading.cells import Cells, Counts, Facet, read_cells
from dashboard_api.reading.matching import EVERYTHING, NO_FILTERS, Filters, Match
from signed_api import limits as contract_limits
from signed_api.answers import UNASSIGNED
from signed_api.findings import DashboardRequest


class Found:
    """The counts of a request: the total under all filters, and each facet under all other filters."""

    def __init__(
        self,
        website_id: int,
        cells: Cells,
        answered: Answered,
        request: DashboardRequest,
        sources: Iterable[SourceRow],
        now: datetime,
    ) -> None:
        self.filters = Filters.of(request, sources)
        self.match = Match.of(request, now)
        self.answered = answered
        self._status = request.status
        is_whole = self.match == EVERYTHING
        self._cells = cells if is_whole else read_cells(website_id, self.match, answered)
        self._counts: dict[Filters, Counts] = {}

    def is_everything(self) -> bool:
        """Return whether the request has no filter except its status."""
        return self.match == EVERYTHING and self.filters == NO_FILTERS

    def counts(self, *, without: Facet | None = None) -> Counts:
        """Count the findings under the filters, optionally without one of them."""
        filters = self.filters.without(without) if without else self.filters
        if filters not in self._counts:
            self._counts[filters] = self._cells.counts(filters, self._status)
        return self._counts[filters]

    def by_status(self) -> Counter[str]:
        """Count the findings by status under the other filters."""
        return self._cells.by_status(self.filters)

    def by(self, column: Facet) -> Counter[str]:
        """Count the findings by the values of a column under the other filters."""
        return self._cells.by(column, self.filters.without(column), self._status)

    def by_assignee(self) -> list[tuple[str, int]]:
        """Return the people with most findings under the other filters, nobody, and the requested people."""
        counts = self.by("assignee")
        most = sorted(counts.keys() - {UNASSIGNED}, key=lambda person: (-counts[person], person))
        shown = [UNASSIGNED, *most[: contract_limits.MAX_ASSIGNEES], *(self.filters.assignee or ())]
        return [(person, counts[person]) for person in dict.fromkeys(shown)]

    def by_host(self) -> list[tuple[str, int]]:
        """Return the hosts with most findings under the other filters, then the requested hosts."""
        counts = self.by("host")
        most = sorted((host for host in counts if host), key=lambda host: (-counts[host], host))
        # dict.fromkeys keeps the order, and drops hosts that are in both lists.
        shown = dict.fromkeys([*most[: limits.MAX_HOSTS], *(self.filters.host or ())])
        return [(host, counts[host]) for host in shown]
