"""Fair comparisons on a shared machine: short bursts in turn, and medians of the ratios of each round."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from timeit import repeat, timeit


@dataclass(frozen=True, slots=True)
class PairedCosts:
    """The cost of each contender in each round; a slow moment of the machine affects a whole round."""

    rounds: Mapping[str, list[float]]

    def cost(self, name: str) -> float:
        """Return the median cost over all rounds."""
        return median(self.rounds[name])

    def ratio(self, name: str, base: str) -> float:
        """Return the median over all rounds of the ratio of two costs in the same round."""
        return median(cost / other for cost, other in zip(self.rounds[name], self.rounds[base], strict=True))


def compare(contenders: Mapping[str, Callable[[], float]], *, rounds: int) -> PairedCosts:
    """Run a burst of every contender in each round; a contender returns the cost of its burst."""
    costs: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, burst in contenders.items():
            costs[name].append(burst())
    return PairedCosts(costs)


def burst_of(call: Callable[[], object], *, seconds: float) -> Callable[[], float]:
    """Return a burst of about this length, which returns the seconds of one call."""
    estimate = min(repeat(call, number=5, repeat=5)) / 5
    times = max(1, round(seconds / estimate))
    return lambda: timeit(call, number=times) / times
