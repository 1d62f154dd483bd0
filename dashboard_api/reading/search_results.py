"""The results of a search: counted exactly up to a bound, and listed beyond it."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest
from dashboard_api.queries import finding_rows
from dashboard_api.queries.finding_rows import Threat
from dashboard_api.queries.overview import Engine
from dashboard_api.queries.search import Matches, Sought, matches
from dashboard_api.reading.facet_counts import Tally
from foundation.words import words_of


class Found:
    """The counts and pages of a search; beyond the counted number, counts cover the worst matches only.

    A facet leaves its own filter out, so it is counted from a search of its own.
    """

    def __init__(self, website_id: int, question: DashboardRequest, sources: Iterable[Engine]) -> None:
        self._website_id = website_id
        self._question = question
        self._slugs = {source.pk: source.slug for source in sources}
        self._source_ids = {slug: number for number, slug in self._slugs.items()}
        self._matches: dict[DashboardRequest, Matches] = {}
        self._tallies: dict[DashboardRequest, Tally] = {}

    def relation(self, *, without: str = "") -> Literal["exact", "at_least"]:
        """Of the counts to what there is, under the filters but for the one named ``without``."""
        found = self._find(_without(without, self._question))
        return "at_least" if len(found.ids) > limits.MAX_COUNTED_MATCHES else "exact"

    def listed(self, question: DashboardRequest) -> int:
        """Return the number of known matches: all, or one more than are counted or listed up to this page."""
        return len(self._find(question).ids)

    def page(self, engines: Mapping[int, Engine]) -> list[Threat]:
        """Return the requested page, worst first."""
        end = self._question.page * self._question.page_size
        return finding_rows.threats(
            self._find(self._question).ids[end - self._question.page_size : end], engines
        )

    def sources(self) -> set[str]:
        """Slugs of the engines that found something, whichever engine was asked for."""
        asked = self._question
        return self.filtered(asked).sources() | self.filtered(asked, without="source").sources()

    def filtered(self, question: DashboardRequest, *, without: str = "") -> Tally:
        """What passes the question's filters, but for the one named ``without``."""
        asked = _without(without, question)
        if asked not in self._tallies:
            buckets = self._find(asked).counted(limits.MAX_COUNTED_MATCHES)
            self._tallies[asked] = Tally(
                (severity, self._slugs[source_id], kind, findings)
                for severity, source_id, kind, findings in buckets
            )
        return self._tallies[asked]

    def _find(self, question: DashboardRequest) -> Matches:
        """Return the worst matches: as many as are counted or listed, and one more if there are more."""
        if question not in self._matches:
            depth = question.page * question.page_size if question == self._question else 0
            sought = Sought(
                website_id=self._website_id,
                words=words_of(question.query),
                status=question.status,
                severity=question.severity,
                source_id=None if question.source is None else self._source_ids.get(question.source, 0),
                kind=question.kind,
            )
            self._matches[question] = matches(sought, limit=max(limits.MAX_COUNTED_MATCHES, depth) + 1)
        return self._matches[question]


def _without(name: str, question: DashboardRequest) -> DashboardRequest:
    return msgspec.structs.replace(question, **{name: None}) if name else question
