"""The findings that an answer lists, as SQL that does not grow with the findings of a website.

tests/dashboard_api/models/test_reads.py proves each equal to its twin by the ORM. Decision record 0013.
"""

import bisect
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from dashboard_api import policy
from dashboard_api.engines.counts import EVERY_SOURCE, STRETCH_BITS
from dashboard_api.models.findings import Finding
from dashboard_api.models.overview import Bucket, Engine
from dashboard_api.models.statements import engine_for, marks, moment, rows


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


_STRETCHES = """
SELECT {as_json} FROM dashboard_api_stretchcount
WHERE website_id = %s AND status IN ({statuses}) AND severity = %s AND source_id = %s{kind}
"""
_decode_stretches = msgspec.json.Decoder(list[tuple[int, int]]).decode


def narrowed(website_id: int, level: Level, *, source_id: int | None, kind: str | None) -> Level:
    """The same part of a deep page, within the stretches of ids where it lies, if they are counted."""
    statuses = {bucket.status for bucket in level.buckets}
    statement = _STRETCHES.format(
        as_json=engine_for(Finding).AS_JSON.format("stretch, findings"),
        statuses=marks(statuses),
        kind="" if kind is None else " AND kind = %s",
    )
    of_kind = [] if kind is None else [kind]
    of_source = EVERY_SOURCE if source_id is None else source_id
    ((told,),) = rows(Finding, statement, [website_id, *statuses, level.severity, of_source, *of_kind])
    findings: Counter[int] = Counter()
    for stretch, counted in _decode_stretches(told):
        findings[stretch] += counted
    newest_first = sorted(findings, reverse=True)
    through = list(itertools.accumulate(findings[stretch] for stretch in newest_first))
    if not through or through[-1] < level.skip + level.take:
        return level  # counts that contradict each other, until verify_counts repairs them
    first = bisect.bisect_right(through, level.skip)
    last = bisect.bisect_left(through, level.skip + level.take)
    return level._replace(
        low=newest_first[last] << STRETCH_BITS,
        high=(newest_first[first] + 1) << STRETCH_BITS,
        skip=level.skip - (through[first - 1] if first else 0),
    )


_PART = """
SELECT id FROM dashboard_api_finding WHERE website_id = %s AND severity = %s AND {columns}
ORDER BY id DESC LIMIT %s OFFSET %s
"""
_BUCKET = "SELECT id FROM ({part}) AS bucket"
_LEVEL = "SELECT id FROM (SELECT id FROM ({buckets}) AS level ORDER BY id DESC LIMIT %s OFFSET %s) AS part"


# PostgreSQL plans by the number that is written out; any other parameter could be a million.
_PAGE = "id IN (SELECT id FROM ({levels}) AS page LIMIT {take})"


def page(
    website_id: int, levels: Sequence[Level], engines: Mapping[int, Engine], *, by: Sequence[str]
) -> list[Threat]:
    """The findings of these parts, worst first; ``by`` are the columns that tell their buckets apart."""
    if not levels:
        return []
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
    listed = _PAGE.format(levels=" UNION ALL ".join(statements), take=sum(level.take for level in levels))
    return _threats(listed, parameters, engines)


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
    return _threats(f"id IN ({marks(ids)})", ids, engines)


def _threats(which: str, parameters: Sequence[Any], engines: Mapping[int, Engine]) -> list[Threat]:
    found = rows(Finding, THREATS.format(more="", which=which), [policy.MAX_EVIDENCE_BYTES + 1, *parameters])
    return [threat(row, engines) for row in found]


def threat(row: tuple[Any, ...], engines: Mapping[int, Engine]) -> Threat:
    """A row of THREATS."""
    number, severity, source_id, *told, references, cwe, cve, rule, first_seen, last_seen = row
    lists = (_decode(references), _decode(cwe), _decode(cve))
    seen = (moment(first_seen), moment(last_seen))
    return Threat._make((number, severity, engines[source_id], *told, *lists, rule, *seen))
