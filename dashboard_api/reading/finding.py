"""The response for a single finding: full texts, locations, timeline and notes."""

import re
from collections.abc import Collection, Mapping

import msgspec

from dashboard_api import limits
from dashboard_api.errors import UnknownFinding
from dashboard_api.queries import finding_detail, overview
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.queries.finding_detail import EventRow, FindingDetail, OccurrenceRow
from dashboard_api.reading import sections, topics
from dashboard_api.reading.answered import NOT_ANSWERED, Opened, RowAnswer, answers_of_rows
from dashboard_api.reading.conversation import read_conversation
from signed_api import findings as contract
from signed_api.findings import FindingRequest

_ID = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
_LARGEST_ID = 2**63 - 1


def build_finding(
    link: AccountSite, request: FindingRequest, *, tested_here: Collection[str] = ()
) -> contract.FindingResponse:
    """Return the requested finding of the linked website; raises UnknownFinding (404).

    ``tested_here`` has the slugs of the scanners that can retest a finding in this deployment.
    """
    if not _ID.fullmatch(request.finding_id) or int(request.finding_id) > _LARGEST_ID:
        raise UnknownFinding
    finding_id = int(request.finding_id)
    source_rows, _runs = overview.sources(link.website_id)
    sources = {source.pk: source for source in source_rows}
    detail = finding_detail.finding(link.website_id, finding_id, sources)
    if detail is None:
        raise UnknownFinding
    notes = overview.notes(link.website_id, link.account_id, finding_id=finding_id)
    row = detail.row
    conversation = read_conversation(link, finding_id, row.status)
    opened = Opened(row.pk, row.severity, row.status, row.first_seen)
    answered = answers_of_rows(link, [opened]).get(finding_id, NOT_ANSWERED)
    return contract.FindingResponse(
        ok=True,
        host=link.host,
        finding=_detail(
            detail, answered, finding_detail.occurrences(finding_id), finding_detail.events(finding_id)
        ),
        analyst_notes=[sections.note(row) for row in notes],
        can_retest=detail.row.source.slug in tested_here,
        also_found_by=_other_sources(link.website_id, detail, sources),
        answer=conversation.open,
        past_answers=conversation.past,
        messages=conversation.messages,
        may_dispute=conversation.may_dispute,
    )


def _other_sources(
    website_id: int, detail: FindingDetail, sources: Mapping[int, overview.SourceRow]
) -> list[str]:
    """Return the names of the other scanners with open findings of the same topic, in alphabetical order."""
    if topics.topic_of(detail.row.problem) is None:
        return []
    keys = topics.keys_of(topics.problem_id(detail.row.problem))
    found = finding_detail.sources_of(website_id, keys) - {detail.row.source.pk}
    return sorted(sources[pk].name for pk in found)


def _detail(
    detail: FindingDetail, answered: RowAnswer, occurrences: list[OccurrenceRow], events: list[EventRow]
) -> contract.FindingDetail:
    row = detail.row
    max_bytes = limits.MAX_WHOLE_TEXT_BYTES
    evidence = sections.cut(row.evidence_start, limits.MAX_STORED_EVIDENCE_BYTES)
    whole_texts = {
        "description": sections.cut(row.description, max_bytes),
        "remediation": sections.cut(row.remediation, max_bytes),
        "references": sections.first_texts(row.references, max_bytes),
        "evidence": evidence,
        "evidence_truncated": evidence != row.evidence_start,
    }
    as_listed = {
        name: value
        for name, value in msgspec.structs.asdict(sections.threat(row, answered)).items()
        if name in contract.FindingDetail.__struct_fields__  # a list may have more members
    }
    return contract.FindingDetail(
        **as_listed | whole_texts,
        locations=[_location(occurrence) for occurrence in occurrences or _own_location(detail)],
        timeline=_timeline(detail, events),
        decided_until=detail.decided_until,
    )


def _own_location(detail: FindingDetail) -> list[OccurrenceRow]:
    """Return the location of a finding without occurrences: an analyst entered it."""
    row = detail.row
    if not row.location:
        return []
    return [OccurrenceRow(row.location, row.evidence_start, row.first_seen, row.last_seen, detail.fixed_at)]


def _location(occurrence: OccurrenceRow) -> contract.Location:
    evidence = sections.cut(occurrence.evidence_start, limits.MAX_EVIDENCE_BYTES)
    return contract.Location(
        location=occurrence.location,
        evidence=evidence,
        evidence_truncated=evidence != occurrence.evidence_start,
        first_seen=occurrence.first_seen,
        last_seen=occurrence.last_seen,
        gone_at=occurrence.gone_at,
    )


def _timeline(detail: FindingDetail, recorded: list[EventRow]) -> list[contract.Event]:
    """Return the events, oldest first; ``fixed_at`` stands for a fix that was not recorded."""
    events = [contract.Event(at=detail.row.first_seen, event="first_seen")]
    events += [contract.Event(at=event.at, event=event.event, reason=event.reason) for event in recorded]
    if detail.fixed_at is not None and detail.fixed_at not in {event.at for event in recorded}:
        events.append(contract.Event(at=detail.fixed_at, event="fixed"))
    events.append(contract.Event(at=detail.row.last_seen, event="last_seen"))
    return sorted(events, key=lambda event: event.at)
