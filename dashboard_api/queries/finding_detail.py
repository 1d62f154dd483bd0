"""What is read of one finding by itself; like ``reads``, with which it shares the row of a list."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from dashboard_api import limits
from dashboard_api.backends.statements import moment, rows
from dashboard_api.models.findings import Finding
from dashboard_api.queries.finding_rows import THREATS, Threat, threat
from dashboard_api.queries.overview import Engine


class Whole(NamedTuple):
    """A finding by itself: as in a list, but for longer evidence, and when it was fixed."""

    told: Threat
    fixed_at: datetime | None


class Place(NamedTuple):
    """Where a finding was seen, like ``Occurrence``; of the evidence what can be shown, and a bit more."""

    location: str
    evidence_start: str
    first_seen: datetime
    last_seen: datetime
    gone_at: datetime | None


class Step(NamedTuple):
    """What happened to a finding, like ``FindingEvent``; who did it does not leave the service."""

    at: datetime
    event: str
    reason: str


_WHOLE = THREATS.format(more=", fixed_at", which="id = %s AND website_id = %s")


def finding(website_id: int, finding_id: int, engines: Mapping[int, Engine]) -> Whole | None:
    """The finding, if it is one of the website's."""
    found = rows(Finding, _WHOLE, [limits.MAX_STORED_EVIDENCE_BYTES + 1, finding_id, website_id])
    return Whole(threat(found[0][:-1], engines), moment(found[0][-1])) if found else None


_PLACES = """
SELECT location, SUBSTR(evidence, 1, %s), first_seen, last_seen, gone_at
FROM dashboard_api_occurrence WHERE id IN
(SELECT id FROM dashboard_api_occurrence WHERE finding_id = %s ORDER BY id LIMIT %s) ORDER BY id
"""


def places(finding_id: int) -> list[Place]:
    """The first places where the finding was seen, in the order in which they became known."""
    parameters = [limits.MAX_EVIDENCE_BYTES + 1, finding_id, limits.MAX_LOCATIONS]
    return [
        Place(location, evidence, *map(moment, times))
        for location, evidence, *times in rows(Finding, _PLACES, parameters)
    ]


_STEPS = """
SELECT at, event, reason FROM dashboard_api_findingevent WHERE id IN
(SELECT id FROM dashboard_api_findingevent WHERE finding_id = %s ORDER BY id DESC LIMIT %s) ORDER BY id
"""


def steps(finding_id: int) -> list[Step]:
    """The latest that happened to the finding, oldest first."""
    parameters = [finding_id, limits.MAX_TIMELINE]
    return [Step(moment(at), *told) for at, *told in rows(Finding, _STEPS, parameters)]
