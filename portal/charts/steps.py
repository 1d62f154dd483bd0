"""A small line of a value that stays the same until it changes."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.numbers import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """The corners of the line, from left to right, in a square of 100 by 100 that is stretched."""

    corners: tuple[tuple[float, float], ...]

    @property
    def points(self) -> str:
        """The line for SVG."""
        return " ".join(f"{plain(x)},{plain(y)}" for x, y in self.corners)

    @property
    def area(self) -> str:
        """The area below the line for SVG."""
        return f"{plain(self.corners[0][0])},100 {self.points} 100,100"


def draw_steps(values: Sequence[tuple[int, float]], *, length: int) -> StepLine:
    """Return the line of ``values``, each with its position from 0 to ``length``, oldest first.

    Values are 0 to 100; the last one lasts until the end.
    """
    corners: list[tuple[float, float]] = []
    for position, value in values:
        x = 100 * position / length
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, 100 - value))
    return StepLine(corners=(*corners, (100, corners[-1][1])))
