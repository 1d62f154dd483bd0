"""The response with changes since the caller's cursor: new findings, regressions, new notes.

Imports of a website run one at a time, so the ids of its findings and regressions grow in the order of
commits. Ids of notes do not: notes published shortly before the cursor are read again.
"""

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from dashboard_api import limits
from dashboard_api.contract.cursor import Cursor, read_cursor
from dashboard_api.models import Severity
from dashboard_api.queries import change_feed
from dashboard_api.queries.change_feed import FindingSummary, PublishedNote
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading import conversation, sections, topics
from dashboard_api.reading.days import midnight_days_ago
from dashboard_api.reading.problems import fix_of
from signed_api import findings as contract
from signed_api import limits as contract_limits
from signed_api.findings import NEXT_IMPORT, ChangesRequest


class Change(NamedTuple):
    """A new finding, or a fixed finding that came back at ``returned_at``."""

    severity: int
    finding_id: int
    returned_at: datetime | None = None


def build_changes(link: AccountSite, request: ChangesRequest, now: datetime) -> contract.ChangesResponse:
    """Return the changes since the cursor or in the days of the request; else only a first cursor."""
    newest = change_feed.newest(link.website_id)
    # ``begin`` is set by days, ``start`` by days or a cursor; without ``start``, only a cursor is returned.
    begin = midnight_days_ago(now, request.days) if request.days else None
    start: Cursor | None = None
    if begin:
        start = _cursor_at(link.website_id, begin)
    elif request.since:
        start = read_cursor(request.since)
    since = start or Cursor(finding_id=newest.finding_id, event_id=newest.event_id)
    until = newest
    if not start and _was_linked_before_first_import(link, now):
        until = change_feed.FeedPosition(0, 0)  # the next request then gets all findings
    elif request.until == NEXT_IMPORT:
        until = change_feed.newest_of_next_import(link.website_id, since.finding_id, since.event_id) or newest
    noted_since = begin or (start.moment if start else now) - limits.NOTE_OVERLAP
    notes = change_feed.published_notes(link.website_id, link.account_id, noted_since)
    found, are_more = (
        _findings(link.website_id, since, until, Severity[request.min_severity.upper()], begin)
        if start
        else ([], False)
    )
    messages = conversation.messages_since(link, start.message_id if start else 0, begin) if start else []
    counts = Counter(change.severity for change in found)
    shown = found[: contract_limits.MAX_CHANGES]
    summaries = change_feed.summaries([change.finding_id for change in shown])
    return contract.ChangesResponse(
        ok=True,
        host=link.host,
        cursor=str(_cursor(until, notes, now, _newest_message(link, messages))),
        findings=[_change(change, summaries[change.finding_id]) for change in shown],
        total=len(found),
        total_relation="at_least" if are_more else "exact",
        by_severity={each.label: counts[each] for each in Severity},
        analyst_notes=[_note(note) for note in notes if start and note.pk not in start.note_ids],
        first_seen_count=change_feed.first_seen_count(link.website_id, begin.date()) if begin else None,
        more=until.finding_id < newest.finding_id
        or until.event_id < newest.event_id
        or len(messages) == contract_limits.MAX_CHANGES,
        messages=messages,
    )


def _newest_message(link: AccountSite, messages: list[contract.MessageChange]) -> int:
    """Return the id of the last message of a full page, else of the newest message of the account."""
    if len(messages) == contract_limits.MAX_CHANGES:
        return int(messages[-1].id)
    return conversation.newest_message(link)


def _was_linked_before_first_import(link: AccountSite, now: datetime) -> bool:
    """Return whether the link is new, and older than the website's first import."""
    if link.linked_at < now - limits.NEW_LINK_PERIOD:
        return False
    first = change_feed.first_import_at(link.website_id)
    return first is not None and first >= link.linked_at


def _cursor_at(website_id: int, moment: datetime) -> Cursor:
    """Return the position of the last import before ``moment``: later findings were imported after it."""
    newest = change_feed.newest_before(website_id, moment) or change_feed.FeedPosition(0, 0)
    return Cursor(finding_id=newest.finding_id, event_id=newest.event_id)


def _findings(
    website_id: int, since: Cursor, until: change_feed.FeedPosition, min_severity: int, begin: datetime | None
) -> tuple[list[Change], bool]:
    """Return new and returned findings, worst first, and whether more exist than are counted.

    A new finding that came back counts as new. ``begin`` leaves out what was first seen or came back earlier.
    """
    returned = change_feed.regressions(website_id, since.event_id, until.event_id, min_severity)
    returned = [row for row in returned if begin is None or row.at >= begin]
    counted = returned[-contract_limits.MAX_REGRESSIONS :]
    found = {row.finding_id: Change(row.severity, row.finding_id, row.at) for row in counted}
    new: Counter[int] = Counter()
    for finding_id, severity in change_feed.new_findings(
        website_id, since.finding_id, until.finding_id, min_severity, begin
    ):
        found.pop(finding_id, None)  # it is new, not returned
        new[severity] += 1
        if new[severity] <= contract_limits.MAX_COUNTED_CHANGES:
            found[finding_id] = Change(severity, finding_id)
    are_more = (
        len(returned) > len(counted) or max(new.values(), default=0) > contract_limits.MAX_COUNTED_CHANGES
    )
    worst_first = sorted(
        found.values(), key=lambda change: (change.severity, change.finding_id), reverse=True
    )
    return worst_first, are_more


def _change(change: Change, summary: FindingSummary) -> contract.Change:
    return contract.Change(
        event="new" if change.returned_at is None else "regressed",
        at=change.returned_at or summary.first_seen,
        id=str(change.finding_id),
        severity=sections.LABELS[change.severity],
        title=summary.title,
        location=summary.location,
        problem=topics.problem_id(summary.problem),
        fix=fix_of(topics.problem_id(summary.problem), summary.fix_start),
    )


def _note(note: PublishedNote) -> contract.NoteChange:
    return contract.NoteChange(
        id=str(note.pk),
        finding_id=None if note.finding_id is None else str(note.finding_id),
        finding_title=note.finding_title,
        author=note.author,
        published_at=note.published_at,
    )


def _cursor(
    until: change_feed.FeedPosition, notes: list[PublishedNote], now: datetime, message_id: int
) -> Cursor:
    """Return the cursor at ``until``; it lists the notes that the next request will read again."""
    read_again = tuple(note.pk for note in notes if note.published_at > now - limits.NOTE_OVERLAP)
    return Cursor(
        finding_id=until.finding_id,
        event_id=until.event_id,
        seconds=int(now.timestamp()),
        note_ids=read_again,
        message_id=message_id,
    )
