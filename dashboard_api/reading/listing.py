"""What a request without words lists, counted beside the findings: exact, however many there are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dashboard_api.contract import DashboardRequest
from dashboard_api.queries import finding_rows
from dashboard_api.queries.finding_rows import Level, Threat
from dashboard_api.queries.overview import NO_FILTERS, Bucket, Engine, Filters
from dashboard_api.reading.facet_counts import Facet, Tally


class Listed:
    """The counts and pages of a request without words; the counts tell where a page begins."""

    def __init__(
        self,
        website_id: int,
        question: DashboardRequest,
        filters: Filters,
        buckets: Sequence[Bucket],
        tally: Tally,
    ) -> None:
        """``buckets`` are those with the requested status; ``tally`` counts all of them."""
        self._website_id = website_id
        self._question = question
        self._filters = filters
        self._buckets = buckets
        self._tallies = {NO_FILTERS: tally}

    def relation(self, *, without: Facet | None = None) -> Literal["exact"]:  # as every Counts
        """Return that the counts are exact."""
        return "exact"

    def listed(self) -> int:
        """Return how many findings the pages list."""
        return self.tally().total()

    def tally(self, *, without: Facet | None = None) -> Tally:
        """Return the counts of what passes the filters; one filter may be left out."""
        filters = self._filters if without is None else self._filters.without(without)
        if filters not in self._tallies:
            self._tallies[filters] = Tally.of(bucket for bucket in self._buckets if bucket.passes(filters))
        return self._tallies[filters]

    def source_ids(self) -> set[int]:
        """Return the engines that found something, whichever filters are set."""
        return self._tallies[NO_FILTERS].source_ids()

    def page(self, engines: Mapping[int, Engine]) -> list[Threat]:
        """Return the requested page, worst first."""
        narrow = self._filters.source_id is not None or self._filters.kind is not None
        by = ("status", "source_id", "kind") if narrow else ("status",)
        return finding_rows.page(self._website_id, list(self._levels()), engines, by=by)

    def _levels(self) -> Iterator[Level]:
        """Yield the parts of the page, worst first."""
        page_size = self._question.page_size
        above, wanted = (self._question.page - 1) * page_size, page_size
        for severity, findings in sorted(self.tally().by_severity.items(), reverse=True):
            if above < findings and wanted:
                take = min(wanted, findings - above)
                filters = self._filters._replace(severity=severity)
                matching = [bucket for bucket in self._buckets if bucket.passes(filters)]
                yield Level(severity, matching, skip=above, take=take)
                wanted -= take
            above = max(above - findings, 0)
