"""Charts of the service, ready to draw: geometry, labels, the URLs of the bars, and a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import msgspec
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal import labels
from portal.charts import Bar, BarChart, Line, LineChart, Part, Tick, draw_bars, draw_lines
from portal.forms import Filters
from portal.gateway.messages import Chart, Facets, FacetValue, Page, Series
from portal.page_urls import Address
from portal.view_models.filters import filter_label, worst_only_remark

WEEK = timedelta(days=7)
MAX_LABEL = 24  # characters that fit above a bar on the narrowest card


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRow:
    """One label of a chart and its numbers: for the table, the bar, and the link over the bar.

    ``is_dimmed``: the chart's filter has another value. ``is_running``: the week is not over, so its numbers
    may grow.
    """

    key: str
    label: str
    short_label: str
    amounts: tuple[int, ...]
    total: int
    url: str
    is_active: bool
    is_dimmed: bool
    is_running: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """The name of a series, and the tone of its line or bars."""

    label: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartView:
    """One chart: ``bars`` with their rows, or a ``line_chart`` with the labels of its ``ticks``.

    ``remark`` names the findings that are counted, unless that is all of them.
    """

    id: str
    title: str
    description: str
    series: tuple[LegendEntry, ...]
    rows: tuple[ChartRow, ...]
    remark: str = ""
    bar_chart: BarChart | None = None
    bars: tuple[tuple[ChartRow, Bar], ...] = ()
    line_chart: LineChart | None = None
    ticks: tuple[tuple[str, Tick], ...] = ()

    @property
    def has_legend(self) -> bool:
        """Whether the chart needs a legend, as several series do."""
        return len(self.series) > 1


def chart_views(charts: Iterable[Chart], page: Page, address: Address) -> tuple[ChartView, ...]:
    """Return the charts that are not empty; bars count the findings that ``page`` counts.

    The trend follows neither a problem nor days, so that it is left out with these filters.
    """
    filters = address.filters
    shown = [chart for chart in charts if chart.id != "trend" or not (filters.problem or filters.since)]
    views = (_chart_view(_with_facet_counts(chart, page, filters), page, address) for chart in shown)
    return tuple(view for view in views if view)


def _chart_view(chart: Chart, page: Page, address: Address) -> ChartView | None:
    if not any(any(series.values) for series in chart.series) or not chart.labels:
        return None
    today = page.generated_at.date()
    rows = [_row(chart, index, page.facets, address, today) for index in range(len(chart.labels))]
    if chart.type == "line":
        return _line_view(chart, rows, _trend_remark(address.filters, page.facets))
    remark = worst_only_remark(page.total) if page.total_relation == "at_least" else ""
    return _bar_view(chart, rows, remark)


def _with_facet_counts(chart: Chart, page: Page, filters: Filters) -> Chart:
    """Return ``chart``, with its facet's counts while its filter is set, so that other values can be chosen.

    In a bounded facet, a value with the count 0 may still have findings.
    """
    if chart.id in page.bounded_facets:
        return _without_zeros(chart)
    values = _facet_values(chart.id, page.facets)
    if not values or not getattr(filters, chart.id):
        return chart
    shown = [value for value in values if value.count or chart.id != "source"]
    return msgspec.structs.replace(
        chart,
        labels=[value.label for value in shown],
        series=[Series("Findings", [value.count for value in shown])],
    )


def _without_zeros(chart: Chart) -> Chart:
    indexes = [index for index in range(len(chart.labels)) if any(_values_at(chart, index))]
    return msgspec.structs.replace(
        chart,
        labels=[chart.labels[index] for index in indexes],
        series=[
            Series(series.name, [_values_at(chart, index)[number] for index in indexes])
            for number, series in enumerate(chart.series)
        ],
    )


def _values_at(chart: Chart, index: int) -> tuple[int, ...]:
    """Return the number of each series at a label; 0 if a series is too short."""
    return tuple(series.values[index] if index < len(series.values) else 0 for series in chart.series)


def _trend_remark(filters: Filters, facets: Facets) -> str:
    """Return which findings the trend counts: it follows the filters, but not the search."""
    if not filters.query:
        return ""
    source_names = {value.value: value.label for value in facets.source}
    values = [
        filter_label(name, value, source_names.get(value, value))
        for name in ("severity", "kind", "source")
        for value in filters.values(name)
    ]
    if not values:
        return _("All findings; the search does not apply here.")
    text = _("All findings (%(filters)s); the search does not apply here.")
    return text % {"filters": ", ".join(values)}


def _bar_view(chart: Chart, rows: Sequence[ChartRow], remark: str) -> ChartView:
    """Return a bar chart; a single series of severities has their tones, other series their own."""
    series = _legend(chart)
    by_label = chart.id == "severity" and len(series) == 1
    bar_chart = draw_bars(
        [
            [
                Part(tone=labels.tone(label) if by_label else entry.tone, value=amount)
                for entry, amount in zip(series, row.amounts, strict=True)
            ]
            for label, row in zip(chart.labels, rows, strict=True)
        ]
    )
    return ChartView(
        id=chart.id,
        title=labels.label(labels.CHARTS, chart.id, chart.title),
        description=_description(series, rows),
        series=series,
        rows=tuple(rows),
        remark=remark,
        bar_chart=bar_chart,
        bars=tuple(zip(rows, bar_chart.bars, strict=True)),
    )


def _line_view(chart: Chart, rows: Sequence[ChartRow], remark: str) -> ChartView:
    series = _legend(chart)
    lines = [
        Line(tone=entry.tone, values=[row.amounts[number] for row in rows])
        for number, entry in enumerate(series)
    ]
    line_chart = draw_lines(lines, is_running=rows[-1].is_running)
    return ChartView(
        id=chart.id,
        title=labels.label(labels.CHARTS, chart.id, chart.title),
        description=_description(series, rows),
        series=series,
        rows=tuple(rows),
        remark=remark,
        line_chart=line_chart,
        ticks=tuple((rows[tick.index].label, tick) for tick in line_chart.ticks),
    )


def _legend(chart: Chart) -> tuple[LegendEntry, ...]:
    return tuple(
        LegendEntry(
            label=labels.label(labels.SERIES, series.name, series.name), tone=_tone(series.name, number)
        )
        for number, series in enumerate(chart.series)
    )


def _tone(name: str, number: int) -> str:
    if name in labels.SEVERITIES:
        return labels.tone(name)
    return {"New": "new", "Fixed": "fixed"}.get(name, f"series-{number % 4 + 1}")


def _row(chart: Chart, index: int, facets: Facets, address: Address, today: date) -> ChartRow:
    value = _filter_value(chart.id, chart.labels[index], facets)
    week = _week(chart, index)
    is_running = week is not None and week <= today < week + WEEK
    label = _week_label(week, is_running=is_running) if week else _label(chart, index, value)
    amounts = _values_at(chart, index)
    chosen = address.filters.values(chart.id) if value else []
    is_active = value in chosen
    return ChartRow(
        key=f"segment-{chart.id}-{index}",
        label=label,
        short_label=label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…",
        amounts=amounts,
        total=sum(amounts),
        url=address.with_filters(**{chart.id: "" if chosen == [value] else value})
        if value and any(amounts)
        else "",
        is_active=is_active,
        is_dimmed=bool(chosen) and not is_active,
        is_running=is_running,
    )


def _filter_value(chart_id: str, label: str, facets: Facets) -> str:
    """Return the filter's value for this label; empty if the chart has no filter or the label no value."""
    values = _facet_values(chart_id, facets)
    return next((item.value for item in values if label in (item.value, item.label)), "")


def _facet_values(chart_id: str, facets: Facets) -> list[FacetValue]:
    """Return the values of the chart's filter; none if it has no filter."""
    return {"severity": facets.severity, "kind": facets.kind, "source": facets.source}.get(chart_id, [])


def _week(chart: Chart, index: int) -> date | None:
    """Return the Monday of a label of the trend; None for other labels."""
    try:
        week = date.fromisoformat(chart.labels[index]) if chart.id == "trend" else None
        return week if week and week + WEEK else None
    except (ValueError, OverflowError):  # not a date, or the last week of the calendar
        return None


def _week_label(week: date, *, is_running: bool) -> str:
    day = labels.day_and_month(week)
    return _("%(day)s, so far") % {"day": day} if is_running else day


def _label(chart: Chart, index: int, value: str) -> str:
    label = chart.labels[index]
    return filter_label(chart.id, value or label, label)


def _description(series: Sequence[LegendEntry], rows: Sequence[ChartRow]) -> str:
    """Return the numbers as a sentence, for screen readers."""
    names = "/".join(entry.label for entry in series)
    numbers = "; ".join(f"{row.label}: {'/'.join(map(number_format, row.amounts))}" for row in rows)
    return _("%(series)s: %(numbers)s.") % {"series": names, "numbers": numbers}
