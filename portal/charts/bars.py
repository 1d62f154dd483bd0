"""Horizontal bars: one in each row, below its label and amount."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.numbers import percent

ROW_HEIGHT = 36
TEXT_BASELINE = 14
BAR_TOP = 21
BAR_HEIGHT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The positions of a row, and the width of its bar."""

    text_y: str
    bar_y: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """All rows in one scale; widths in percent, heights in pixels, so that text never stretches."""

    height: str
    bar_height: str
    bars: tuple[Bar, ...]


def draw_bars(values: Sequence[int]) -> BarChart:
    """Return a chart with a row for each of ``values``; the longest bar has the full width."""
    longest = max(values, default=0)
    return BarChart(
        height=str(ROW_HEIGHT * len(values)),
        bar_height=str(BAR_HEIGHT),
        bars=tuple(
            Bar(
                text_y=str(ROW_HEIGHT * index + TEXT_BASELINE),
                bar_y=str(ROW_HEIGHT * index + BAR_TOP),
                width=percent(value, longest),
            )
            for index, value in enumerate(values)
        ),
    )
