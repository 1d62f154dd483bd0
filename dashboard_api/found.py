"""What a question with words finds, and what each of its facets counts: the worst findings, up to a bound."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Literal

import msgspec

from dashboard_api import policy
from dashboard_api.contract import DashboardQuestion
from dashboard_api.models import reads
from dashboard_api.models.overview import Engine
from dashboard_api.models.reads import Threat
from dashboard_api.search import Matches, Sought, worst_matches
from dashboard_api.tally import Tally
from dashboard_api.words import words_of


class Found:
    """Counts like a ``Tally``; a facet, which leaves one filter out, finds its own worst."""

    def __init__(self, website_id: int, question: DashboardQuestion, sources: Iterable[Engine]) -> None:
        self._website_id = website_id
        self._question = question
        self._slugs = {source.pk: source.slug for source in sources}
        self._source_ids = {slug: number for number, slug in self._slugs.items()}
        self._matches: dict[DashboardQuestion, Matches] = {}
        self._tallies: dict[DashboardQuestion, Tally] = {}

    @property
    def _bound(self) -> int:
        """How many are counted and listed: all pages have the same, and larger ones more."""
        return policy.MAX_COUNTED_PAGES * max(self._question.page_size, policy.DEFAULT_PAGE_SIZE)

    def relation(self, *, without: str = "") -> Literal["exact", "at_least"]:
        """Of the counts to what there is, under the filters but for the one named ``without``."""
        found = self._find(_without(without, self._question))
        return "at_least" if len(found.ids) > self._bound else "exact"

    def page(self, engines: Mapping[int, Engine]) -> list[Threat]:
        """The page that is asked for, worst first."""
        start = (self._question.page - 1) * self._question.page_size
        counted = self._find(self._question).ids[: self._bound]
        return reads.threats(counted[start : start + self._question.page_size], engines)

    def sources(self) -> set[str]:
        """Slugs of the engines that found something, whichever engine was asked for."""
        asked = self._question
        return self.filtered(asked).sources() | self.filtered(asked, without="source").sources()

    def filtered(self, question: DashboardQuestion, *, without: str = "") -> Tally:
        """What passes the question's filters, but for the one named ``without``."""
        asked = _without(without, question)
        if asked not in self._tallies:
            _, *counted_by = self._find(asked)
            buckets = Counter(islice(zip(*counted_by, strict=True), self._bound))
            self._tallies[asked] = Tally(
                (severity, self._slugs[source_id], kind, count)
                for (severity, source_id, kind), count in buckets.items()
            )
        return self._tallies[asked]

    def _find(self, question: DashboardQuestion) -> Matches:
        """One match more than is counted tells that there are more."""
        if question not in self._matches:
            sought = Sought(
                website_id=self._website_id,
                words=words_of(question.query),
                status=question.status,
                severity=question.severity,
                source_id=None if question.source is None else self._source_ids.get(question.source, 0),
                kind=question.kind,
            )
            self._matches[question] = worst_matches(sought, limit=self._bound + 1)
        return self._matches[question]


def _without(name: str, question: DashboardQuestion) -> DashboardQuestion:
    return msgspec.structs.replace(question, **{name: None}) if name else question
