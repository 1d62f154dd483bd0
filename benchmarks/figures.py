"""Figures with their goals, printed as tables or as one JSON list."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A measured number with its goal, if it has one."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def goal(self) -> str | None:
        """The goal as a comparison, such as ``<= 2.2``."""
        if self.at_most is not None:
            return f"<= {self.at_most:,.4g}"
        return None if self.at_least is None else f">= {self.at_least:,.4g}"

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least

    def as_json(self) -> dict[str, object]:
        """Return the figure as an object of the JSON list."""
        return {
            "name": self.name,
            "value": round(self.value, 4),
            "unit": self.unit,
            "goal": self.goal,
            "met": self.met,
        }


@dataclass(slots=True)
class Table:
    """Figures in rows and columns under a title; ``note`` says how they were measured."""

    title: str
    note: str
    cells: dict[tuple[str, str], Figure] = field(default_factory=dict)

    def add(
        self,
        row: str,
        column: str,
        value: float,
        unit: str,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> None:
        """Add a figure; rows and columns appear in the order in which they are first named."""
        self.cells[row, column] = Figure(
            name=f"{self.title}: {row}, {column}",
            value=value,
            unit=unit,
            at_most=at_most,
            at_least=at_least,
        )

    def __str__(self) -> str:
        rows = list(dict.fromkeys(row for row, _ in self.cells))
        columns = list(dict.fromkeys(column for _, column in self.cells))
        lines = [["", *columns]]
        lines += [[row, *(_cell(self.cells.get((row, column))) for column in columns)] for row in rows]
        widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
        text = [self.title, self.note]
        for line in lines:
            cells = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
            text.append("  ".join([line[0].ljust(widths[0]), *cells]).rstrip())
        results = [figure.met for figure in self.cells.values() if figure.met is not None]
        if not all(results):
            text.append(f"Missed (!): {results.count(False)} of {len(results)} goals.")
        return "\n".join(text)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    unit = "" if figure.unit in ("times", "number") else f" {figure.unit}"
    goal = {None: "", True: f" ({figure.goal})", False: f" ({figure.goal}!)"}[figure.met]
    return f"{_number(figure.value)}{unit}{goal}"


def _number(value: float) -> str:
    """Return about three significant digits, never in exponent form."""
    if abs(value) >= 100 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"


def report(tables: Iterable[Table], *, as_json: bool) -> None:
    """Print each table as soon as it is measured, or all figures at the end as one JSON list."""
    figures: list[dict[str, object]] = []
    for table in tables:
        if as_json:
            figures += [figure.as_json() for figure in table.cells.values()]
        else:
            print(table, end="\n\n", flush=True)
    if as_json:
        print(json.dumps(figures, indent=1))
