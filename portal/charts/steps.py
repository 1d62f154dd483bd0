"""A small step line of a value over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.numbers import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """The corners of a step line from left to right, in a square of 100 by 100 that SVG stretches."""

    corners: tuple[tuple[float, float], ...]

    @property
    def points(self) -> str:
        """The line as SVG points."""
        return " ".join(f"{plain(x)},{plain(y)}" for x, y in self.corners)

    @property
    def area(self) -> str:
        """The area below the line as SVG points."""
        return f"{plain(self.corners[0][0])},100 {self.points} 100,100"


def draw_steps(values: Sequence[tuple[int, float]], *, length: int) -> StepLine:
    """Return the step line of ``values``: pairs of a position (0 to ``length``) and a value (0 to 100).

    Values are sorted by position; the last value continues to the end.
    """
    corners: list[tuple[float, float]] = []
    for position, value in values:
        x = 100 * position / length
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, 100 - value))
    return StepLine(corners=(*corners, (100, corners[-1][1])))
