"""Rows of the list of findings; the cost does not grow with the findings of a website.

Tests compare each statement with an equivalent query of the ORM. Decision record 0013.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from django.db import connection

from dashboard_api import limits
from dashboard_api.backends.statements import backend_for, marks, moment, rows, stored
from dashboard_api.models.findings import Finding
from dashboard_api.queries.overview import Bucket, Filters, SourceRow

WORST, NEWEST, OLDEST, PRIORITY = "worst", "newest", "oldest", "priority"
WORST_FIRST = (WORST, PRIORITY)
FIRST_SEEN, FIXED_AT = "first_seen", "fixed_at"
_ORDERS = {
    WORST: "severity DESC, id DESC",
    PRIORITY: "severity DESC, CASE kind WHEN 'confirmed' THEN 0 WHEN 'suspected' THEN 1 ELSE 2 END, id DESC",
    NEWEST: "id DESC",
    OLDEST: "id",
}


class Level(NamedTuple):
    """A part of a page in the order of ids: ``take`` findings of ``buckets``, after ``skip`` others."""

    buckets: Sequence[Bucket]
    skip: int
    take: int


class Period(NamedTuple):
    """Findings first seen at ``since`` or later, all of which have ids above ``after``."""

    after: int
    since: datetime


class Span(NamedTuple):
    """Findings whose ``column``, a time, is ``since`` or later and earlier than ``before``; None: any."""

    column: str
    since: datetime | None = None
    before: datetime | None = None


class Threat(NamedTuple):
    """A finding in a list, like ``Finding``; ``evidence_start`` has one character more than is shown."""

    pk: int
    severity: int
    source: SourceRow
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
    problem: str
    first_seen: datetime
    last_seen: datetime
    source_kind: str | None


# The database merges the parts in the order of their index, and reads only what it skips and takes.
_PART = """
SELECT id FROM (
    SELECT id FROM dashboard_api_finding WHERE website_id = %s AND {columns} ORDER BY {order}
) AS part
"""
_LEVEL = "SELECT id FROM ({parts} ORDER BY {order} LIMIT %s OFFSET %s) AS level"
# The same with one plan for all parts, each read down to the end of the page. To plan one part of a merge,
# PostgreSQL takes as long as to read some 2,000 ids.
_EACH_PART = """
SELECT found.id FROM (VALUES {keys}) AS part ({names}), LATERAL (
    SELECT id FROM dashboard_api_finding AS finding
    WHERE website_id = %s AND {columns} ORDER BY {order} LIMIT %s
) AS found
"""
_IDS_IN_TIME_OF_A_PLAN = 300
# SQLite merges 500 parts at most, and PostgreSQL plans a thousand for seconds: decision record 0176.
_MOST_PARTS = {"sqlite": 400, "postgresql": 100}
# A literal number lets PostgreSQL plan for it; a parameter could be any number.
_PAGE = "id IN (SELECT id FROM ({levels}) AS page LIMIT {take})"


def page(
    website_id: int,
    levels: Sequence[Level],
    sources: Mapping[int, SourceRow],
    *,
    by: Sequence[str],
    sort: str = WORST,
) -> list[Threat]:
    """Return the findings of these parts; ``by`` are the columns that distinguish buckets."""
    if not levels:
        return []
    order = _ORDERS[OLDEST if sort == OLDEST else NEWEST]
    statements: list[str] = []
    parameters: list[Any] = []
    for level in levels:
        keys = list(_keys(level.buckets, by))
        deepest = level.skip + level.take
        if _reads_each_part(level.buckets, keys, deepest):
            parts, own = _each_part(website_id, keys, deepest, by=by, order=order)
        else:
            parts, own = _merged_parts(website_id, keys, by=by, order=order)
        statements.append(_LEVEL.format(parts=parts, order=order))
        parameters += [*own, level.take, level.skip]
    listed = _PAGE.format(levels=" UNION ALL ".join(statements), take=sum(level.take for level in levels))
    return _threats(listed, parameters, sources, order=_ORDERS[sort])


def _reads_each_part(buckets: Iterable[Bucket], keys: Sequence[Any], deepest: int) -> bool:
    if connection.vendor != "postgresql":
        return False
    ids = sum(min(bucket.findings, deepest) for bucket in buckets)
    return ids <= len(keys) * _IDS_IN_TIME_OF_A_PLAN + deepest


def _each_part(
    website_id: int, keys: Iterable[Sequence[Any]], deepest: int, *, by: Sequence[str], order: str
) -> tuple[str, list[Any]]:
    values = [f"({marks(key)})" for key in keys]
    columns = " AND ".join(f"finding.{column} = part.{column}" for column in by)
    statement = _EACH_PART.format(keys=", ".join(values), names=", ".join(by), columns=columns, order=order)
    return statement, [*chain.from_iterable(keys), website_id, deepest]


def _merged_parts(
    website_id: int, keys: Sequence[Sequence[Any]], *, by: Sequence[str], order: str
) -> tuple[str, list[Any]]:
    parts, parameters = [], []
    for columns, own in _conditions(keys, by):
        parts.append(_PART.format(columns=columns, order=order))
        parameters += [website_id, *own]
    return " UNION ALL ".join(parts), parameters


def _conditions(keys: Collection[Sequence[Any]], by: Sequence[str]) -> list[tuple[str, list[Any]]]:
    """Return the condition of each part with its parameters: one for each key, or one for too many keys.

    Each filter is for one column, so no combination of the keys' values has findings that it leaves out.
    """
    if len(keys) <= _MOST_PARTS[connection.vendor]:
        equal = " AND ".join(f"{column} = %s" for column in by)
        return [(equal, [*key]) for key in keys]
    values = [{*column} for column in zip(*keys, strict=True)]
    one_of = [f"{column} IN ({marks(own)})" for column, own in zip(by, values, strict=True)]
    return [(" AND ".join(one_of), [*chain.from_iterable(values)])]


def _keys(buckets: Iterable[Bucket], by: Sequence[str]) -> set[tuple[Any, ...]]:
    return {tuple(getattr(bucket, column) for column in by) for bucket in buckets}


# IS TRUE keeps both databases from the index by time, which would read each part out of order and sort it.
_RECENT = """
SELECT * FROM (
    SELECT id, severity, source_id, kind, host FROM dashboard_api_finding
    WHERE website_id = %s AND {columns} AND id > %s AND (first_seen >= %s) IS TRUE ORDER BY {order}
) AS part
"""
_IN_ORDER = "SELECT * FROM ({parts} ORDER BY {order} LIMIT %s) AS level"


def recent(
    website_id: int,
    buckets: Sequence[Bucket],
    period: Period,
    *,
    by: Sequence[str],
    limit: int,
    sort: str = WORST,
) -> list[tuple[int, int, int, str, str]]:
    """Return ids, severities, source ids, kinds and hosts of the findings of ``buckets`` in ``period``."""
    order = _ORDERS[OLDEST if sort == OLDEST else NEWEST]
    statements: list[str] = []
    parameters: list[Any] = []
    for level in _levels({bucket.severity for bucket in buckets}, sort):
        keys = _keys((bucket for bucket in buckets if bucket.severity in level), by)
        parts = []
        for columns, own in _conditions(keys, by):
            parts.append(_RECENT.format(columns=columns, order=order))
            parameters += [website_id, *own, period.after, stored(period.since)]
        statements.append(_IN_ORDER.format(parts=" UNION ALL ".join(parts), order=order))
        parameters.append(limit)
    in_order = f" ORDER BY {_ORDERS[PRIORITY]}" if sort == PRIORITY else ""
    statement = f"{' UNION ALL '.join(statements)}{in_order} LIMIT %s"
    return rows(Finding, statement, [*parameters, limit]) if buckets else []


_IN_SPAN = """
SELECT * FROM (
    SELECT id, severity, source_id, kind, host, {column} AS at FROM dashboard_api_finding
    WHERE website_id = %s AND status = %s AND severity = %s{span}{filters} ORDER BY {order} LIMIT %s
) AS part
"""


def in_span(
    website_id: int,
    parts: Sequence[tuple[str, int]],
    filters: Filters,
    span: Span,
    *,
    problems: Sequence[str] = (),
    limit: int,
    sort: str = WORST,
) -> list[tuple[int, int, int, str, str, datetime]]:
    """Return ids, severities, source ids, kinds, hosts and times of the findings in ``span``.

    ``parts`` are statuses with severities; each has an index in the order of the time.
    """
    limits_of_time = {">=": span.since, "<": span.before}
    wanted = filters._asdict() | {"problem": problems or None}
    columns = {name: values for name, values in wanted.items() if values is not None and name != "severity"}
    direction = "" if sort == OLDEST else " DESC"
    part = _IN_SPAN.format(
        column=span.column,
        span="".join(f" AND {span.column} {sign} %s" for sign, time in limits_of_time.items() if time),
        filters="".join(f" AND {name} IN ({marks(values)})" for name, values in columns.items()),
        order=f"{span.column}{direction}, id{direction}",
    )
    shared = [stored(time) for time in limits_of_time.values() if time]
    shared += chain.from_iterable(columns.values())
    order = f"at{direction}, id{direction}"
    statements: list[str] = []
    parameters: list[Any] = []
    for level in _levels({severity for _, severity in parts}, sort):
        own = [(status, severity) for status, severity in parts if severity in level]
        statements.append(_IN_ORDER.format(parts=" UNION ALL ".join([part] * len(own)), order=order))
        for status, severity in own:
            parameters += [website_id, status, severity, *shared, limit]
        parameters.append(limit)
    statement = f"{' UNION ALL '.join(statements)} LIMIT %s"
    return rows(Finding, statement, [*parameters, limit]) if parts else []


def _levels(severities: set[int], sort: str) -> list[set[int]]:
    """Return the severities that an order lists one after another; both databases stop at the limit.

    Ordering all rows at once would read up to the limit of each severity.
    """
    if sort not in WORST_FIRST:
        return [severities]
    return [{severity} for severity in sorted(severities, reverse=True)]


_BUCKETS = """
SELECT severity, source_id, kind, COUNT(*), host FROM dashboard_api_finding
WHERE id IN ({ids}) GROUP BY severity, source_id, kind, host
"""


def buckets_of(ids: Sequence[int]) -> list[tuple[int, int, str, int, str]]:
    """Count these findings by severity, source, kind and host."""
    statement = _BUCKETS.format(ids=backend_for(Finding).NUMBERS)
    return rows(Finding, statement, [str(list(ids))]) if ids else []


_TRAITS = "SELECT id, severity, source_id, kind, host FROM dashboard_api_finding WHERE id IN ({ids})"


def traits_of(ids: Sequence[int]) -> list[tuple[int, int, int, str, str]]:
    """Return ids, severities, source ids, kinds and hosts of these findings."""
    statement = _TRAITS.format(ids=backend_for(Finding).NUMBERS)
    return rows(Finding, statement, [str(list(ids))]) if ids else []


THREATS = """
SELECT id, severity, source_id, kind, status, title, description, location, locations_count,
SUBSTR(evidence, 1, %s), remediation, "references", cwe, cve, rule, problem, first_seen, last_seen,
source_kind{more}
FROM dashboard_api_finding WHERE {which} ORDER BY {order}
"""
_decode = msgspec.json.Decoder(list).decode


def threats(ids: Sequence[int], sources: Mapping[int, SourceRow]) -> list[Threat]:
    """Return the findings with these ids, in their order."""
    if not ids:
        return []
    found = {row.pk: row for row in _threats(f"id IN ({marks(ids)})", ids, sources, order="id")}
    return [found[pk] for pk in ids if pk in found]


def _threats(
    which: str, parameters: Sequence[Any], sources: Mapping[int, SourceRow], *, order: str
) -> list[Threat]:
    statement = THREATS.format(more="", which=which, order=order)
    return [
        threat(row, sources) for row in rows(Finding, statement, [limits.MAX_EVIDENCE_BYTES + 1, *parameters])
    ]


def threat(row: tuple[Any, ...], sources: Mapping[int, SourceRow]) -> Threat:
    """Return a row of THREATS as a Threat."""
    number, severity, source_id, *texts, references, cwe, cve, rule, problem, first, last, source_kind = row
    lists = (_decode(references), _decode(cwe), _decode(cve))
    end = (rule, problem, moment(first), moment(last), source_kind)
    return Threat._make((number, severity, sources[source_id], *texts, *lists, *end))
