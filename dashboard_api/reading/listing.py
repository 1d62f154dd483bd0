"""What a question without words lists, counted beside the findings: exact, however many there are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dashboard_api.contract import DashboardRequest
from dashboard_api.contract.requests import ALL
from dashboard_api.queries import finding_rows
from dashboard_api.queries.finding_rows import Level, Threat
from dashboard_api.queries.overview import Bucket, Engine
from dashboard_api.reading.facet_counts import Tally


class Listed:
    """Counts like a ``Tally``; and it knows from its counts where a page begins."""

    def __init__(
        self,
        website_id: int,
        question: DashboardRequest,
        source_id: int | None,
        buckets: Sequence[Bucket],
        tally: Tally,
    ) -> None:
        """``source_id`` is the engine asked for; ``tally`` counts the ``buckets`` of the status asked for."""
        self._website_id = website_id
        self._question = question
        self._source_id = source_id
        self._buckets = buckets
        self._tally = tally

    def relation(self, *, without: str = "") -> Literal["exact"]:
        """Of the counts to what there is."""
        return self._tally.relation(without=without)

    def listed(self, question: DashboardRequest) -> int:
        """Return how many findings the pages list."""
        return self._tally.listed(question)

    def filtered(self, question: DashboardRequest, *, without: str = "") -> Tally:
        """What passes the question's filters, but for the one named ``without``."""
        return self._tally.filtered(question, without=without)

    def sources(self) -> set[str]:
        """Slugs of the engines that found something."""
        return self._tally.sources()

    def page(self, engines: Mapping[int, Engine]) -> list[Threat]:
        """The page that is asked for, worst first."""
        asked = self._question
        narrow = asked.source is not None or asked.kind is not None
        by = ("status", "source_id", "kind") if narrow else ("status",)
        return finding_rows.page(self._website_id, list(self._levels()), engines, by=by)

    def _levels(self) -> Iterator[Level]:
        """The parts of the page, worst first."""
        asked = self._question
        above, wanted = (asked.page - 1) * asked.page_size, asked.page_size
        for severity, findings in sorted(self.filtered(asked).by_severity.items(), reverse=True):
            if above < findings and wanted:
                take = min(wanted, findings - above)
                yield Level(severity, self._matching(severity), skip=above, take=take)
                wanted -= take
            above = max(above - findings, 0)

    def _matching(self, severity: int) -> list[Bucket]:
        """Those of one severity that pass the other filters."""
        status, source_id, kind = self._question.status, self._source_id, self._question.kind
        return [
            bucket
            for bucket in self._buckets
            if bucket.severity == severity
            and status in (bucket.status, ALL)
            and source_id in (None, bucket.source_id)
            and kind in (None, bucket.kind)
        ]
