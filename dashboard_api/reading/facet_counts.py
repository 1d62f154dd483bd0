"""Counts of findings by severity, source and kind: what totals, facets, charts and the grade are made of."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, Protocol

from dashboard_api.queries.overview import Bucket

Cell = tuple[int, int, str, int]  # severity, source id, kind, and how many findings
Facet = Literal["severity", "source_id", "kind"]
# The columns of the filters by their names in requests and answers.
FACETS: dict[Literal["severity", "source", "kind"], Facet] = {
    "severity": "severity",
    "source": "source_id",
    "kind": "kind",
}


class Counts(Protocol):
    """What is counted and listed for a request."""

    def relation(self, *, without: Facet | None = None) -> Literal["exact", "at_least"]:
        """Return whether the counts are exact; one filter may be left out."""

    def listed(self) -> int:
        """Return how many findings the pages are known to list."""

    def tally(self, *, without: Facet | None = None) -> "Tally":
        """Return the counts of what passes the filters; one filter may be left out."""

    def source_ids(self) -> set[int]:
        """Return the engines that found something, whichever engine is asked for."""


class Tally:
    """How many findings there are by severity, source and kind; every sum is made once, when it is needed."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = list(cells)

    @classmethod
    def of(cls, buckets: Iterable[Bucket]) -> "Tally":
        """Return the counts of buckets, whatever their status."""
        return cls(bucket[1:] for bucket in buckets)

    @cached_property
    def _sums(self) -> tuple[Counter[tuple[int, int]], Counter[tuple[str, int]]]:
        by_source: dict[tuple[int, int], int] = {}
        by_kind: dict[tuple[str, int], int] = {}
        for severity, source_id, kind, count in self._cells:
            by_source[source_id, severity] = by_source.get((source_id, severity), 0) + count
            by_kind[kind, severity] = by_kind.get((kind, severity), 0) + count
        return Counter(by_source), Counter(by_kind)

    @property
    def by_source_and_severity(self) -> Counter[tuple[int, int]]:
        """Pairs of source id and severity."""
        return self._sums[0]

    @property
    def by_kind_and_severity(self) -> Counter[tuple[str, int]]:
        """Pairs of kind and severity: what the grade is made of."""
        return self._sums[1]

    @cached_property
    def by_source(self) -> Counter[int]:
        """All severities and kinds, by source id."""
        return _regrouped(self.by_source_and_severity, 0)

    @cached_property
    def by_kind(self) -> Counter[str]:
        """All severities and sources."""
        return _regrouped(self.by_kind_and_severity, 0)

    @cached_property
    def by_severity(self) -> Counter[int]:
        """All sources and kinds."""
        return _regrouped(self.by_kind_and_severity, 1)

    def source_ids(self) -> set[int]:
        """Return the engines that found something."""
        return set(self.by_source)

    def total(self) -> int:
        """Return the number of all findings."""
        return self.by_severity.total()


def _regrouped(sums: Counter[Any], position: int) -> Counter[Any]:
    regrouped: Counter[Any] = Counter()
    for key, count in sums.items():
        regrouped[key[position]] += count
    return regrouped
