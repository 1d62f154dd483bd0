"""Horizontal bars on one scale."""

from collections.abc import Sequence

from portal.charts.numbers import percent


def bar_widths(values: Sequence[int]) -> tuple[str, ...]:
    """Return the width of each value's bar in percent of the longest bar."""
    longest = max(values, default=0)
    return tuple(percent(value, longest) for value in values)
