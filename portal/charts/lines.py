"""Lines over time, to one scale, with horizontal rules and a few labels below."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts.numbers import ceiling, percent, plain

PLOT_TOP = 14
PLOT_HEIGHT = 148
LABELS_HEIGHT = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The values of one series, and the name by which the style sheet colours it."""

    tone: str
    values: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A horizontal line and the amount it stands for."""

    y: str
    text_y: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line, drawn: ``points`` in a square of 100 by 100 that is stretched; the last point apart.

    ``tail`` leads to the last point where its value may still grow, else it is empty.
    """

    tone: str
    points: str
    area: str
    tail: str
    end_x: str
    end_y: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A label below: which one, where, and to which side it hangs."""

    index: int
    x: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """Widths in percent, heights in pixels, so that text never stretches."""

    height: str
    plot_y: str
    plot_height: str
    label_y: str
    rules: tuple[Rule, ...]
    strokes: tuple[Stroke, ...]
    ticks: tuple[Tick, ...]


def draw_lines(lines: Sequence[Line], *, is_running: bool = False) -> LineChart:
    """Lines of equally many values, evenly spaced from edge to edge; ``is_running``: the last may grow."""
    top = ceiling(max((value for line in lines for value in line.values), default=0))
    positions = max((len(line.values) for line in lines), default=0)
    return LineChart(
        height=str(PLOT_TOP + PLOT_HEIGHT + LABELS_HEIGHT),
        plot_y=str(PLOT_TOP),
        plot_height=str(PLOT_HEIGHT),
        label_y=str(PLOT_TOP + PLOT_HEIGHT + LABELS_HEIGHT - 6),
        rules=tuple(_rule(amount, top) for amount in (top, top // 2, 0)),
        strokes=tuple(_stroke(line, top, is_running=is_running) for line in lines if line.values),
        ticks=_ticks(positions),
    )


def _rule(amount: int, top: int) -> Rule:
    y = PLOT_TOP + PLOT_HEIGHT * (1 - amount / top)
    return Rule(y=plain(y), text_y=plain(y + 4), amount=amount)


def _stroke(line: Line, top: int, *, is_running: bool) -> Stroke:
    heights = [100 * (1 - value / top) for value in line.values]
    places = [_place(index, len(heights)) for index in range(len(heights))]
    points = [f"{plain(x)},{plain(y)}" for x, y in zip(places, heights, strict=True)]
    full = len(points) - is_running
    return Stroke(
        tone=line.tone,
        points=" ".join(points[:full]),
        area=" ".join([f"{plain(places[0])},100", *points[:full], f"{plain(places[full - 1])},100"]),
        tail=" ".join(points[-2:]) if is_running else "",
        end_x=percent(places[-1], 100),
        end_y=plain(PLOT_TOP + PLOT_HEIGHT * heights[-1] / 100),
    )


def _place(index: int, positions: int) -> float:
    return 100 * index / (positions - 1) if positions > 1 else 50


def _ticks(positions: int) -> tuple[Tick, ...]:
    """The first label, the middle one and the last."""
    shown = sorted({0, (positions - 1) // 2, positions - 1}) if positions else []
    anchors = {0: "start", positions - 1: "end"} if positions > 1 else {}
    return tuple(
        Tick(index=index, x=percent(_place(index, positions), 100), anchor=anchors.get(index, "middle"))
        for index in shown
    )
