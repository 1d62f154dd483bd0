"""Encoded responses: the one that was given before if nothing in it has changed, or a new one.

Only dashboards are remembered, by each process. The memory is never stale: its key holds the tags of the
website, which the database changes with all of its data, and everything else that a response depends on.
Decision records 0019 and 0052.
"""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from threading import Lock
from typing import Any

import msgspec
from cachetools import LRUCache

from dashboard_api import limits
from dashboard_api.contract import ChangesRequest, DashboardRequest, FindingRequest, responses
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading import sections
from dashboard_api.reading.changes import build_changes
from dashboard_api.reading.dashboard import build_dashboard
from dashboard_api.reading.finding import build_finding
from dashboard_api.reading.snapshot import snapshot


@dataclass(frozen=True, slots=True)
class RememberedResponse:
    """The members of a response in their order; all but ``dashboard``, which holds its time, are encoded."""

    members: dict[str, Any]
    size: int

    @classmethod
    def of(cls, response: responses.DashboardResponse) -> "RememberedResponse":
        """Return what is remembered of a response."""
        members = msgspec.structs.asdict(response)
        encoded = {name: msgspec.json.encode(member) for name, member in members.items()}
        raw = {name: msgspec.Raw(member) for name, member in encoded.items()}
        return cls(raw | {"dashboard": response.dashboard}, size=sum(map(len, encoded.values())))

    def encode(self, now: datetime) -> bytes:
        """Return the response as it is given at ``now``."""
        page = msgspec.structs.replace(self.members["dashboard"], generated_at=now)
        return msgspec.json.encode(self.members | {"dashboard": page})


_memory: LRUCache[tuple[Any, ...], RememberedResponse] = LRUCache(
    limits.MAX_REMEMBERED_BYTES, getsizeof=attrgetter("size")
)
_one_at_a_time = Lock()


def answer(link: AccountSite, question: DashboardRequest, now: datetime) -> bytes:
    """Return the encoded DashboardResponse; raise SlowRequest."""
    key = _key(link, question, now)
    with _one_at_a_time:
        remembered = _memory.get(key)
    if remembered is None:
        with snapshot():  # it begins after the tags were read: what it shows is no older than they are
            response = build_dashboard(link, question, now)
        remembered = RememberedResponse.of(response)
        with _one_at_a_time:
            _memory[key] = remembered
    return remembered.encode(now)


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
