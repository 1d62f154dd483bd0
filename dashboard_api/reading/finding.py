"""One finding by itself: whole texts, every place, its life so far, and the notes about it."""

import re

import msgspec

from dashboard_api import limits
from dashboard_api.contract import FindingRequest, responses
from dashboard_api.errors import UnknownFinding
from dashboard_api.queries import finding_detail, overview
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.queries.finding_detail import Place, Step, Whole
from dashboard_api.reading import sections

_ID = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
_LARGEST_ID = 2**63 - 1


def build_finding(link: AccountSite, question: FindingRequest) -> responses.FindingResponse:
    """The finding of the linked website that is asked for; raises UnknownFinding (404)."""
    finding_id = _number(question.finding_id)
    engines = {engine.pk: engine for engine in overview.engines()}
    found = finding_detail.finding(link.website_id, finding_id, engines)
    if found is None:
        raise UnknownFinding
    notes = overview.notes_about(finding_id, link.website_id, link.account_id)
    return responses.FindingResponse(
        ok=True,
        host=link.host,
        finding=_whole(found, finding_detail.places(finding_id), finding_detail.steps(finding_id)),
        analyst_notes=[sections.note(row) for row in notes],
    )


def _number(finding_id: str) -> int:
    """To callers an id is a string like any other; one that we never gave is unknown."""
    if not _ID.fullmatch(finding_id) or int(finding_id) > _LARGEST_ID:
        raise UnknownFinding
    return int(finding_id)


def _whole(found: Whole, places: list[Place], steps: list[Step]) -> responses.FindingDetail:
    told, limit = found.told, limits.MAX_WHOLE_TEXT_BYTES
    evidence = sections.cut(told.evidence_start, limits.MAX_STORED_EVIDENCE_BYTES)
    whole_texts = {
        "description": sections.cut(told.description, limit),
        "remediation": sections.cut(told.remediation, limit),
        "references": sections.within(told.references, limit),
        "evidence": evidence,
        "evidence_truncated": evidence != told.evidence_start,
    }
    as_listed = msgspec.structs.asdict(sections.threat(told))
    return responses.FindingDetail(
        **as_listed | whole_texts,
        locations=[_location(place) for place in places or _only_place(found)],
        timeline=_timeline(found, steps),
    )


def _only_place(found: Whole) -> list[Place]:
    """Where a finding that an analyst wrote down is: such a one has no occurrences."""
    told = found.told
    if not told.location:
        return []
    return [Place(told.location, told.evidence_start, told.first_seen, told.last_seen, found.fixed_at)]


def _location(place: Place) -> responses.Location:
    evidence = sections.cut(place.evidence_start, limits.MAX_EVIDENCE_BYTES)
    return responses.Location(
        location=place.location,
        evidence=evidence,
        evidence_truncated=evidence != place.evidence_start,
        first_seen=place.first_seen,
        last_seen=place.last_seen,
        gone_at=place.gone_at,
    )


def _timeline(found: Whole, steps: list[Step]) -> list[responses.Event]:
    """What is known today, oldest first; a fix that was never recorded as a step is told by its time."""
    events = [responses.Event(at=found.told.first_seen, event="first_seen")]
    events += [responses.Event(at=step.at, event=step.event, reason=step.reason) for step in steps]
    if found.fixed_at is not None and found.fixed_at not in {step.at for step in steps}:
        events.append(responses.Event(at=found.fixed_at, event="fixed"))
    events.append(responses.Event(at=found.told.last_seen, event="last_seen"))
    return sorted(events, key=lambda event: event.at)
