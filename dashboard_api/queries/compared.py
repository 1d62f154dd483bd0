"""Reads what two runs of a scanner are compared by: changed findings, their events, and what stayed open."""

from collections.abc import Sequence
from typing import NamedTuple

from dashboard_api.backends.statements import placeholders, select
from dashboard_api.models.findings import Finding


class ChangedFinding(NamedTuple):
    """A finding that was added or had an event after the earlier run, with its present values."""

    id: int
    severity: int
    problem: str
    has_rule: bool


class Step(NamedTuple):
    """An event of a finding, like ``FindingEvent``."""

    finding_id: int
    id: int
    event: str
    decision_id: int | None
    severity_before: int | None


class Texts(NamedTuple):
    """The texts of a finding in a group."""

    id: int
    title: str
    location: str
    rule: str
    problem: str


_CHANGED = """
SELECT id, severity, problem, rule <> '' FROM dashboard_api_finding
WHERE website_id = %(website)s AND source_id = %(source)s AND id <= %(until)s AND (id > %(after)s OR id IN
(SELECT finding_id FROM dashboard_api_findingevent WHERE website_id = %(website)s AND id > %(event)s))
"""


def changed(
    website_id: int, source_id: int, *, after: int, until: int, after_event: int
) -> list[ChangedFinding]:
    """Return the findings up to ``until`` that came after ``after``, or have an event after ``after_event``.

    All others have the same state since the earlier run.
    """
    parameters = {
        "website": website_id,
        "source": source_id,
        "after": after,
        "until": until,
        "event": after_event,
    }
    return [
        ChangedFinding(pk, severity, problem, bool(has_rule))
        for pk, severity, problem, has_rule in select(Finding, _CHANGED, parameters)
    ]


_STEPS = """
SELECT finding_id, step.id, event, decision_id, severity_before FROM dashboard_api_findingevent AS step
JOIN dashboard_api_finding AS finding ON finding.id = finding_id
WHERE finding_id IN
(SELECT finding_id FROM dashboard_api_findingevent WHERE website_id = %s AND id > %s)
AND finding.source_id = %s ORDER BY finding_id, step.id
"""


def steps(website_id: int, source_id: int, *, after_event: int) -> list[Step]:
    """Return all events of the findings that have one after ``after_event``, by finding and in order."""
    parameters = [website_id, after_event, source_id]
    return [Step._make(row) for row in select(Finding, _STEPS, parameters)]


_OPEN = """
SELECT id, severity FROM dashboard_api_finding
WHERE website_id = %s AND status = 'open' AND source_id = %s AND id <= %s
"""


def open_now(website_id: int, source_id: int, *, until: int) -> dict[int, int]:
    """Return the severities of the open findings up to ``until``, by id."""
    return dict(select(Finding, _OPEN, [website_id, source_id, until]))


_PROBLEMS = """
SELECT DISTINCT problem FROM dashboard_api_finding WHERE website_id = %s AND source_id = %s AND id <= %s
"""


def problems(website_id: int, source_id: int, *, until: int) -> set[str]:
    """Return the keys of the problems that findings up to ``until`` have; each rule has its own."""
    return {key for (key,) in select(Finding, _PROBLEMS, [website_id, source_id, until])}


_TEXTS = "SELECT id, title, location, rule, problem FROM dashboard_api_finding WHERE id IN ({ids})"


def texts(ids: Sequence[int]) -> dict[int, Texts]:
    """Return the texts of these findings by id."""
    found = select(Finding, _TEXTS.format(ids=placeholders(ids)), ids) if ids else []
    return {row[0]: Texts._make(row) for row in found}
