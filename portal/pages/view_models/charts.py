"""Charts of the whole website, ready to draw: geometry, labels, and the numbers as a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal.charts import Line, LineChart, Tick, bar_widths, draw_layers, draw_lines
from portal.pages.urls import Address
from portal.texts import labels
from signed_api.findings import Chart, Page

WEEK = timedelta(days=7)
SHOWN = ("open", "trend", "age")  # the charts of the page, in their order


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRow:
    """One label of a chart and its numbers. ``is_running``: the week is not over, so its numbers may grow."""

    label: str
    amounts: tuple[int, ...]
    is_running: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BarView:
    """One bar; ``url`` lists its findings, and is empty if it has none."""

    key: str
    label: str
    amount: int
    width: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """The name of a series, the tone of its line or layer, and its last value."""

    label: str
    tone: str
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartView:
    """One chart: ``bars``, or a ``line_chart`` with the labels of its ``ticks``.

    ``is_layered``: the lines of the line chart are layers on top of each other.
    """

    id: str
    title: str
    description: str
    series: tuple[LegendEntry, ...]
    rows: tuple[ChartRow, ...]
    bars: tuple[BarView, ...] = ()
    line_chart: LineChart | None = None
    is_layered: bool = False
    ticks: tuple[tuple[str, Tick], ...] = ()

    @property
    def latest(self) -> str:
        """The week of the numbers in the legend, in words."""
        return _("Week of %(day)s") % {"day": self.rows[-1].label}

    @property
    def last_row(self) -> int:
        """The index of the last row."""
        return len(self.rows) - 1


def chart_views(charts: Iterable[Chart], page: Page, address: Address) -> tuple[ChartView, ...]:
    """Return the charts that are not empty; none where the list is filtered or on a later page.

    The charts show the whole website, and a reader who narrows the list wants the list.
    """
    if address.filters.active or address.filters.page > 1:
        return ()
    by_id = {chart.id: chart for chart in charts}
    today = page.generated_at.date()
    views = (_chart_view(by_id[name], today, address) for name in SHOWN if name in by_id)
    return tuple(view for view in views if view)


def _chart_view(chart: Chart, today: date, address: Address) -> ChartView | None:
    if not any(any(series.values) for series in chart.series) or not chart.labels:
        return None
    rows = [_row(chart, index, today) for index in range(len(chart.labels))]
    if chart.id == "age":
        return _bar_view(chart, rows, address)
    return _line_view(chart, rows) if len(rows) > 1 else None


def _row(chart: Chart, index: int, today: date) -> ChartRow:
    """Return the numbers at a label; 0 if a series is too short."""
    amounts = tuple(series.values[index] if index < len(series.values) else 0 for series in chart.series)
    week = _week(chart, index)
    if week is None:
        label = chart.labels[index]
        return ChartRow(label=labels.label(labels.AGES, label, label), amounts=amounts)
    is_running = week <= today < week + WEEK
    return ChartRow(label=_week_label(week, is_running=is_running), amounts=amounts, is_running=is_running)


def _bar_view(chart: Chart, rows: Sequence[ChartRow], address: Address) -> ChartView:
    amounts = [sum(row.amounts) for row in rows]
    periods = [labels.AGE_PERIODS.get(label, "") for label in chart.labels]
    bars = (
        BarView(
            key=f"age-{period}",
            label=row.label,
            amount=amount,
            width=width,
            url=address.with_filters(since=period) if period and amount else "",
        )
        for row, amount, width, period in zip(rows, amounts, bar_widths(amounts), periods, strict=True)
    )
    return ChartView(**_common(chart, rows), bars=tuple(bars))


def _line_view(chart: Chart, rows: Sequence[ChartRow]) -> ChartView:
    series = _legend(chart, rows)
    lines = [
        Line(tone=entry.tone, values=[row.amounts[number] for row in rows])
        for number, entry in enumerate(series)
    ]
    is_layered = chart.id == "open"
    line_chart = draw_layers(lines) if is_layered else draw_lines(lines, is_running=rows[-1].is_running)
    return ChartView(
        **_common(chart, rows),
        line_chart=line_chart,
        is_layered=is_layered,
        ticks=tuple((rows[tick.index].label, tick) for tick in line_chart.ticks),
    )


def _common(chart: Chart, rows: Sequence[ChartRow]) -> dict[str, Any]:
    series = _legend(chart, rows)
    return {
        "id": chart.id,
        "title": labels.label(labels.CHARTS, chart.id, chart.title),
        "description": _description(series, rows),
        "series": series,
        "rows": tuple(rows),
    }


def _legend(chart: Chart, rows: Sequence[ChartRow]) -> tuple[LegendEntry, ...]:
    return tuple(
        LegendEntry(
            label=labels.label(labels.SERIES, series.name, series.name), tone=_tone(series.name), last=last
        )
        for series, last in zip(chart.series, rows[-1].amounts, strict=True)
    )


def _tone(name: str) -> str:
    """Return the CSS class of a series: severities have their colours, fixed is green, and the rest blue."""
    if name in labels.SEVERITIES:
        return labels.tone(name)
    return "fixed" if name == "Fixed" else "new"


def _week(chart: Chart, index: int) -> date | None:
    """Return the Monday of a label of weeks; None for other labels."""
    try:
        week = None if chart.id == "age" else date.fromisoformat(chart.labels[index])
        return week if week and week + WEEK else None
    except (ValueError, OverflowError):  # not a date, or the last week of the calendar
        return None


def _week_label(week: date, *, is_running: bool) -> str:
    day = labels.day_and_month(week)
    return _("%(day)s, so far") % {"day": day} if is_running else day


def _description(series: Sequence[LegendEntry], rows: Sequence[ChartRow]) -> str:
    """Return the numbers as a sentence, for screen readers."""
    names = "/".join(entry.label for entry in series)
    numbers = "; ".join(f"{row.label}: {'/'.join(map(number_format, row.amounts))}" for row in rows)
    return _("%(series)s: %(numbers)s.") % {"series": names, "numbers": numbers}
