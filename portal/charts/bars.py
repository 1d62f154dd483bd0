"""Horizontal bars, plain or stacked: one row each, its label and amount above it."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.numbers import percent

ROW_HEIGHT = 36  # the style sheet lays a link of this height over each row
TEXT_BASELINE = 14
BAR_TOP = 21
BAR_HEIGHT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One number of a row, and the name by which the style sheet colours it."""

    tone: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part, drawn."""

    tone: str
    x: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A row, drawn."""

    text_y: str
    bar_y: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """All rows to one scale; widths in percent, heights in pixels, so that text never stretches."""

    height: str
    bar_height: str
    bars: tuple[Bar, ...]


def draw_bars(rows: Sequence[Sequence[Part]]) -> BarChart:
    """The longest row spans the width; parts of a row stand side by side."""
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
