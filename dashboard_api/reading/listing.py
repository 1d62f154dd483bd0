"""The list of a request without a search, from stored counts: exact for any number of findings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dashboard_api.contract import DashboardRequest
from dashboard_api.models import Kind
from dashboard_api.queries import finding_rows
from dashboard_api.queries.finding_rows import PRIORITY, WORST_FIRST, Level, Threat
from dashboard_api.queries.overview import NO_FILTERS, Bucket, Filters, SourceRow
from dashboard_api.reading.facet_counts import Facet, FacetCounts


class Listing:
    """Counts and pages of a request without a search; the counts determine where a page begins."""

    def __init__(
        self,
        website_id: int,
        request: DashboardRequest,
        filters: Filters,
        buckets: Sequence[Bucket],
        all_counts: FacetCounts,
    ) -> None:
        """``buckets`` have the requested status; ``all_counts`` counts all of them."""
        self._website_id = website_id
        self._request = request
        self._filters = filters
        self._buckets = buckets
        self._facet_counts = {NO_FILTERS: all_counts}

    def relation(self, *, without: Facet | None = None) -> Literal["exact"]:  # as in Counts
        """Return that the counts are exact."""
        return "exact"

    def known_total(self) -> int:
        """Return the number of findings on all pages."""
        return self.facet_counts().total()

    def facet_counts(self, *, without: Facet | None = None) -> FacetCounts:
        """Return the counts of findings that pass the filters, optionally without one of them."""
        filters = self._filters if without is None else self._filters.without(without)
        if filters not in self._facet_counts:
            self._facet_counts[filters] = FacetCounts.of(
                bucket for bucket in self._buckets if bucket.passes(filters)
            )
        return self._facet_counts[filters]

    def source_ids(self) -> set[int]:
        """Return the ids of sources with findings; filters do not matter."""
        return self._facet_counts[NO_FILTERS].source_ids()

    def page(self, sources: Mapping[int, SourceRow]) -> list[Threat]:
        """Return the requested page in the requested order."""
        levels = list(self._levels() if self._request.sort in WORST_FIRST else self._whole())
        by = distinguishing_columns(self._request, self._filters)
        return finding_rows.page(self._website_id, levels, sources, by=by, sort=self._request.sort)

    def _levels(self) -> Iterator[Level]:
        """Yield the parts of the page, worst first."""
        page_size = self._request.page_size
        above, wanted = (self._request.page - 1) * page_size, page_size
        for findings, filters in self._parts():
            if above < findings and wanted:
                take = min(wanted, findings - above)
                yield Level(self._matching(filters), above, take)
                wanted -= take
            above = max(above - findings, 0)

    def _parts(self) -> Iterator[tuple[int, Filters]]:
        """Yield the number of findings and the filters of each severity, or of each of its kinds."""
        counts = self.facet_counts()
        for severity, findings in sorted(counts.by_severity.items(), reverse=True):
            filters = self._filters._replace(severity=(severity,))
            if self._request.sort != PRIORITY:
                yield findings, filters
                continue
            for kind in Kind.values:  # confirmed ones first
                yield counts.by_kind_and_severity[kind, severity], filters._replace(kind=(kind,))

    def _whole(self) -> Iterator[Level]:
        """Yield the page as one part of all severities, unless it is past the end."""
        page_size = self._request.page_size
        above = (self._request.page - 1) * page_size
        if above < self.known_total():
            yield Level(self._matching(self._filters), above, page_size)

    def _matching(self, filters: Filters) -> list[Bucket]:
        return [bucket for bucket in self._buckets if bucket.passes(filters)]


def distinguishing_columns(request: DashboardRequest, filters: Filters) -> list[str]:
    """Return the columns that tell apart the findings that an index has in the order of ids."""
    if filters.host:
        return ["host", "status", "severity", "source_id", "kind"]
    if request.problem:  # of one source
        by_kind = filters.kind is not None or request.sort == PRIORITY
        return ["status", "severity", "problem"] + (["kind"] if by_kind else [])
    narrow = filters.source_id is not None or filters.kind is not None or request.sort == PRIORITY
    return ["status", "severity", "source_id", "kind"] if narrow else ["status", "severity"]
