"""Fair comparison on a machine that others use, too: short bursts by turns, and medians of their ratios."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from timeit import repeat, timeit


@dataclass(frozen=True, slots=True)
class Paired:
    """What each contender cost in each round; a slow moment of the machine hits all of a round alike."""

    rounds: Mapping[str, list[float]]

    def cost(self, name: str) -> float:
        """The median over all rounds."""
        return median(self.rounds[name])

    def ratio(self, name: str, base: str) -> float:
        """The median of the rounds' own ratios."""
        return median(mine / other for mine, other in zip(self.rounds[name], self.rounds[base], strict=True))


def paired(contenders: Mapping[str, Callable[[], float]], *, rounds: int) -> Paired:
    """Ask every contender by turns for the cost of one burst of it."""
    costs: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, burst in contenders.items():
            costs[name].append(burst())
    return Paired(costs)


def burst_of(call: Callable[[], object], *, seconds: float) -> Callable[[], float]:
    """A burst of about that length, which answers with the seconds one call took."""
    warm = min(repeat(call, number=5, repeat=5)) / 5
    times = max(1, round(seconds / warm))
    return lambda: timeit(call, number=times) / times
