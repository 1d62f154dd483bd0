"""What an answer reads, as SQL: one statement each, and none that grows with the findings of a website.

tests/dashboard_api/models/test_reads.py proves each equal to its twin by the ORM. Decision record 0013.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import msgspec

from dashboard_api import policy
from dashboard_api.engines.counts import EVERY_SOURCE, STRETCH_BITS
from dashboard_api.models.findings import Finding
from dashboard_api.models.statements import day, marks, moment, rows


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


class Recent(NamedTuple):
    """What changed since a day, and the first and the last day of what is still open."""

    found: int
    fixed: int
    oldest_open: date | None
    newest_open: date | None


class Level(NamedTuple):
    """The part of a page that has one severity: so many findings of ``buckets``, after so many others.

    The ids lie from ``low`` to below ``high``, where that is known.
    """

    severity: int
    buckets: Sequence[Bucket]
    skip: int
    take: int
    low: int | None = None
    high: int | None = None


class Threat(NamedTuple):
    """A finding as a list shows it, like ``Finding``; of the evidence what can be shown, and a bit more."""

    pk: int
    severity: int
    source: Engine
    kind: str
    status: str
    title: str
    description: str
    location: str
    locations_count: int
    evidence_start: str
    remediation: str
    references: list[str]
    cwe: list[int]
    cve: list[str]
    rule: str
    first_seen: datetime
    last_seen: datetime


class Note(NamedTuple):
    """An analyst's words, like ``AnalystNote``."""

    pk: int
    finding_id: int | None
    author: str
    body: str
    created_at: datetime
    updated_at: datetime


NO_SOURCE = -1  # of which nothing is ever counted

_ENGINES = """
SELECT source.id, slug, name, enabled, interval_days,
state, last_run_at, completed_at, urls_checked, version, detail
FROM dashboard_api_source AS source
LEFT JOIN dashboard_api_coverage AS run ON run.source_id = source.id AND run.website_id = %s
ORDER BY LOWER(name), slug
"""


def engines(website_id: int) -> tuple[list[Engine], list[Run]]:
    """All that there are, by name; and the runs of those that tried to check the website."""
    found, runs = [], []
    for row in rows(Finding, _ENGINES, [website_id]):
        found.append(Engine._make(row[:5]))
        state, last_run_at, completed_at, *told = row[5:]
        if state is not None:
            runs.append(Run(row[0], state, moment(last_run_at), moment(completed_at), *told))
    return found, runs


_BUCKETS = """
SELECT status, severity, source_id, kind, findings FROM dashboard_api_bucketcount
WHERE website_id = %s AND status IN ({statuses})
UNION ALL SELECT status, NULL, NULL, NULL, SUM(findings) FROM dashboard_api_bucketcount
WHERE website_id = %s{filters} GROUP BY status
"""


def buckets(
    website_id: int,
    statuses: Sequence[str],
    *,
    severity: int | None = None,
    source_id: int | None = None,
    kind: str | None = None,
) -> tuple[list[Bucket], dict[str, int]]:
    """The website's, of these statuses; and how many of each status there is pass the filters."""
    filters = {"severity": severity, "source_id": source_id, "kind": kind}
    wanted = {column: value for column, value in filters.items() if value is not None}
    statement = _BUCKETS.format(
        statuses=marks(statuses), filters="".join(f" AND {column} = %s" for column in wanted)
    )
    found, by_status = [], {}
    for row in rows(Finding, statement, [website_id, *statuses, website_id, *wanted.values()]):
        if row[1] is None:
            by_status[row[0]] = row[4]
        else:
            found.append(Bucket._make(row))
    return found, by_status


_WEEKS = """
SELECT week, SUM(found), SUM(fixed) FROM dashboard_api_weekcount
WHERE website_id = %s AND source_id = %s AND week >= %s{filters} GROUP BY week
"""


def weeks(
    website_id: int, since: date, *, severity: int | None, source_id: int | None, kind: str | None
) -> dict[date, tuple[int, int]]:
    """How many were first seen and fixed in each week that had any."""
    filters = {"severity": severity, "kind": kind}
    wanted = {column: value for column, value in filters.items() if value is not None}
    statement = _WEEKS.format(filters="".join(f" AND {column} = %s" for column in wanted))
    source = EVERY_SOURCE if source_id is None else source_id
    counted = rows(Finding, statement, [website_id, source, since.isoformat(), *wanted.values()])
    return {week: (found, fixed) for week, found, fixed in counted}


_RECENT = """
SELECT COALESCE(SUM(found), 0), COALESCE(SUM(fixed), 0),
(SELECT MIN(day) FROM dashboard_api_daycount WHERE website_id = %s AND still_open > 0),
(SELECT MAX(day) FROM dashboard_api_daycount WHERE website_id = %s AND still_open > 0)
FROM dashboard_api_daycount WHERE website_id = %s AND day >= %s
"""


def recent(website_id: int, since: date) -> Recent:
    """What changed from that day on."""
    ((found, fixed, oldest, newest),) = rows(Finding, _RECENT, [*[website_id] * 3, since.isoformat()])
    return Recent(found, fixed, day(oldest), day(newest))


_STRETCHES = """
SELECT MIN(stretch), MAX(stretch), MIN(through - here) FROM (
    SELECT stretch, SUM(SUM(findings)) OVER (ORDER BY stretch DESC) AS through, SUM(findings) AS here
    FROM dashboard_api_stretchcount
    WHERE website_id = %s AND status IN ({statuses}) AND severity = %s{filters} GROUP BY stretch
) AS counted WHERE through > %s AND through - here < %s
"""


def narrowed(website_id: int, level: Level, *, source_id: int | None, kind: str | None) -> Level:
    """The same part of a deep page, within the stretches of ids where it lies."""
    statuses = {bucket.status for bucket in level.buckets}
    filters = {"source_id": source_id, "kind": kind}
    wanted = {column: value for column, value in filters.items() if value is not None}
    statement = _STRETCHES.format(
        statuses=marks(statuses), filters="".join(f" AND {column} = %s" for column in wanted)
    )
    end = level.skip + level.take
    parameters = [website_id, *statuses, level.severity, *wanted.values(), level.skip, end]
    ((last, first, above),) = rows(Finding, statement, parameters)
    return level._replace(low=last << STRETCH_BITS, high=(first + 1) << STRETCH_BITS, skip=level.skip - above)


_PART = """
SELECT id FROM dashboard_api_finding WHERE website_id = %s AND severity = %s AND {columns}
ORDER BY id DESC LIMIT %s OFFSET %s
"""
_BUCKET = "SELECT id FROM ({part}) AS bucket"
_LEVEL = "SELECT id FROM (SELECT id FROM ({buckets}) AS level ORDER BY id DESC LIMIT %s OFFSET %s) AS part"


def page_ids(website_id: int, levels: Iterable[Level], *, by: Sequence[str]) -> list[int]:
    """The findings of a page, in no order; ``by`` are the columns that tell the buckets from others."""
    statements: list[str] = []
    parameters: list[Any] = []
    for level in levels:
        parts = {tuple(getattr(bucket, column) for column in by) for bucket in level.buckets}
        within = {"id >= %s": level.low, "id < %s": level.high}
        bounds = {bound: value for bound, value in within.items() if value is not None}
        statement = _PART.format(columns=" AND ".join([*(f"{column} = %s" for column in by), *bounds]))
        merged = len(parts) > 1
        window = (level.skip + level.take, 0) if merged else (level.take, level.skip)
        for part in parts:
            parameters += [website_id, level.severity, *part, *bounds.values(), *window]
        statement = _BUCKET.format(part=statement)
        if merged:
            parameters += [level.take, level.skip]
            statement = _LEVEL.format(buckets=" UNION ALL ".join([statement] * len(parts)))
        statements.append(statement)
    found = rows(Finding, " UNION ALL ".join(statements), parameters) if statements else []
    return [number for (number,) in found]


THREATS = """
SELECT id, severity, source_id, kind, status, title, description, location, locations_count,
SUBSTR(evidence, 1, %s), remediation, "references", cwe, cve, rule, first_seen, last_seen{more}
FROM dashboard_api_finding WHERE {which} ORDER BY severity DESC, id DESC
"""
_decode = msgspec.json.Decoder(list).decode


def threats(ids: Sequence[int], engines: Mapping[int, Engine]) -> list[Threat]:
    """These findings, worst first."""
    if not ids:
        return []
    statement = THREATS.format(more="", which=f"id IN ({marks(ids)})")
    return [threat(row, engines) for row in rows(Finding, statement, [policy.MAX_EVIDENCE_BYTES + 1, *ids])]


def threat(row: tuple[Any, ...], engines: Mapping[int, Engine]) -> Threat:
    """A row of THREATS."""
    number, severity, source_id, *told, references, cwe, cve, rule, first_seen, last_seen = row
    lists = (_decode(references), _decode(cwe), _decode(cve))
    seen = (moment(first_seen), moment(last_seen))
    return Threat._make((number, severity, engines[source_id], *told, *lists, rule, *seen))


_NOTES = """
SELECT id, finding_id, author, body, created_at, updated_at FROM dashboard_api_analystnote
WHERE website_id = %s AND NOT is_internal AND (account_id = %s OR account_id IS NULL){filters}
ORDER BY created_at DESC, id DESC LIMIT %s
"""


def notes(website_id: int, account_id: int, *, finding_id: int | None = None) -> list[Note]:
    """The newest that may leave the service towards the account; perhaps only those about one finding."""
    about = [] if finding_id is None else [finding_id]
    statement = _NOTES.format(filters=" AND finding_id = %s" if about else "")
    parameters = [website_id, account_id, *about, policy.MAX_NOTES]
    return [
        Note._make((*told, moment(created_at), moment(updated_at)))
        for *told, created_at, updated_at in rows(Finding, statement, parameters)
    ]
