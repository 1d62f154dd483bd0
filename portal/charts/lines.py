"""Lines or stacked layers over time on one scale, with horizontal rules and a few labels below."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from portal.charts.numbers import ceiling, percent, plain

# Pixels
PLOT_TOP = 14
PLOT_HEIGHT = 148
LABELS_HEIGHT = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One series: its values, and ``tone``, the CSS class of its colour."""

    tone: str
    values: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A horizontal rule at ``amount``; ``y`` is in pixels."""

    y: str
    text_y: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line and the area below it, as points in a square of 100 by 100 that SVG stretches.

    ``tail`` is the last segment if its value may still grow, else empty. ``end_x`` (percent) and ``end_y``
    (pixels) are the position of the last point.
    """

    tone: str
    points: str
    area: str
    tail: str
    end_x: str
    end_y: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A label below the chart: its index, position and alignment."""

    index: int
    x: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """A chart with widths in percent and heights in pixels, so that text is never stretched."""

    height: str
    plot_y: str
    plot_height: str
    label_y: str
    plot_bottom: str
    rules: tuple[Rule, ...]
    strokes: tuple[Stroke, ...]
    ticks: tuple[Tick, ...]


def draw_lines(lines: Sequence[Line], *, is_running: bool = False) -> LineChart:
    """Return a chart of ``lines`` of one length; with ``is_running``, the last values may still grow."""
    top = ceiling(max((value for line in lines for value in line.values), default=0))
    return _chart(
        top,
        [_stroke(line, top, is_running=is_running) for line in lines if line.values],
        length=max((len(line.values) for line in lines), default=0),
    )


def draw_layers(lines: Sequence[Line]) -> LineChart:
    """Return a chart that stacks ``lines``, the first at the bottom."""
    sums = [[0] * len(lines[0].values)] if lines else []
    for line in lines:
        sums.append([below + value for below, value in zip(sums[-1], line.values, strict=True)])
    top = ceiling(max((value for values in sums for value in values), default=0))
    layers = [
        _layer(line.tone, lower, upper, top)
        for line, (lower, upper) in zip(lines, pairwise(sums), strict=True)
        if any(line.values)
    ]
    return _chart(top, layers, length=len(lines[0].values) if lines else 0)


def _layer(tone: str, lower: Sequence[int], upper: Sequence[int], top: int) -> Stroke:
    """Return the line of ``upper``, with the area between it and ``lower``."""
    upper_line = _stroke(Line(tone=tone, values=upper), top, is_running=False)
    lower_line = _stroke(Line(tone=tone, values=lower), top, is_running=False)
    return replace(upper_line, area=" ".join([upper_line.points, *reversed(lower_line.points.split())]))


def _chart(top: int, strokes: Sequence[Stroke], *, length: int) -> LineChart:
    """Return the chart; ``top`` is the amount at the upper end of its scale."""
    return LineChart(
        height=str(PLOT_TOP + PLOT_HEIGHT + LABELS_HEIGHT),
        plot_y=str(PLOT_TOP),
        plot_height=str(PLOT_HEIGHT),
        plot_bottom=str(PLOT_TOP + PLOT_HEIGHT),
        label_y=str(PLOT_TOP + PLOT_HEIGHT + LABELS_HEIGHT - 6),
        rules=tuple(_rule(amount, top) for amount in (top, top // 2, 0)),
        strokes=tuple(strokes),
        ticks=_ticks(length),
    )


def _rule(amount: int, top: int) -> Rule:
    y = PLOT_TOP + PLOT_HEIGHT * (1 - amount / top)
    return Rule(y=plain(y), text_y=plain(y + 4), amount=amount)


def _stroke(line: Line, top: int, *, is_running: bool) -> Stroke:
    heights = [100 * (1 - value / top) for value in line.values]
    positions = [_x(index, len(heights)) for index in range(len(heights))]
    points = [f"{plain(x)},{plain(y)}" for x, y in zip(positions, heights, strict=True)]
    solid = len(points) - 1 if is_running else len(points)  # points of the line without its tail
    return Stroke(
        tone=line.tone,
        points=" ".join(points[:solid]),
        area=" ".join([f"{plain(positions[0])},100", *points[:solid], f"{plain(positions[solid - 1])},100"]),
        tail=" ".join(points[-2:]) if is_running else "",
        end_x=percent(positions[-1], 100),
        end_y=plain(PLOT_TOP + PLOT_HEIGHT * heights[-1] / 100),
    )


def _x(index: int, length: int) -> float:
    return 100 * index / (length - 1) if length > 1 else 50


def _ticks(length: int) -> tuple[Tick, ...]:
    """Return ticks for the first, the middle and the last label."""
    shown = sorted({0, (length - 1) // 2, length - 1}) if length else []
    anchors = {0: "start", length - 1: "end"} if length > 1 else {}
    return tuple(
        Tick(index=index, x=percent(_x(index, length), 100), anchor=anchors.get(index, "middle"))
        for index in shown
    )
