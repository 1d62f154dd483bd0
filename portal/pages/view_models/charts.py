"""Charts of the whole website: geometry, labels, and the numbers as a table."""

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
SHOWN = ("open", "trend", "age")  # the page's charts in order


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRow:
    """One label of a chart and its numbers; ``is_running`` marks the current week, which may still grow."""

    label: str
    amounts: tuple[int, ...]
    is_running: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BarView:
    """One bar; ``url`` lists its findings, and is empty for a bar without findings."""

    key: str
    label: str
    amount: int
    width: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """The label of a series, the CSS class of its colour, and its last value."""

    label: str
    tone: str
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartView:
    """One chart: either ``bars``, or a ``line_chart`` with labelled ``ticks``.

    With ``is_layered``, the line chart stacks its lines.
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
        """The week of the numbers in the legend, such as "Week of 3 Nov"."""
        return _("Week of %(day)s") % {"day": self.rows[-1].label}

    @property
    def last_row(self) -> int:
        """The index of the last row."""
        return len(self.rows) - 1


def chart_views(charts: Iterable[Chart], page: Page, address: Address) -> tuple[ChartView, ...]:
    """Return the charts with numbers, only for the first page of an unfiltered list.

    Charts show the whole website; a reader who filters or turns pages wants the list.
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
    """Return the numbers at a label; a series that is too short counts as 0."""
    amounts = tuple(series.values[index] if index < len(series.values) else 0 for series in chart.series)
    week = _week(chart, index)
    if week is None:
        label = chart.labels[index]
        return ChartRow(label=labels.label(labels.AGES, label, label), amounts=amounts)
    is_running = week <= today < week + WEEK
    day = labels.day_and_month(week)
    label = _("%(day)s, so far") % {"day": day} if is_running else day
    return ChartRow(label=label, amounts=amounts, is_running=is_running)


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
    return ChartView(**_shared_fields(chart, rows), bars=tuple(bars))


def _line_view(chart: Chart, rows: Sequence[ChartRow]) -> ChartView:
    series = _legend(chart, rows)
    lines = [
        Line(tone=entry.tone, values=[row.amounts[number] for row in rows])
        for number, entry in enumerate(series)
    ]
    is_layered = chart.id == "open"
    line_chart = draw_layers(lines) if is_layered else draw_lines(lines, is_running=rows[-1].is_running)
    return ChartView(
        **_shared_fields(chart, rows),
        line_chart=line_chart,
        is_layered=is_layered,
        ticks=tuple((rows[tick.index].label, tick) for tick in line_chart.ticks),
    )


def _shared_fields(chart: Chart, rows: Sequence[ChartRow]) -> dict[str, Any]:
    """Return the fields of both kinds of charts; screen readers read the description."""
    series = _legend(chart, rows)
    names = "/".join(entry.label for entry in series)
    numbers = "; ".join(f"{row.label}: {'/'.join(map(number_format, row.amounts))}" for row in rows)
    return {
        "id": chart.id,
        "title": labels.label(labels.CHARTS, chart.id, chart.title),
        "description": _("%(series)s: %(numbers)s.") % {"series": names, "numbers": numbers},
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
    """Return the CSS class of a series: severities have their own, fixed is green, others are blue."""
    if name in labels.SEVERITIES:
        return labels.tone(name)
    return "fixed" if name == "Fixed" else "new"


def _week(chart: Chart, index: int) -> date | None:
    """Return the Monday of a label, if the chart counts by weeks."""
    if chart.id == "age":
        return None
    try:
        monday = date.fromisoformat(chart.labels[index])
        return (monday + WEEK) - WEEK  # raises in the calendar's last week, to which callers cannot add one
    except (ValueError, OverflowError):
        return None
