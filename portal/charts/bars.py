"""Horizontal bars in one scale."""

from collections.abc import Sequence

from portal.charts.numbers import percent


def bar_widths(values: Sequence[int]) -> tuple[str, ...]:
    """Return the width of the bar of each value in percent; the longest bar has the full width."""
    longest = max(values, default=0)
    return tuple(percent(value, longest) for value in values)
