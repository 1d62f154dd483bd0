"""Cells: numbers of findings by a few columns. Every number of the dashboard is a sum of cells."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from dashboard_api.backends.statements import select
from dashboard_api.models.findings import Finding
from dashboard_api.reading.answered import Answered
from dashboard_api.reading.matching import NO_FILTERS, Filters, Match
from signed_api.findings import ALL

Facet = Literal["severity", "source_id", "kind", "host", "answer", "assignee", "due"]


class Cell(NamedTuple):
    """The number of findings with the same status, severity, source, kind, host, answer, assignee and day."""

    status: str
    severity: int
    source_id: int
    kind: str
    host: str
    answer: str
    assignee: str
    due: str
    findings: int

    def passes(self, filters: Filters) -> bool:
        """Return whether ``filters`` allow the findings."""
        return filters.allow(*self[1:-1])


_CELLS = """
SELECT status, severity, source_id, kind, host, {answered.answer}, {answered.assignee}, {answered.due},
    COUNT(*)
FROM {answered.tables_for_days} WHERE website_id = %s{match} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""


def read_cells(website_id: int, match: Match, answered: Answered) -> "Cells":
    """Return the cells of the website's findings that match, of any status."""
    condition, parameters = match.condition()
    statement = _CELLS.format(answered=answered, match=condition)
    found = select(Finding, statement, [website_id, *parameters])
    return Cells([Cell._make(row) for row in found])


class Counts:
    """The numbers of findings by severity, source and kind."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.by_source_and_severity: Counter[tuple[int, int]] = Counter()
        self.by_kind_and_severity: Counter[tuple[str, int]] = Counter()
        for _, severity, source_id, kind, *_, findings in cells:
            self.by_source_and_severity[source_id, severity] += findings
            self.by_kind_and_severity[kind, severity] += findings
        self.by_source: Counter[int] = Counter()
        self.by_severity: Counter[int] = Counter()
        self.by_kind: Counter[str] = Counter()
        for (source_id, severity), findings in self.by_source_and_severity.items():
            self.by_source[source_id] += findings
            self.by_severity[severity] += findings
        for (kind, _), findings in self.by_kind_and_severity.items():
            self.by_kind[kind] += findings

    def total(self) -> int:
        """Return the number of all findings."""
        return self.by_severity.total()


class Cells:
    """The cells of a whole website, or of the findings that match a request."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells

    @cached_property
    def _without_hosts(self) -> list[Cell]:
        """The cells added up over all hosts: far fewer, so most sums are fast."""
        sums: Counter[tuple[Any, ...]] = Counter()
        for *columns, _, answer, assignee, due, findings in self.cells:
            sums[*columns, "", answer, assignee, due] += findings
        return [Cell._make((*key, findings)) for key, findings in sums.items()]

    def counts(self, filters: Filters, status: str) -> Counts:
        """Count the findings with ``status`` that pass ``filters``."""
        return Counts(cell for cell in self._passing(filters) if status in (cell.status, ALL))

    def by_status(self, filters: Filters) -> Counter[str]:
        """Count the findings that pass ``filters`` by status."""
        counts: Counter[str] = Counter()
        for cell in self._passing(filters):
            counts[cell.status] += cell.findings
        return counts

    def by(self, column: Facet, filters: Filters, status: str) -> Counter[str]:
        """Count the findings with ``status`` that pass ``filters`` by the values of a column."""
        counts: Counter[str] = Counter()
        value_of = attrgetter(column)
        for cell in self._passing(filters, by_host=column == "host"):
            if status in (cell.status, ALL):
                counts[value_of(cell)] += cell.findings
        return counts

    def _passing(self, filters: Filters, *, by_host: bool = False) -> Iterable[Cell]:
        cells = self.cells if by_host or filters.host else self._without_hosts
        return cells if filters == NO_FILTERS else [cell for cell in cells if cell.passes(filters)]


class Day(NamedTuple):
    """The number of findings first seen or fixed on a day (UTC), by severity, source and kind."""

    is_fix: bool
    day: date
    severity: int
    source_id: int
    kind: str
    findings: int


# Cut the day from the text: on SQLite, Django's date functions run in Python for each row.
_DAY = "SUBSTR(CAST({column} AS text), 1, 10)"
_DAYS = f"""
SELECT 0, {_DAY.format(column="first_seen")} AS day, severity, source_id, kind, COUNT(*)
FROM dashboard_api_finding WHERE website_id = %(website)s AND first_seen >= %(first)s
GROUP BY day, severity, source_id, kind
UNION ALL
SELECT 1, {_DAY.format(column="fixed_at")} AS day, severity, source_id, kind, COUNT(*)
FROM dashboard_api_finding WHERE website_id = %(website)s AND fixed_at >= %(first)s
GROUP BY day, severity, source_id, kind
"""  # noqa: S608  # constant text
_OPEN_DAYS = f"""
SELECT {_DAY.format(column="first_seen")} AS day, COUNT(*) FROM dashboard_api_finding
WHERE website_id = %s AND status = 'open' GROUP BY day
"""  # noqa: S608  # constant text


def read_days(website_id: int, first: date) -> list[Day]:
    """Count the findings first seen or fixed on ``first`` or later by day; they can have any status."""
    found = select(Finding, _DAYS, {"website": website_id, "first": first.isoformat()})
    return [Day(bool(is_fix), date.fromisoformat(day), *rest) for is_fix, day, *rest in found]


def read_open_days(website_id: int) -> dict[date, int]:
    """Count the open findings by the day on which they were first seen."""
    return {date.fromisoformat(day): findings for day, findings in select(Finding, _OPEN_DAYS, [website_id])}
