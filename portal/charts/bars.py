"""Horizontal bars, plain or stacked: one in each row, below its label and amount."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.numbers import percent

ROW_HEIGHT = 36  # the style sheet places a link of this height over each row
TEXT_BASELINE = 14
BAR_TOP = 21
BAR_HEIGHT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One number of a row, and the CSS class of its colour."""

    tone: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The rectangle of a part."""

    tone: str
    x: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The positions of a row, and its segments."""

    text_y: str
    bar_y: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """All rows in one scale; widths in percent, heights in pixels, so that text never stretches."""

    height: str
    bar_height: str
    bars: tuple[Bar, ...]


def draw_bars(rows: Sequence[Sequence[Part]]) -> BarChart:
    """Return a chart of ``rows``; the longest row has the full width, its parts are side by side."""
    longest = max((sum(part.value for part in row) for row in rows), default=0)
    return BarChart(
        height=str(ROW_HEIGHT * len(rows)),
        bar_height=str(BAR_HEIGHT),
        bars=tuple(_bar(index, row, longest) for index, row in enumerate(rows)),
    )


def _bar(index: int, row: Sequence[Part], longest: int) -> Bar:
    segments = []
    start = 0
    for part in row:
        if part.value:
            segments.append(
                Segment(tone=part.tone, x=percent(start, longest), width=percent(part.value, longest))
            )
        start += part.value
    return Bar(
        text_y=str(ROW_HEIGHT * index + TEXT_BASELINE),
        bar_y=str(ROW_HEIGHT * index + BAR_TOP),
        segments=tuple(segments),
    )
