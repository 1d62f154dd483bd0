"""Geometry of charts: frozen dataclasses of strings, which templates draw as inline SVG."""

from portal.charts.bars import Bar, BarChart, draw_bars
from portal.charts.lines import Line, LineChart, Rule, Stroke, Tick, draw_layers, draw_lines
from portal.charts.steps import StepLine, draw_steps

__all__ = [
    "Bar",
    "BarChart",
    "Line",
    "LineChart",
    "Rule",
    "StepLine",
    "Stroke",
    "Tick",
    "draw_bars",
    "draw_layers",
    "draw_lines",
    "draw_steps",
]
