"""Geometry of charts: frozen dataclasses of strings that templates draw as inline SVG."""

from portal.charts.bars import bar_widths
from portal.charts.lines import Line, LineChart, Rule, Stroke, Tick, draw_layers, draw_lines
from portal.charts.steps import StepLine, draw_steps

__all__ = [
    "Line",
    "LineChart",
    "Rule",
    "StepLine",
    "Stroke",
    "Tick",
    "bar_widths",
    "draw_layers",
    "draw_lines",
    "draw_steps",
]
