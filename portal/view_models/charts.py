"""The service's charts, ready to draw: geometry, words, the addresses behind the bars, and a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import msgspec
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal import labels
from portal.charts import Bar, BarChart, Line, LineChart, Part, Tick, draw_bars, draw_lines
from portal.forms import Address, Filters
from portal.gateway.messages import Chart, Facets, FacetValue, Page, Series
from portal.view_models.filters import of_the_worst, value_word

WEEK = timedelta(days=7)
MAX_LABEL = 24  # characters that fit above a bar on the narrowest card


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
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
class Legend:
    """A series' name, and the tone in which it is drawn."""

    label: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One chart: ``bars`` beside their rows, or ``lines`` with ``ticks`` beside their labels.

    ``remark`` says of what its numbers are, where that is not everything.
    """

    id: str
    title: str
    description: str
    series: tuple[Legend, ...]
    rows: tuple[Row, ...]
    remark: str = ""
    bar_chart: BarChart | None = None
    bars: tuple[tuple[Row, Bar], ...] = ()
    line_chart: LineChart | None = None
    ticks: tuple[tuple[str, Tick], ...] = ()

    @property
    def has_legend(self) -> bool:
        """Several series need to be told apart."""
        return len(self.series) > 1


def drawings(charts: Iterable[Chart], page: Page, address: Address) -> tuple[Drawing, ...]:
    """The charts that have anything to show; those with bars are of the findings that ``page`` counts."""
    return tuple(
        drawing
        for chart in charts
        if (drawing := _drawing(_as_its_facet(chart, page, address.filters), page, address))
    )


def _drawing(chart: Chart, page: Page, address: Address) -> Drawing | None:
    if not any(any(series.values) for series in chart.series) or not chart.labels:
        return None
    today = page.generated_at.date()
    rows = [_row(chart, index, page.facets, address, today) for index in range(len(chart.labels))]
    if chart.type == "line":
        return _line_drawing(chart, rows, _of_which_history(address.filters, page.facets))
    return _bar_drawing(chart, rows, of_the_worst(page.total) if page.total_relation == "at_least" else "")


def _as_its_facet(chart: Chart, page: Page, filters: Filters) -> Chart:
    """Return ``chart``, with its facet's counts while its filter is set, so that other values can be chosen.

    Where the facet does not count everything, a value that counts 0 may still have findings.
    """
    if chart.id in page.bounded_facets:
        return _without_zeros(chart)
    values = _facet_values(chart.id, page.facets)
    if not values or not getattr(filters, chart.id):
        return chart
    counted = [value for value in values if value.count or chart.id != "source"]
    return msgspec.structs.replace(
        chart,
        labels=[value.label for value in counted],
        series=[Series("Findings", [value.count for value in counted])],
    )


def _without_zeros(chart: Chart) -> Chart:
    kept = [index for index in range(len(chart.labels)) if any(_values_at(chart, index))]
    return msgspec.structs.replace(
        chart,
        labels=[chart.labels[index] for index in kept],
        series=[
            Series(each.name, [_values_at(chart, index)[number] for index in kept])
            for number, each in enumerate(chart.series)
        ],
    )


def _values_at(chart: Chart, index: int) -> tuple[int, ...]:
    """The number of each series at a label; 0 where a series is shorter than the labels."""
    return tuple(series.values[index] if index < len(series.values) else 0 for series in chart.series)


def _of_which_history(filters: Filters, facets: Facets) -> str:
    """Say which findings the weeks count: they follow the filters, but never the search words."""
    if not filters.query:
        return ""
    names = {value.value: value.label for value in facets.source}
    chosen = [
        value_word(name, value, names.get(value, value))
        for name in ("severity", "kind", "source")
        if (value := getattr(filters, name))
    ]
    if not chosen:
        return _("All findings, without your search words.")
    return _("All findings (%(filters)s), without your search words.") % {"filters": ", ".join(chosen)}


def _bar_drawing(chart: Chart, rows: Sequence[Row], remark: str) -> Drawing:
    """A chart of one series about severities wears their tones, any other the tones of its series."""
    series = _series(chart)
    by_label = chart.id == "severity" and len(series) == 1
    drawn = draw_bars(
        [
            [
                Part(tone=labels.tone(label) if by_label else legend.tone, value=amount)
                for legend, amount in zip(series, row.amounts, strict=True)
            ]
            for label, row in zip(chart.labels, rows, strict=True)
        ]
    )
    return Drawing(
        id=chart.id,
        title=labels.word(labels.CHARTS, chart.id, chart.title),
        description=_description(series, rows),
        series=series,
        rows=tuple(rows),
        remark=remark,
        bar_chart=drawn,
        bars=tuple(zip(rows, drawn.bars, strict=True)),
    )


def _line_drawing(chart: Chart, rows: Sequence[Row], remark: str) -> Drawing:
    series = _series(chart)
    lines = [
        Line(tone=legend.tone, values=[row.amounts[number] for row in rows])
        for number, legend in enumerate(series)
    ]
    drawn = draw_lines(lines, is_running=rows[-1].is_running)
    return Drawing(
        id=chart.id,
        title=labels.word(labels.CHARTS, chart.id, chart.title),
        description=_description(series, rows),
        series=series,
        rows=tuple(rows),
        remark=remark,
        line_chart=drawn,
        ticks=tuple((rows[tick.index].label, tick) for tick in drawn.ticks),
    )


def _series(chart: Chart) -> tuple[Legend, ...]:
    return tuple(
        Legend(label=labels.word(labels.SERIES, series.name, series.name), tone=_tone(series.name, number))
        for number, series in enumerate(chart.series)
    )


def _tone(name: str, number: int) -> str:
    if name in labels.SEVERITIES:
        return labels.tone(name)
    return {"New": "new", "Fixed": "fixed"}.get(name, f"series-{number % 4 + 1}")


def _row(chart: Chart, index: int, facets: Facets, address: Address, today: date) -> Row:
    value = _filter_value(chart.id, chart.labels[index], facets)
    week = _week(chart, index)
    is_running = week is not None and week <= today < week + WEEK
    label = _week_label(week, is_running=is_running) if week else _label(chart, index, value)
    amounts = _values_at(chart, index)
    chosen = getattr(address.filters, chart.id) if value else ""
    is_active = bool(chosen) and chosen == value
    return Row(
        key=f"segment-{chart.id}-{index}",
        label=label,
        short_label=label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…",
        amounts=amounts,
        total=sum(amounts),
        url=address.to(**{chart.id: "" if is_active else value}) if value and any(amounts) else "",
        is_active=is_active,
        is_dimmed=bool(chosen) and not is_active,
        is_running=is_running,
    )


def _filter_value(chart_id: str, label: str, facets: Facets) -> str:
    """The value to filter by, where the chart is about a filter and the label one of its values."""
    known = _facet_values(chart_id, facets)
    return next((item.value for item in known if label in (item.value, item.label)), "")


def _facet_values(chart_id: str, facets: Facets) -> list[FacetValue]:
    """Return the values of the chart's filter; none where it has no filter."""
    return {"severity": facets.severity, "kind": facets.kind, "source": facets.source}.get(chart_id, [])


def _week(chart: Chart, index: int) -> date | None:
    """The Monday that a label of the trend stands for."""
    try:
        week = date.fromisoformat(chart.labels[index]) if chart.id == "trend" else None
        return week if week and week + WEEK else None
    except (ValueError, OverflowError):  # no date, or the last of the calendar
        return None


def _week_label(week: date, *, is_running: bool) -> str:
    day = labels.day_of_year(week)
    return _("%(day)s, so far") % {"day": day} if is_running else day


def _label(chart: Chart, index: int, value: str) -> str:
    label = chart.labels[index]
    return value_word(chart.id, value or label, label)


def _description(series: Sequence[Legend], rows: Sequence[Row]) -> str:
    """The numbers as a sentence, for those who do not see the drawing."""
    names = "/".join(legend.label for legend in series)
    numbers = "; ".join(f"{row.label}: {'/'.join(map(number_format, row.amounts))}" for row in rows)
    return _("%(series)s: %(numbers)s.") % {"series": names, "numbers": numbers}
