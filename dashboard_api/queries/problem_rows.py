"""The findings that describe a problem: a few of each severity, from one index.

Tests compare the statement with an equivalent query of the ORM. Decision record 0058.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from dashboard_api import limits
from dashboard_api.backends.statements import backend_for, moment, rows
from dashboard_api.models.findings import Finding
from dashboard_api.queries.finding_rows import NEWEST
from dashboard_api.queries.overview import ProblemTotals


class ProblemPart(NamedTuple):
    """The findings of a problem with one severity."""

    problem: str
    severity: int


class ProblemSample(NamedTuple):
    """A finding that describes its problem; ``fix_start`` is the start of its remediation."""

    pk: int
    problem: str
    severity: int
    kind: str
    title: str
    rule: str
    fix_start: str
    location: str
    first_seen: datetime


def samples(website_id: int, parts: Sequence[ProblemPart], *, statuses: Sequence[str]) -> list[ProblemSample]:
    """Return the newest findings of each part with one of ``statuses``, and the one that was stored first."""
    if not parts:
        return []
    newest, first = _ids(statuses, "id DESC LIMIT %(newest)s"), _ids(statuses, "id LIMIT 1")
    statement = backend_for(Finding).PROBLEM_SAMPLES.format(newest=newest, first=first)
    parameters = {
        "website": website_id,
        "parts": json.dumps(parts),
        "newest": limits.MAX_PROBLEM_SAMPLES,
        "fix": limits.MAX_FIX_START,
    }
    return [ProblemSample._make((*row[:-1], moment(row[-1]))) for row in rows(Finding, statement, parameters)]


def ends(
    website_id: int, parts: Sequence[ProblemPart], *, statuses: Sequence[str], sort: str
) -> dict[tuple[str, int], int]:
    """Return the id of the newest or the oldest finding of each problem and severity that has one."""
    first = _ids(statuses, "id DESC LIMIT 1" if sort == NEWEST else "id LIMIT 1")
    statement = backend_for(Finding).PROBLEM_ENDS.format(first=first)
    parameters = {"website": website_id, "parts": json.dumps(parts)}
    return {
        (problem, severity): end
        for problem, severity, end in rows(Finding, statement, parameters)
        if end is not None
    }


def _ids(statuses: Sequence[str], order: str) -> str:
    """Return a SELECT of the ids of a part that come first in an order, of those of each status."""
    part = backend_for(Finding).PART_OF_PROBLEM
    parts = (part.format(status=Finding.Status(status).value, order=order) for status in statuses)
    return f"{' UNION ALL '.join(parts)} ORDER BY {order}"


_TOTALS = """
SELECT severity, problem, source_id, SUM(CASE kind WHEN 'confirmed' THEN 1 ELSE 0 END),
    SUM(CASE kind WHEN 'suspected' THEN 1 ELSE 0 END),
    SUM(CASE kind WHEN 'informational' THEN 1 ELSE 0 END), SUM(locations_count), MAX(id), MIN(id)
FROM dashboard_api_finding WHERE id IN ({ids}) GROUP BY severity, problem, source_id
"""


def totals_of(ids: Sequence[int]) -> list[ProblemTotals]:
    """Count these findings by severity and problem."""
    statement = _TOTALS.format(ids=backend_for(Finding).NUMBERS)
    return [ProblemTotals._make(row) for row in rows(Finding, statement, [str(list(ids))])] if ids else []
