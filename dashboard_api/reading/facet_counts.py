"""Counts of findings by severity, source and kind: what totals, facets, charts and the grade are made of."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, Protocol

from dashboard_api.contract import DashboardRequest

Bucket = tuple[int, str, str, int]  # severity, source, kind, and how many findings
FILTERS: tuple[Literal["severity", "source", "kind"], ...] = ("severity", "source", "kind")


class Counts(Protocol):
    """What can be counted under a question's filters."""

    def relation(self, *, without: str = "") -> Literal["exact", "at_least"]:
        """Of the counts to what there is, under the filters but for the one named ``without``."""

    def listed(self, question: DashboardRequest) -> int:
        """Return how many findings the pages are known to list."""

    def filtered(self, question: DashboardRequest, *, without: str = "") -> "Tally":
        """The buckets that pass the question's filters, but for the one named ``without``."""

    def sources(self) -> set[str]:
        """Slugs of the engines that found something."""


class Tally:
    """How many findings fall into each bucket; every sum is made once, when it is first asked for."""

    def __init__(self, buckets: Iterable[Bucket]) -> None:
        self.buckets = list(buckets)
        self._narrowed: dict[tuple[int, int | str], Tally] = {}

    def relation(self, *, without: str = "") -> Literal["exact"]:
        """Of the counts to what there is."""
        return "exact"

    @cached_property
    def _sums(self) -> tuple[Counter[tuple[str, int]], Counter[tuple[str, int]]]:
        by_source: dict[tuple[str, int], int] = {}
        by_kind: dict[tuple[str, int], int] = {}
        for severity, source, kind, count in self.buckets:
            by_source[source, severity] = by_source.get((source, severity), 0) + count
            by_kind[kind, severity] = by_kind.get((kind, severity), 0) + count
        return Counter(by_source), Counter(by_kind)

    @property
    def by_source_and_severity(self) -> Counter[tuple[str, int]]:
        """None of what there is not; and so below."""
        return self._sums[0]

    @property
    def by_kind_and_severity(self) -> Counter[tuple[str, int]]:
        """What the grade is made of."""
        return self._sums[1]

    @cached_property
    def by_source(self) -> Counter[str]:
        """By slug."""
        return _regrouped(self.by_source_and_severity, 0)

    @cached_property
    def by_kind(self) -> Counter[str]:
        """All severities."""
        return _regrouped(self.by_kind_and_severity, 0)

    @cached_property
    def by_severity(self) -> Counter[int]:
        """All sources and kinds."""
        return _regrouped(self.by_kind_and_severity, 1)

    def total(self) -> int:
        """All of them."""
        return self.by_severity.total()

    def listed(self, question: DashboardRequest) -> int:
        """Return how many findings the pages list."""
        return self.filtered(question).total()

    def sources(self) -> set[str]:
        """Slugs of the engines that found something."""
        return set(self.by_source)

    def filtered(self, question: DashboardRequest, *, without: str = "") -> "Tally":
        """The buckets that pass the question's filters, but for the one named ``without``."""
        tally = self
        for position, name in enumerate(FILTERS):
            if name != without and (value := getattr(question, name)) is not None:
                tally = tally._only(position, value)
        return tally

    def _only(self, position: int, value: int | str) -> "Tally":
        if (position, value) not in self._narrowed:
            self._narrowed[position, value] = Tally(
                [bucket for bucket in self.buckets if bucket[position] == value]
            )
        return self._narrowed[position, value]


def _regrouped(sums: Counter[tuple[str, int]], position: int) -> Counter[Any]:
    regrouped: Counter[Any] = Counter()
    for key, count in sums.items():
        regrouped[key[position]] += count
    return regrouped
