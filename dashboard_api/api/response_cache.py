"""The answer as bytes: the one that was given before, where nothing it is made of has changed, or a new one.

What is remembered are dashboards. The memory is each process's own and never stale: its key holds the
website's tags, which the database draws anew with every change, and all else that an answer depends on.
Decision record 0019.
"""

from datetime import datetime
from threading import Lock
from typing import Any

import msgspec
from cachetools import LRUCache

from dashboard_api import limits
from dashboard_api.contract import ChangesRequest, DashboardRequest, FindingRequest
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading import sections
from dashboard_api.reading.changes import build_changes
from dashboard_api.reading.dashboard import build_dashboard
from dashboard_api.reading.finding import build_finding
from dashboard_api.reading.snapshot import snapshot

_memory: LRUCache[tuple[Any, ...], bytes] = LRUCache(limits.MAX_REMEMBERED_BYTES, getsizeof=len)
_one_at_a_time = Lock()
_PLACE = b'"generated_at":'  # what comes before can hold no quotation mark: ok and host


def answer(link: AccountSite, question: DashboardRequest, now: datetime) -> bytes:
    """The encoded DashboardAnswer; raises SlowRequest."""
    generated = _PLACE + msgspec.json.encode(now)
    key = _key(link, question, now)
    with _one_at_a_time:
        known = _memory.get(key)
    if known is not None:
        return known.replace(_PLACE, generated, 1)
    with snapshot():  # it begins after the tags were read: what it shows is no older than they are
        made = msgspec.json.encode(build_dashboard(link, question, now))
    with _one_at_a_time:
        _memory[key] = made.replace(generated, _PLACE, 1)
    return made


def finding_answer(link: AccountSite, question: FindingRequest) -> bytes:
    """The encoded FindingAnswer; raises UnknownFinding and SlowRequest."""
    with snapshot():
        return msgspec.json.encode(build_finding(link, question))


def changes_answer(link: AccountSite, question: ChangesRequest, now: datetime) -> bytes:
    """The encoded ChangesAnswer; raises SlowRequest."""
    with snapshot():
        return msgspec.json.encode(build_changes(link, question, now))


def forget() -> None:
    """Make every answer anew, for those who measure and test that."""
    with _one_at_a_time:
        _memory.clear()


def _key(link: AccountSite, question: DashboardRequest, now: datetime) -> tuple[Any, ...]:
    """Everything that the answer is made of, but for the second when it was generated."""
    entitlement = sections.entitlement(link, today=now.date())
    return link.pk, link.tags, msgspec.json.encode(entitlement), question, now.date()
