"""Data of a website besides its findings: one statement that returns one row of JSON lists.

Separate statements would take a round trip each on PostgreSQL, and on SQLite each fetched row lets another
thread run first. Tests compare each list with an equivalent query of the ORM. Decision record 0051.
"""

import functools
from datetime import date, datetime
from types import ModuleType
from typing import NamedTuple

import msgspec

from dashboard_api import limits
from dashboard_api.backends.statements import backend_for, moment, rows
from dashboard_api.models.findings import Finding


class Filters(NamedTuple):
    """Values that findings must have; None means any value."""

    severity: int | None = None
    source_id: int | None = None
    kind: str | None = None

    def without(self, column: str) -> "Filters":
        """Return the other filters."""
        return self._replace(**{column: None})


NO_FILTERS = Filters()


class SourceRow(NamedTuple):
    """A source, like the model ``Source``."""

    pk: int
    slug: str
    name: str
    enabled: bool
    interval_days: int


class Run(NamedTuple):
    """The last run of a source, like ``Coverage``."""

    source_id: int
    state: str
    last_run_at: datetime
    completed_at: datetime | None
    urls_checked: int | None
    version: str
    detail: str


class Bucket(NamedTuple):
    """The number of findings with the same status, severity, source and kind."""

    status: str
    severity: int
    source_id: int
    kind: str
    findings: int

    def passes(self, filters: Filters) -> bool:
        """Return whether the findings pass ``filters``."""
        severity, source_id, kind = filters
        return (
            (severity is None or self.severity == severity)
            and (source_id is None or self.source_id == source_id)
            and (kind is None or self.kind == kind)
        )


class Week(NamedTuple):
    """Numbers of filtered findings that were first seen, and fixed, in a week."""

    monday: date
    found: int
    fixed: int


class Recent(NamedTuple):
    """Numbers of findings first seen, and fixed, since a day; the oldest and newest day with open ones."""

    found: int
    fixed: int
    oldest_open: date | None
    newest_open: date | None


class OpenDay(NamedTuple):
    """Open findings at the end of a day, like ``OpenCount``."""

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
    """A note, like ``AnalystNote``."""

    pk: int
    finding_id: int | None
    author: str
    body: str
    created_at: datetime
    updated_at: datetime


class Overview(NamedTuple):
    """The data of a website that is read at once; ``recent`` is one row."""

    sources: list[SourceRow]
    runs: list[Run]
    buckets: list[Bucket]
    statuses: list[tuple[str, int]]
    weeks: list[Week]
    recent: list[Recent]
    notes: list[Note]
    history: list[OpenDay]


_FILTERS = {
    "severity": " AND severity = %(severity)s",
    "source": " AND source_id = (SELECT id FROM dashboard_api_source WHERE slug = %(source)s)",
    "kind": " AND kind = %(kind)s",
}
_NOTES = """
    SELECT id, finding_id, author, body, created_at, updated_at FROM dashboard_api_analystnote
    WHERE website_id = %(website)s AND NOT is_internal
    AND (account_id = %(account)s OR account_id IS NULL){about}
    ORDER BY created_at DESC, id DESC LIMIT %(notes)s
"""
_OPEN_DAY = ", ".join(OpenDay._fields)


@functools.cache
def _statement(backend: ModuleType, status: str, filters: str) -> str:
    """Return the one SELECT of all lists of an ``Overview``, each as a JSON list of rows."""
    rows_of, utc = backend.AS_JSON.format, backend.UTC
    run = f"source_id, state, last_run_at{utc}, completed_at{utc}, urls_checked, version, detail"
    return f"""
        SELECT (
            SELECT {rows_of("id, slug, name, enabled, interval_days")} FROM dashboard_api_source
        ), (
            SELECT {rows_of(run)} FROM dashboard_api_coverage WHERE website_id = %(website)s
        ), (
            SELECT {rows_of("status, severity, source_id, kind, findings")}
            FROM dashboard_api_bucketcount WHERE website_id = %(website)s{status}
        ), (
            SELECT {rows_of("status, findings")} FROM (
                SELECT status, SUM(findings) AS findings FROM dashboard_api_bucketcount
                WHERE website_id = %(website)s{filters} GROUP BY status
            ) AS statuses
        ), (
            SELECT {rows_of("week, found, fixed")} FROM (
                SELECT week, SUM(found) AS found, SUM(fixed) AS fixed FROM dashboard_api_weekcount
                WHERE website_id = %(website)s AND week >= %(first_week)s{filters} GROUP BY week
            ) AS weeks
        ), (
            SELECT {rows_of("found, fixed, oldest, newest")} FROM (
                SELECT COALESCE(SUM(found), 0) AS found, COALESCE(SUM(fixed), 0) AS fixed, (
                    SELECT MIN(day) FROM dashboard_api_daycount
                    WHERE website_id = %(website)s AND still_open > 0
                ) AS oldest, (
                    SELECT MAX(day) FROM dashboard_api_daycount
                    WHERE website_id = %(website)s AND still_open > 0
                ) AS newest
                FROM dashboard_api_daycount WHERE website_id = %(website)s AND day >= %(recent_day)s
            ) AS recent
        ), (
            SELECT {rows_of(f"id, finding_id, author, body, created_at{utc}, updated_at{utc}")}
            FROM ({_NOTES.format(about="")}) AS notes
        ), (
            SELECT {rows_of(_OPEN_DAY)} FROM (
                SELECT {_OPEN_DAY} FROM dashboard_api_opencount
                WHERE website_id = %(website)s AND day >= COALESCE((
                    SELECT MAX(day) FROM dashboard_api_opencount
                    WHERE website_id = %(website)s AND day <= %(history_day)s
                ), %(history_day)s) ORDER BY day
            ) AS history
        )
    """  # noqa: S608  # constant text


_decoders = [msgspec.json.Decoder(rows, strict=False) for rows in Overview.__annotations__.values()]


def overview(
    website_id: int,
    account_id: int,
    *,
    status: str | None = None,
    severity: int | None = None,
    source: str | None = None,
    kind: str | None = None,
    first_week: date,
    recent_day: date,
    history_day: date,
) -> Overview:
    """Return the overview; a filter that is None accepts any value.

    ``buckets`` are those of open findings and of ``status``, without the other filters. ``statuses`` and
    ``weeks`` count findings that pass the filters other than status. ``source`` is a slug, ``first_week`` a
    Monday; ``recent`` counts from ``recent_day`` on. ``history`` begins with the last row until
    ``history_day``.
    """
    parameters = {
        "website": website_id,
        "account": account_id,
        "first_week": first_week.isoformat(),
        "recent_day": recent_day.isoformat(),
        "history_day": history_day.isoformat(),
        "notes": limits.MAX_NOTES,
        "status": status,
        "severity": severity,
        "source": source,
        "kind": kind,
    }
    statement = _statement(
        backend_for(Finding),
        "" if status is None else " AND status IN ('open', %(status)s)",
        "".join(condition for name, condition in _FILTERS.items() if parameters[name] is not None),
    )
    (columns,) = rows(Finding, statement, parameters)
    return Overview._make(decoder.decode(column) for decoder, column in zip(_decoders, columns, strict=True))


def sources() -> list[SourceRow]:
    """Return all sources."""
    statement = "SELECT id, slug, name, enabled, interval_days FROM dashboard_api_source"
    return [SourceRow._make(row) for row in rows(Finding, statement, [])]


def notes_about(finding_id: int, website_id: int, account_id: int) -> list[Note]:
    """Return the newest notes about a finding of the website that the account may read."""
    parameters = {
        "website": website_id,
        "account": account_id,
        "finding": finding_id,
        "notes": limits.MAX_NOTES,
    }
    return [
        Note(pk, about, author, body, moment(created_at), moment(updated_at))
        for pk, about, author, body, created_at, updated_at in rows(
            Finding, _NOTES.format(about=" AND finding_id = %(finding)s"), parameters
        )
    ]
