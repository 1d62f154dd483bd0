"""What an answer reads of a website besides its findings: one statement, one row of JSON lists.

Each list is decoded into its type at once. A statement for each would take a round trip on PostgreSQL, and on
SQLite every fetched row lets another thread go first. The tests prove each list equal to its twin by the ORM.
Decision record 0051.
"""

import functools
from datetime import date, datetime
from types import ModuleType
from typing import NamedTuple

import msgspec

from dashboard_api import limits
from dashboard_api.backends.statements import engine_for, moment, rows
from dashboard_api.models.findings import Finding


class Filters(NamedTuple):
    """The values that findings must have; None lets every value pass."""

    severity: int | None = None
    source_id: int | None = None
    kind: str | None = None

    def without(self, column: str) -> "Filters":
        """Return the other filters."""
        return self._replace(**{column: None})


NO_FILTERS = Filters()


class Engine(NamedTuple):
    """A detection engine, like ``Source``."""

    pk: int
    slug: str
    name: str
    enabled: bool
    interval_days: int


class Run(NamedTuple):
    """What an engine checked last, like ``Coverage``."""

    source_id: int
    state: str
    last_run_at: datetime
    completed_at: datetime | None
    urls_checked: int | None
    version: str
    detail: str


class Bucket(NamedTuple):
    """How many findings of a website have the same status, severity, source and kind."""

    status: str
    severity: int
    source_id: int
    kind: str
    findings: int

    def passes(self, filters: Filters) -> bool:
        """Return whether the findings have the values that ``filters`` ask for."""
        severity, source_id, kind = filters
        return (
            (severity is None or self.severity == severity)
            and (source_id is None or self.source_id == source_id)
            and (kind is None or self.kind == kind)
        )


class Week(NamedTuple):
    """How many findings that pass the filters were first seen and fixed in a week that had any."""

    monday: date
    found: int
    fixed: int


class Recent(NamedTuple):
    """What changed since a day, and the first and the last day of what is still open."""

    found: int
    fixed: int
    oldest_open: date | None
    newest_open: date | None


class Note(NamedTuple):
    """An analyst's words, like ``AnalystNote``."""

    pk: int
    finding_id: int | None
    author: str
    body: str
    created_at: datetime
    updated_at: datetime


class Overview(NamedTuple):
    """Everything that is read of a website at once; ``recent`` is one row."""

    engines: list[Engine]
    runs: list[Run]
    buckets: list[Bucket]
    statuses: list[tuple[str, int]]
    weeks: list[Week]
    recent: list[Recent]
    notes: list[Note]


_FILTERS = """
    AND (CAST(%(severity)s AS integer) IS NULL OR severity = CAST(%(severity)s AS integer))
    AND (CAST(%(source)s AS text) IS NULL OR source_id = (
        SELECT id FROM dashboard_api_source WHERE slug = CAST(%(source)s AS text)
    ))
    AND (CAST(%(kind)s AS text) IS NULL OR kind = CAST(%(kind)s AS text))
"""
_NOTES = """
    SELECT id, finding_id, author, body, created_at, updated_at FROM dashboard_api_analystnote
    WHERE website_id = %(website)s AND NOT is_internal
    AND (account_id = %(account)s OR account_id IS NULL){about}
    ORDER BY created_at DESC, id DESC LIMIT %(notes)s
"""


@functools.cache
def _statement(engine: ModuleType) -> str:
    """Return the one SELECT of all lists of an ``Overview``, each as a JSON list of rows."""
    rows_of, utc = engine.AS_JSON.format, engine.UTC
    run = f"source_id, state, last_run_at{utc}, completed_at{utc}, urls_checked, version, detail"
    return f"""
        SELECT (
            SELECT {rows_of("id, slug, name, enabled, interval_days")} FROM dashboard_api_source
        ), (
            SELECT {rows_of(run)}
            FROM dashboard_api_coverage WHERE website_id = %(website)s
        ), (
            SELECT {rows_of("status, severity, source_id, kind, findings")}
            FROM dashboard_api_bucketcount WHERE website_id = %(website)s
            AND (CAST(%(status)s AS text) IS NULL OR status IN ('open', CAST(%(status)s AS text)))
        ), (
            SELECT {rows_of("status, findings")} FROM (
                SELECT status, SUM(findings) AS findings FROM dashboard_api_bucketcount
                WHERE website_id = %(website)s{_FILTERS} GROUP BY status
            ) AS statuses
        ), (
            SELECT {rows_of("week, found, fixed")} FROM (
                SELECT week, SUM(found) AS found, SUM(fixed) AS fixed FROM dashboard_api_weekcount
                WHERE website_id = %(website)s AND week >= %(first_week)s{_FILTERS} GROUP BY week
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
        )
    """  # noqa: S608  # words of ours


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
) -> Overview:
    """Return everything of one moment; a filter that is None lets every value pass.

    ``buckets`` are those of open findings and of ``status``, whatever the other filters. ``statuses`` and
    ``weeks`` count what passes the filters but the status; ``source`` is a slug, ``first_week`` a Monday.
    ``recent`` counts from ``recent_day`` on.
    """
    parameters = {
        "website": website_id,
        "account": account_id,
        "first_week": first_week.isoformat(),
        "recent_day": recent_day.isoformat(),
        "notes": limits.MAX_NOTES,
        "status": status,
        "severity": severity,
        "source": source,
        "kind": kind,
    }
    (columns,) = rows(Finding, _statement(engine_for(Finding)), parameters)
    return Overview._make(decoder.decode(column) for decoder, column in zip(_decoders, columns, strict=True))


def engines() -> list[Engine]:
    """Return all detection engines."""
    statement = "SELECT id, slug, name, enabled, interval_days FROM dashboard_api_source"
    return [Engine._make(row) for row in rows(Finding, statement, [])]


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
