"""What a question without words lists, counted beside the findings: exact, however many there are."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

from dashboard_api.contract import DashboardQuestion
from dashboard_api.models import reads
from dashboard_api.models.reads import Bucket, Engine, Level
from dashboard_api.tally import Tally

DEEP = 500  # findings above a page of the same severity; more are worth a look at where it begins


class Listed:
    """Counts like a ``Tally``; and it knows from its counts where a page begins."""

    relation: Literal["exact"] = "exact"

    def __init__(
        self,
        website_id: int,
        question: DashboardQuestion,
        buckets: Sequence[Bucket],
        engines: Mapping[int, Engine],
    ) -> None:
        self._website_id = website_id
        self._question = question
        self._engines = engines
        self._buckets = [bucket for bucket in buckets if question.status in (bucket.status, "all")]
        self._tally = tally_of(self._buckets, engines)

    def filtered(self, question: DashboardQuestion, *, without: str = "") -> Tally:
        """What passes the question's filters, but for the one named ``without``."""
        return self._tally.filtered(question, without=without)

    def sources(self) -> set[str]:
        """Slugs of the engines that found something."""
        return self._tally.sources()

    def page(self) -> list[int]:
        """Ids of the page that is asked for, in no order."""
        asked = self._question
        levels = list(self._levels())
        if levels and levels[0].skip >= DEEP:
            source_id = None if asked.source is None else levels[0].buckets[0].source_id
            levels[0] = reads.narrowed(self._website_id, levels[0], source_id=source_id, kind=asked.kind)
        narrow = asked.source is not None or asked.kind is not None
        return reads.page_ids(
            self._website_id, levels, by=("status", "source_id", "kind") if narrow else ("status",)
        )

    def _levels(self) -> Iterator[Level]:
        """The parts of the page, worst first."""
        asked = self._question
        above, wanted = (asked.page - 1) * asked.page_size, asked.page_size
        matching = sorted((bucket for bucket in self._buckets if self._passes(bucket)), key=_worst_first)
        for _, group in groupby(matching, key=_worst_first):
            buckets = list(group)
            findings = sum(bucket.findings for bucket in buckets)
            if above < findings and wanted:
                take = min(wanted, findings - above)
                yield Level(buckets[0].severity, buckets, skip=above, take=take)
                wanted -= take
            above = max(above - findings, 0)

    def _passes(self, bucket: Bucket) -> bool:
        asked = self._question
        return (
            asked.severity in (None, bucket.severity)
            and asked.source in (None, self._engines[bucket.source_id].slug)
            and asked.kind in (None, bucket.kind)
        )


def tally_of(buckets: Sequence[Bucket], engines: Mapping[int, Engine]) -> Tally:
    """The same counts by the engines' slugs, whatever the status."""
    return Tally(
        (severity, engines[source_id].slug, kind, findings)
        for _, severity, source_id, kind, findings in buckets
    )


def _worst_first(bucket: Bucket) -> int:
    return -bucket.severity
