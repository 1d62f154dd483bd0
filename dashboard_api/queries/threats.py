"""The columns of a finding that lists and the page of one finding share."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from dashboard_api.backends.statements import to_datetime
from dashboard_api.queries.overview import SourceRow


class Threat(NamedTuple):
    """A finding in a list, like ``Finding``.

    ``evidence_start`` has one character more than the response: it shows that the evidence was cut.
    """

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


# ``which`` is the condition; ``more`` adds columns at the end, each after a comma.
THREATS = """
SELECT id, severity, source_id, kind, status, title, description, location, locations_count,
SUBSTR(evidence, 1, %s), remediation, "references", cwe, cve, rule, problem, first_seen, last_seen,
source_kind{more}
FROM dashboard_api_finding WHERE {which} ORDER BY {order}
"""
_decode = msgspec.json.Decoder(list).decode


def threat(row: tuple[Any, ...], sources: Mapping[int, SourceRow]) -> Threat:
    """Convert a row of THREATS without ``more`` columns."""
    number, severity, source_id, *texts, references, cwe, cve, rule, problem, first, last, source_kind = row
    lists = (_decode(references), _decode(cwe), _decode(cve))
    end = (rule, problem, to_datetime(first), to_datetime(last), source_kind)
    return Threat._make((number, severity, sources[source_id], *texts, *lists, *end))
