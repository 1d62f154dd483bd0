"""Counts of findings by severity, source, kind and host, for totals, facets, charts and the grade."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, Protocol

from dashboard_api.queries.overview import Bucket

Cell = tuple[int, int, str, int, str]  # severity, source id, kind, how many findings, and their host
Facet = Literal["severity", "source_id", "kind", "host"]
# The columns of the filters by their names in the API.
FACETS: dict[Literal["severity", "source", "kind", "hosts"], Facet] = {
    "severity": "severity",
    "source": "source_id",
    "kind": "kind",
    "hosts": "host",
}


class Counts(Protocol):
    """The counts and the page of a request."""

    def relation(self, *, without: Facet | None = None) -> Literal["exact", "at_least"]:
        """Return whether the counts are exact, optionally without one filter."""

    def known_total(self) -> int:
        """Return the number of findings that the pages list, as far as it is known."""

    def facet_counts(self, *, without: Facet | None = None) -> "FacetCounts":
        """Return the counts of findings that pass the filters, optionally without one of them."""

    def source_ids(self) -> set[int]:
        """Return the ids of sources with findings; the filter by source does not matter."""


class FacetCounts:
    """Numbers of findings by severity, source and kind; each sum is computed once, on demand."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = list(cells)

    @classmethod
    def of(cls, buckets: Iterable[Bucket]) -> "FacetCounts":
        """Return the counts of buckets of any status."""
        return cls(bucket[1:6] for bucket in buckets)

    @cached_property
    def _sums(self) -> tuple[Counter[tuple[int, int]], Counter[tuple[str, int]]]:
        by_source: dict[tuple[int, int], int] = {}
        by_kind: dict[tuple[str, int], int] = {}
        for severity, source_id, kind, count, _ in self._cells:
            by_source[source_id, severity] = by_source.get((source_id, severity), 0) + count
            by_kind[kind, severity] = by_kind.get((kind, severity), 0) + count
        return Counter(by_source), Counter(by_kind)

    @property
    def by_source_and_severity(self) -> Counter[tuple[int, int]]:
        """Counts by source id and severity."""
        return self._sums[0]

    @property
    def by_kind_and_severity(self) -> Counter[tuple[str, int]]:
        """Counts by kind and severity, which decide the grade."""
        return self._sums[1]

    @cached_property
    def by_source(self) -> Counter[int]:
        """Counts by source id."""
        return _regrouped(self.by_source_and_severity, 0)

    @cached_property
    def by_kind(self) -> Counter[str]:
        """Counts by kind."""
        return _regrouped(self.by_kind_and_severity, 0)

    @cached_property
    def by_host(self) -> Counter[str]:
        """Counts by host, of the matches of a search."""
        counts: Counter[str] = Counter()
        for *_, count, host in self._cells:
            counts[host] += count
        return counts

    @cached_property
    def by_severity(self) -> Counter[int]:
        """Counts by severity."""
        return _regrouped(self.by_kind_and_severity, 1)

    def source_ids(self) -> set[int]:
        """Return the ids of sources with findings."""
        return set(self.by_source)

    def total(self) -> int:
        """Return the number of all findings."""
        return self.by_severity.total()


def _regrouped(sums: Counter[Any], position: int) -> Counter[Any]:
    regrouped: Counter[Any] = Counter()
    for key, count in sums.items():
        regrouped[key[position]] += count
    return regrouped
