"""Reads one finding with its occurrences and events, and the other scanners that report its topic."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

from dashboard_api import limits
from dashboard_api.backends.statements import placeholders, select, to_datetime
from dashboard_api.models.findings import Finding
from dashboard_api.queries.overview import SourceRow
from dashboard_api.queries.threats import THREATS, Threat, threat
from signed_api import limits as contract_limits


class FindingDetail(NamedTuple):
    """A finding as in a list, with longer evidence, the time of its fix and the last day of a decision."""

    row: Threat
    fixed_at: datetime | None
    decided_until: date | None


class OccurrenceRow(NamedTuple):
    """An occurrence, like ``Occurrence``.

    ``evidence_start`` has one character more than the response: it shows that the evidence was cut.
    """

    location: str
    evidence_start: str
    first_seen: datetime
    last_seen: datetime
    gone_at: datetime | None


class EventRow(NamedTuple):
    """An event, like ``FindingEvent``, without its actor: customers must not see who decided."""

    at: datetime
    event: str
    reason: str


_DETAIL = THREATS.format(more=", fixed_at, triage_until", which="id = %s AND website_id = %s", order="id")


def finding(website_id: int, finding_id: int, sources: Mapping[int, SourceRow]) -> FindingDetail | None:
    """Return the finding, if the website has one with this id."""
    found = select(Finding, _DETAIL, [limits.MAX_STORED_EVIDENCE_BYTES + 1, finding_id, website_id])
    if not found:
        return None
    *columns, fixed_at, decided_until = found[0]  # the last two are ``more`` columns
    return FindingDetail(threat(tuple(columns), sources), to_datetime(fixed_at), decided_until)


_OCCURRENCES = """
SELECT location, SUBSTR(evidence, 1, %s), first_seen, last_seen, gone_at
FROM dashboard_api_occurrence WHERE id IN
(SELECT id FROM dashboard_api_occurrence WHERE finding_id = %s ORDER BY gone_at IS NOT NULL, id LIMIT %s)
ORDER BY gone_at IS NOT NULL, id
"""


def occurrences(finding_id: int) -> list[OccurrenceRow]:
    """Return at most MAX_LOCATIONS occurrences: first the present ones, then the gone ones, each by age."""
    parameters = [limits.MAX_EVIDENCE_BYTES + 1, finding_id, contract_limits.MAX_LOCATIONS]
    return [
        OccurrenceRow(location, evidence, *map(to_datetime, times))
        for location, evidence, *times in select(Finding, _OCCURRENCES, parameters)
    ]


_EVENTS = """
SELECT at, event, reason FROM dashboard_api_findingevent WHERE id IN
(SELECT id FROM dashboard_api_findingevent WHERE finding_id = %s AND event <> 'scanner_rated'
ORDER BY id DESC LIMIT %s) ORDER BY id
"""


def events(finding_id: int) -> list[EventRow]:
    """Return the latest MAX_TIMELINE events, oldest first."""
    parameters = [finding_id, limits.MAX_TIMELINE]
    return [EventRow(to_datetime(at), *rest) for at, *rest in select(Finding, _EVENTS, parameters)]


_SOURCES = """
SELECT DISTINCT source_id FROM dashboard_api_finding
WHERE website_id = %s AND status = 'open' AND problem IN ({keys})
"""


def sources_of(website_id: int, keys: Sequence[str]) -> set[int]:
    """Return the ids of sources with open findings under these keys of problems."""
    statement = _SOURCES.format(keys=placeholders(keys))
    return {source for (source,) in select(Finding, statement, [website_id, *keys])} if keys else set()
