"""The websites that are counted, with the few values of each that numbers are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foundation.regions import WORLD

SEVERITIES = ("High", "Medium", "Low")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedWebsite:
    """A website that is counted: what its accounts allow, and what holds of it.

    A set has an id if at least one finding is of this severity or category, so a website with a million
    findings counts as much as one with a single finding. ``found`` and ``fixed`` are about the last closed
    week.
    """

    number: int
    host: str
    accounts: frozenset[int]
    region: str = WORLD
    is_named: bool = False
    grade: str = ""  # empty: none yet
    open: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    days_to_fix: Mapping[str, int] = field(default_factory=dict)  # the median by severity
    engines: int = 0
    found: bool = False
    fixed: bool = False


Population = Sequence[CountedWebsite]
