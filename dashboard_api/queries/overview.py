"""What is told of a website whichever of its findings are listed: one statement, one row of JSON.

Each column is a part, a list of rows as arrays, decoded into its type at once. A statement costs more to send
than most of these cost to run, and a row of SQLite's more than its bytes: the thread gives way to others for
each. tests/dashboard_api/queries/test_overview.py proves each part equal to its twin by the ORM. Decision
records 0013 and 0034.
"""

import functools
from collections.abc import Sequence
from datetime import date, datetime
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from dashboard_api import limits
from dashboard_api.backends.count_tables import EVERY_SOURCE
from dashboard_api.backends.statements import engine_for, rows
from dashboard_api.models.findings import Finding


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
    """Findings of a website that no filter tells apart."""

    status: str
    severity: int
    source_id: int
    kind: str
    findings: int


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
    """The parts; ``statuses`` counts what passes the filters, whatever its status."""

    engines: list[Engine]
    runs: list[Run]
    buckets: list[Bucket]
    statuses: list[tuple[str, int]]
    weeks: list[Week]
    recent: list[Recent]
    notes: list[Note]


class Part(NamedTuple):
    """A list of rows: their type, the columns of each, and where they are from."""

    rows: Any
    columns: str
    relation: str


PARTS = {
    "engines": Part(list[Engine], "id, slug, name, enabled, interval_days", "dashboard_api_source"),
    "runs": Part(
        list[Run],
        "source_id, state, last_run_at{utc}, completed_at{utc}, urls_checked, version, detail",
        "dashboard_api_coverage WHERE website_id = %(website)s",
    ),
    "buckets": Part(
        list[Bucket],
        "status, severity, source_id, kind, findings",
        "dashboard_api_bucketcount WHERE website_id = %(website)s AND source_id > {every_source}{status}",
    ),
    "statuses": Part(
        list[tuple[str, int]],
        "status, findings",
        """(SELECT status, SUM(findings) AS findings FROM dashboard_api_bucketcount
        WHERE website_id = %(website)s AND status IN ({every_status}){one_source}{severity}{kind}
        GROUP BY status) AS counted""",
    ),
    "weeks": Part(
        list[Week],
        "week, found, fixed",
        """(SELECT week, SUM(found) AS found, SUM(fixed) AS fixed FROM dashboard_api_weekcount
        WHERE website_id = %(website)s AND week >= %(first_week)s{severity}{one_source}{kind}
        GROUP BY week) AS counted""",
    ),
    "recent": Part(
        list[Recent],
        "found, fixed, oldest, newest",
        """(SELECT COALESCE(SUM(found), 0) AS found, COALESCE(SUM(fixed), 0) AS fixed,
        (SELECT MIN(day) FROM dashboard_api_daycount
        WHERE website_id = %(website)s AND still_open > 0) AS oldest,
        (SELECT MAX(day) FROM dashboard_api_daycount
        WHERE website_id = %(website)s AND still_open > 0) AS newest
        FROM dashboard_api_daycount WHERE website_id = %(website)s AND day >= %(recent_day)s) AS counted""",
    ),
    "notes": Part(
        list[Note],
        "id, finding_id, author, body, created_at{utc}, updated_at{utc}",
        """(SELECT id, finding_id, author, body, created_at, updated_at FROM dashboard_api_analystnote
        WHERE website_id = %(website)s AND NOT is_internal
        AND (account_id = %(account)s OR account_id IS NULL){finding}
        ORDER BY created_at DESC, id DESC LIMIT %(notes)s) AS newest""",
    ),
}

_decode = {name: msgspec.json.Decoder(part.rows, strict=False).decode for name, part in PARTS.items()}
# What narrows a part, where a parameter of that name is given.
_NARROWED = {
    "status": " AND status IN ('open', %(status)s)",
    "severity": " AND severity = %(severity)s",
    "source": " AND source_id = (SELECT id FROM dashboard_api_source WHERE slug = %(source)s)",
    "kind": " AND kind = %(kind)s",
    "finding": " AND finding_id = %(finding)s",
}


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
    by_status: bool = True,
) -> Overview:
    """Every part, of one moment.

    ``buckets`` are those of what is open and of ``status``, or of all statuses; ``source`` is a slug.
    ``weeks`` begin at ``first_week``, a Monday; ``recent`` is one row, and counts from ``recent_day`` on.
    ``statuses`` are empty unless wanted ``by_status``.
    """
    names = [name for name in Overview._fields if by_status or name != "statuses"]
    parts = _read(
        names,
        website=website_id,
        account=account_id,
        status=status,
        severity=severity,
        source=source,
        kind=kind,
        first_week=first_week.isoformat(),
        recent_day=recent_day.isoformat(),
        notes=limits.MAX_NOTES,
    )
    return Overview(**({"statuses": []} | dict(zip(names, parts, strict=True))))


def about(website_id: int, account_id: int, finding_id: int) -> tuple[list[Engine], list[Note]]:
    """All engines, and the newest notes about the finding that may leave the service towards the account."""
    engines, notes = _read(
        ("engines", "notes"),
        website=website_id,
        account=account_id,
        finding=finding_id,
        notes=limits.MAX_NOTES,
    )
    return engines, notes


def _read(names: Sequence[str], **parameters: Any) -> list[list[Any]]:
    given = frozenset(name for name, value in parameters.items() if value is not None)
    (columns,) = rows(Finding, statement(engine_for(Finding), tuple(names), given), parameters)
    return [_decode[name](column) for name, column in zip(names, columns, strict=True)]


@functools.cache
def statement(engine: ModuleType, names: Sequence[str], given: frozenset[str]) -> str:
    """SELECT of these parts, each narrowed by the parameters that are ``given``."""
    words = {name: condition if name in given else "" for name, condition in _NARROWED.items()}
    words["every_status"] = ", ".join(f"'{status}'" for status in Finding.Status.values)
    words["every_source"] = str(EVERY_SOURCE)
    words["one_source"] = words["source"] or f" AND source_id = {EVERY_SOURCE}"
    words["utc"] = engine.UTC
    columns = [
        f"(SELECT {engine.AS_JSON.format(columns)} FROM {relation})"  # noqa: S608  # words of ours
        for _, columns, relation in map(PARTS.__getitem__, names)
    ]
    return f"SELECT {', '.join(columns)}".format(**words)
