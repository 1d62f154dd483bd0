"""Counts of findings by severity, source and kind: what totals, facets, charts and the grade are made of."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Literal, Protocol

from dashboard_api.contract import DashboardQuestion

Bucket = tuple[int, str, str, int]  # severity, source, kind, and how many findings
FILTERS = ("severity", "source", "kind")


class Counts(Protocol):
    """What can be counted under a question's filters."""

    @property
    def relation(self) -> Literal["exact", "at_least"]:
        """Of the counts to what there is."""

    def filtered(self, question: DashboardQuestion, *, without: str = "") -> "Tally":
        """The buckets that pass the question's filters, but for the one named ``without``."""

    def sources(self) -> set[str]:
        """Slugs of the engines that found something."""


class Tally:
    """How many findings fall into each bucket; every sum is made once, when it is first asked for."""

    relation: Literal["exact", "at_least"] = "exact"

    def __init__(self, buckets: Iterable[Bucket]) -> None:
        self.buckets = list(buckets)

    @cached_property
    def by_severity(self) -> Counter[int]:
        """None of what there is not."""
        sums: Counter[int] = Counter()
        for severity, _, _, count in self.buckets:
            sums[severity] += count
        return sums

    @cached_property
    def by_source(self) -> Counter[str]:
        """Likewise, by slug."""
        sums: Counter[str] = Counter()
        for _, source, _, count in self.buckets:
            sums[source] += count
        return sums

    @cached_property
    def by_kind(self) -> Counter[str]:
        """Likewise."""
        sums: Counter[str] = Counter()
        for _, _, kind, count in self.buckets:
            sums[kind] += count
        return sums

    @cached_property
    def by_source_and_severity(self) -> Counter[tuple[str, int]]:
        """Likewise."""
        sums: Counter[tuple[str, int]] = Counter()
        for severity, source, _, count in self.buckets:
            sums[source, severity] += count
        return sums

    def total(self) -> int:
        """All of them."""
        return self.by_severity.total()

    def sources(self) -> set[str]:
        """Slugs of the engines that found something."""
        return set(self.by_source)

    def filtered(self, question: DashboardQuestion, *, without: str = "") -> "Tally":
        """The buckets that pass the question's filters, but for the one named ``without``."""
        wanted = [
            (position, value)
            for position, name in enumerate(FILTERS)
            if name != without and (value := getattr(question, name)) is not None
        ]
        if not wanted:
            return self
        return Tally(
            bucket for bucket in self.buckets if all(bucket[position] == value for position, value in wanted)
        )
