"""Reads what a dashboard shows next to findings: scanners with their last runs, notes, earlier days.

Plain SQL that both databases understand: the ORM would need longer to build a statement than to run it.
"""

from collections.abc import Collection
from datetime import date, datetime
from typing import NamedTuple

from dashboard_api import limits
from dashboard_api.backends.statements import select, to_datetime
from dashboard_api.models.findings import Finding


class SourceRow(NamedTuple):
    """A source, like the model ``Source``."""

    pk: int
    slug: str
    name: str
    enabled: bool
    interval_days: int
    has_reported: bool  # about the website


class Run(NamedTuple):
    """The last run of a source, like ``Coverage``."""

    source_id: int
    state: str
    last_run_at: datetime
    completed_at: datetime | None
    urls_checked: int | None
    version: str
    detail: str
    ours_at: datetime | None  # scan time of the newest import, if this deployment made the scan


class OpenDay(NamedTuple):
    """The numbers of open findings at the end of a day, like ``OpenCount``."""

    day: date
    critical: int
    high: int
    medium: int
    low: int
    info: int
    suspected_critical: int
    suspected_high: int
    suspected_medium: int
    suspected_low: int


class Note(NamedTuple):
    """A note, like ``AnalystNote``; ``problem`` is the key of its finding's problem."""

    pk: int
    finding_id: int | None
    author: str
    body: str
    created_at: datetime
    updated_at: datetime
    problem: str | None
    pinned: bool


# An import by this deployment's own scan has a run of an engine.
_SOURCES = """
SELECT source.id, slug, name, enabled, interval_days,
    coverage.id IS NOT NULL OR EXISTS (
        SELECT 1 FROM dashboard_api_finding AS finding
        WHERE finding.website_id = %(website)s AND finding.source_id = source.id
    ) AS has_reported,
    state, last_run_at, completed_at, urls_checked, version, detail,
    (
        SELECT scanned_at FROM dashboard_api_importrun AS newest WHERE newest.id = (
            SELECT imported.id FROM dashboard_api_importrun AS imported
            WHERE imported.website_id = %(website)s AND imported.source_id = source.id
            AND undone_at IS NULL ORDER BY imported_at DESC, imported.id DESC LIMIT 1
        ) AND EXISTS (SELECT 1 FROM dashboard_api_enginerun WHERE import_run_id = newest.id)
    ) AS ours_at
FROM dashboard_api_source AS source
LEFT JOIN dashboard_api_coverage AS coverage
    ON coverage.source_id = source.id AND coverage.website_id = %(website)s
"""


def sources(website_id: int, expected: Collection[str] = ()) -> tuple[list[SourceRow], list[Run]]:
    """Return the sources of the website and their last runs.

    A source belongs to the website if it has run or has findings there, if operators enabled it for all
    websites, or if ``expected`` names it: the slugs of scanners that this deployment runs for the website.
    """
    found, runs = [], []
    rows = select(Finding, _SOURCES, {"website": website_id})
    for pk, slug, name, enabled, interval, has_reported, state, *run in rows:
        if not (has_reported or enabled or slug in expected):
            continue
        found.append(SourceRow(pk, slug, name, bool(enabled), interval, bool(has_reported)))
        last, completed, urls, version, detail, ours = run
        if state is not None:
            times = to_datetime(last), to_datetime(completed)
            runs.append(Run(pk, state, *times, urls, version, detail, to_datetime(ours)))
    return found, runs


_NOTES = """
SELECT id, finding_id, author, body, created_at, updated_at,
    (SELECT problem FROM dashboard_api_finding AS its WHERE its.id = finding_id), is_pinned
FROM dashboard_api_analystnote
WHERE website_id = %s AND NOT is_internal AND (account_id = %s OR account_id IS NULL){of_finding}
ORDER BY is_pinned DESC, created_at DESC, id DESC LIMIT %s
"""


def notes(website_id: int, account_id: int, *, finding_id: int | None = None) -> list[Note]:
    """Return the notes that the account may read, pinned first, then newest; optionally of one finding."""
    of_finding, parameters = "", [website_id, account_id]
    if finding_id is not None:
        of_finding = " AND finding_id = %s"
        parameters.append(finding_id)
    found = select(Finding, _NOTES.format(of_finding=of_finding), [*parameters, limits.MAX_NOTES])
    return [
        Note(pk, about, author, body, to_datetime(created), to_datetime(updated), problem, bool(pinned))
        for pk, about, author, body, created, updated, problem, pinned in found
    ]


_HISTORY = f"""
SELECT {", ".join(OpenDay._fields)} FROM dashboard_api_opencount
WHERE website_id = %(website)s AND day >= COALESCE((
    SELECT MAX(day) FROM dashboard_api_opencount WHERE website_id = %(website)s AND day <= %(first)s
), %(first)s) AND day < %(today)s ORDER BY day
"""  # noqa: S608  # constant text


def history(website_id: int, *, first_day: date, today: date) -> list[OpenDay]:
    """Return the stored days from ``first_day`` to yesterday.

    The first item is the last day stored on or before ``first_day``: it gives the state on that day.
    """
    parameters = {"website": website_id, "first": first_day.isoformat(), "today": today.isoformat()}
    return [OpenDay._make(row) for row in select(Finding, _HISTORY, parameters)]
