"""Reads the changes of a website: new findings, regressions and notes. Each statement can use an index."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from dashboard_api.backends.statements import placeholders, select, to_column, to_datetime
from dashboard_api.models.findings import Finding, Severity
from signed_api import limits as contract_limits


class FeedPosition(NamedTuple):
    """The newest ids of a finding and of a regression of a website; 0 without one."""

    finding_id: int
    event_id: int


class Regression(NamedTuple):
    """A fixed finding that came back at this time."""

    finding_id: int
    severity: int
    at: datetime


class FindingSummary(NamedTuple):
    """The parts of a finding that a change shows; ``fix_start`` is the start of its remediation."""

    title: str
    location: str
    problem: str
    fix_start: str
    first_seen: datetime


class PublishedNote(NamedTuple):
    """A published note with its finding, without its text."""

    pk: int
    finding_id: int | None
    finding_title: str | None
    author: str
    published_at: datetime


# "id + 0" prevents PostgreSQL from scanning the primary key backwards through all websites.
_NEWEST = """
SELECT (SELECT MAX(id + 0) FROM dashboard_api_finding WHERE website_id = %s),
(SELECT MAX(id) FROM dashboard_api_findingevent WHERE website_id = %s AND event = 'regressed')
"""


def newest(website_id: int) -> FeedPosition:
    """Return the newest ids of the website now."""
    ((finding_id, event_id),) = select(Finding, _NEWEST, [website_id, website_id])
    return FeedPosition(finding_id or 0, event_id or 0)


_LAST_EVENT = "SELECT MAX(id) FROM dashboard_api_findingevent WHERE website_id = %s"


def last_event(website_id: int) -> int:
    """Return the id of the newest event of any kind of the website now; 0 without one."""
    ((event_id,),) = select(Finding, _LAST_EVENT, [website_id])
    return event_id or 0


# Both ids only grow, because imports of a website run one at a time.
_NEXT_IMPORT = """
SELECT newest_finding_id, newest_event_id FROM dashboard_api_importrun
WHERE website_id = %s AND (newest_finding_id, newest_event_id) > (%s, %s)
ORDER BY newest_finding_id, newest_event_id LIMIT 1
"""


def newest_of_next_import(website_id: int, finding_id: int, event_id: int) -> FeedPosition | None:
    """Return the newest ids after the next import, if one followed."""
    found = select(Finding, _NEXT_IMPORT, [website_id, finding_id, event_id])
    return FeedPosition(*found[0]) if found else None


_NEWEST_BEFORE = """
SELECT newest_finding_id, newest_event_id FROM dashboard_api_importrun
WHERE website_id = %s AND imported_at < %s AND newest_finding_id IS NOT NULL
ORDER BY imported_at DESC LIMIT 1
"""


def newest_before(website_id: int, moment: datetime) -> FeedPosition | None:
    """Return the newest ids at the end of the last import before ``moment``, if there was one."""
    found = select(Finding, _NEWEST_BEFORE, [website_id, to_column(moment)])
    if not found:
        return None
    ((finding_id, event_id),) = found
    return FeedPosition(finding_id, event_id or 0)


_FIRST_IMPORT = """
SELECT imported_at FROM dashboard_api_importrun WHERE website_id = %s ORDER BY imported_at LIMIT 1
"""


def first_import_at(website_id: int) -> datetime | None:
    """Return the time of the first import, if there was one."""
    found = select(Finding, _FIRST_IMPORT, [website_id])
    return to_datetime(found[0][0]) if found else None


_FIRST_SEEN = "SELECT COUNT(*) FROM dashboard_api_finding WHERE website_id = %s AND first_seen >= %s"


def first_seen_count(website_id: int, day: date) -> int:
    """Count the findings of any status that were first seen on ``day`` or later."""
    # SQLite compares texts: "2026-11-23" is before all times of this day.
    ((count,),) = select(Finding, _FIRST_SEEN, [website_id, day.isoformat()])
    return int(count)


_NEW = """
SELECT id, severity FROM (
    SELECT id, severity FROM dashboard_api_finding
    WHERE website_id = %s AND status = 'open' AND severity = %s AND id > %s AND id <= %s{first_seen}
    ORDER BY id DESC LIMIT %s
) AS level
"""


def new_findings(
    website_id: int, after: int, until: int, min_severity: int, first_seen_since: datetime | None
) -> list[tuple[int, int]]:
    """Return ids and severities of open findings with ids above ``after`` and up to ``until``.

    Return at most MAX_COUNTED_CHANGES + 1 of each severity: one more shows that there are more. With
    ``first_seen_since``, leave out findings first seen earlier.
    """
    severities = [severity.value for severity in Severity if severity >= min_severity]
    since = [to_column(first_seen_since)] if first_seen_since else []
    parameters: list[int | str] = []
    for severity in severities:
        parameters += [website_id, severity, after, until, *since, contract_limits.MAX_COUNTED_CHANGES + 1]
    one_severity = _NEW.format(first_seen=" AND first_seen >= %s" if first_seen_since else "")
    found = select(Finding, " UNION ALL ".join([one_severity] * len(severities)), parameters)
    return [(pk, severity) for pk, severity in found]


_REGRESSIONS = """
SELECT finding.id, severity, at FROM (
    SELECT id, finding_id, at FROM dashboard_api_findingevent
    WHERE website_id = %s AND event = 'regressed' AND id > %s AND id <= %s ORDER BY id DESC LIMIT %s
) AS back JOIN dashboard_api_finding AS finding ON finding.id = back.finding_id
WHERE status = 'open' AND severity >= %s ORDER BY back.id
"""


def regressions(website_id: int, after: int, until: int, min_severity: int) -> list[Regression]:
    """Return the regressions of open findings, oldest first; a finding that came back twice appears twice."""
    parameters = [website_id, after, until, contract_limits.MAX_REGRESSIONS + 1, min_severity]
    return [
        Regression(pk, severity, to_datetime(at))
        for pk, severity, at in select(Finding, _REGRESSIONS, parameters)
    ]


# The start of a remediation has limits.MAX_FIX_START characters.
_SUMMARIES = """
SELECT id, title, location, problem, SUBSTR(remediation, 1, 1000), first_seen
FROM dashboard_api_finding WHERE id IN ({ids})
"""


def summaries(ids: Sequence[int]) -> dict[int, FindingSummary]:
    """Return the summaries of these findings by id."""
    found = select(Finding, _SUMMARIES.format(ids=placeholders(ids)), ids) if ids else []
    return {
        pk: FindingSummary(title, location, problem, fix_start, to_datetime(first_seen))
        for pk, title, location, problem, fix_start, first_seen in found
    }


_PUBLISHED = """
SELECT note.id, finding_id, title, author, published_at FROM dashboard_api_analystnote AS note
LEFT JOIN dashboard_api_finding AS finding ON finding.id = finding_id
WHERE note.website_id = %s AND NOT is_internal AND (account_id = %s OR account_id IS NULL)
AND published_at > %s ORDER BY published_at DESC, note.id DESC LIMIT %s
"""


def published_notes(website_id: int, account_id: int, since: datetime) -> list[PublishedNote]:
    """Return the newest notes that the account may read, published after ``since``."""
    parameters = [website_id, account_id, to_column(since), contract_limits.MAX_CHANGES]
    return [
        PublishedNote(pk, finding_id, finding_title, author, to_datetime(at))
        for pk, finding_id, finding_title, author, at in select(Finding, _PUBLISHED, parameters)
    ]
