"""Geometry of charts: frozen dataclasses of strings, which templates draw as inline SVG."""

from portal.charts.bars import Bar, BarChart, Part, Segment, draw_bars
from portal.charts.lines import Line, LineChart, Rule, Stroke, Tick, draw_lines
from portal.charts.steps import StepLine, draw_steps

__all__ = [
    "Bar",
    "BarChart",
    "Line",
    "LineChart",
    "Part",
    "Rule",
    "Segment",
    "StepLine",
    "Stroke",
    "Tick",
    "draw_bars",
    "draw_lines",
    "draw_steps",
]
