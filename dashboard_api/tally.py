"""Counts of findings by severity, source and kind: what totals, facets, charts and the grade are made of."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, Protocol, TypeVar

from dashboard_api.contract import DashboardQuestion
from dashboard_api.models import Kind, Severity

Key = TypeVar("Key")


class Bucket(NamedTuple):
    """One combination of the three filters."""

    severity: Severity
    source: str
    kind: Kind


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
    """How many findings fall into each bucket."""

    relation: Literal["exact", "at_least"] = "exact"

    def __init__(self, rows: Iterable[tuple[int, str, str, int]]) -> None:
        self.counts: Counter[Bucket] = Counter()
        for severity, source, kind, count in rows:
            self.counts[Bucket(Severity(severity), source, Kind(kind))] += count

    def total(self) -> int:
        """All of them."""
        return self.counts.total()

    def sources(self) -> set[str]:
        """Slugs of the engines that found something."""
        return {bucket.source for bucket in self.counts}

    def filtered(self, question: DashboardQuestion, *, without: str = "") -> "Tally":
        """The buckets that pass the question's filters, but for the one named ``without``."""
        wanted = {
            name: value
            for name in Bucket._fields
            if name != without and (value := getattr(question, name)) is not None
        }
        kept = Tally(())
        for bucket, count in self.counts.items():
            if all(getattr(bucket, name) == value for name, value in wanted.items()):
                kept.counts[bucket] = count
        return kept

    def by(self, key: Callable[[Bucket], Key]) -> Counter[Key]:
        """Counts regrouped by ``key``."""
        regrouped: Counter[Key] = Counter()
        for bucket, count in self.counts.items():
            regrouped[key(bucket)] += count
        return regrouped
