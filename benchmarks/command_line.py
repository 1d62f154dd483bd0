"""Command line, figures, goals and fair comparisons for every benchmark."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from timeit import repeat, timeit
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Measured number with an optional goal."""

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
        """Whether the figure meets its goal; None without a goal."""
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
        """Add a figure; rows and columns appear in the order of their first use."""
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


@dataclass(frozen=True, slots=True)
class PairedCosts:
    """Cost of each contender in each round; a slow moment of the machine affects all of a round alike."""

    rounds: Mapping[str, list[float]]

    def cost(self, name: str) -> float:
        """Return the median cost over all rounds."""
        return median(self.rounds[name])

    def ratio(self, name: str, base: str) -> float:
        """Return the median over all rounds of the ratio of two costs in the same round."""
        return median(cost / other for cost, other in zip(self.rounds[name], self.rounds[base], strict=True))


def compare(contenders: Mapping[str, Callable[[], float]], *, rounds: int) -> PairedCosts:
    """Run a burst of every contender in each round; a contender returns the cost of its burst."""
    costs: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, burst in contenders.items():
            costs[name].append(burst())
    return PairedCosts(costs)


def burst_of(call: Callable[[], object], *, seconds: float) -> Callable[[], float]:
    """Return a burst that lasts about ``seconds`` and returns the seconds of one call."""
    estimate = min(repeat(call, number=5, repeat=5)) / 5
    times = max(1, round(seconds / estimate))
    return lambda: timeit(call, number=times) / times


BACKENDS = ("sqlite", "postgresql")
ROUNDS, SHORT_ROUNDS = 15, 3
SHORT_SCALE = 0.01


class Unavailable(Exception):
    """A benchmark cannot run on this machine; the message says what is missing."""


def run(tables: Callable[..., Iterable[Table]], doc: str | None, *, backends: Sequence[str] = ()) -> None:
    """Measure as the command line says and print the tables; with ``backends``, run one process for each.

    ``tables`` takes ``rounds``, and with ``backends`` also ``backend`` and ``scale``.
    """
    arguments = _parser(doc, backends=backends).parse_args()
    options: dict[str, Any] = {"rounds": arguments.rounds or (SHORT_ROUNDS if arguments.short else ROUNDS)}
    if len(backends) > 1 and arguments.backend is None:
        module = sys.modules["__main__"].__spec__.name  # a process each: Django reads its settings once
        commands = [[module, *sys.argv[1:], "--backend", backend] for backend in BACKENDS]
        sys.exit(run_each(commands, as_json=arguments.json))
    if backends:
        scale = arguments.scale or (SHORT_SCALE if arguments.short else 1)
        options |= {"backend": arguments.backend or backends[0], "scale": scale}
    try:
        report(tables(**options), as_json=arguments.json)
    except Unavailable as error:
        print(f"Skipped: {error}", file=sys.stderr)
        if arguments.json:
            print("[]")


def run_each(commands: Sequence[Sequence[str]], *, as_json: bool) -> int:
    """Run modules one after another, each in its own process; return 1 if any failed, else 0."""
    figures: list[object] = []
    failed = False
    for arguments in commands:
        command = [sys.executable, "-m", *arguments]
        child = subprocess.run(command, stdout=subprocess.PIPE if as_json else None, check=False)  # noqa: S603
        failed = failed or child.returncode != 0
        if as_json and child.returncode == 0:
            figures += json.loads(child.stdout)
    if as_json:
        print(json.dumps(figures, indent=1))
    return int(failed)


def _parser(doc: str | None, *, backends: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print a list of figures instead of tables")
    parser.add_argument("--short", action="store_true", help="fewer rounds and less data")
    parser.add_argument(
        "--rounds", type=int, help=f"number of rounds (default: {ROUNDS}; {SHORT_ROUNDS} with --short)"
    )
    if backends:
        parser.add_argument("--backend", choices=backends, help="measure one database only (default: all)")
        parser.add_argument(
            "--scale",
            type=float,
            help="size of the data; 1 is 2,000,000 findings (default; 0.01 with --short)",
        )
    return parser
