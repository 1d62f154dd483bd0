"""Encodes responses, and caches dashboards in each process.

The cache is never stale. Its key has everything that a response depends on, such as the data version of the
website: triggers in the database change it with every change of the data.
"""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from threading import Lock
from typing import Any

import msgspec
from cachetools import LRUCache

from dashboard_api import limits
from dashboard_api.crawler import installed
from dashboard_api.importing.journal import listed_by
from dashboard_api.queries.account_calls import Reader
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading import sections
from dashboard_api.reading.calls import build_calls
from dashboard_api.reading.changes import build_changes
from dashboard_api.reading.compare import build_comparison
from dashboard_api.reading.dashboard import build_dashboard
from dashboard_api.reading.finding import build_finding
from dashboard_api.reading.snapshot import snapshot
from signed_api import findings as contract
from signed_api.account import CallsRequest
from signed_api.compare import CompareRequest
from signed_api.findings import ChangesRequest, DashboardRequest, FindingRequest

_TIME_MEMBER = b'"generated_at":'  # cannot occur inside a JSON string, which escapes its quotes


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """An encoded response, cut where its time is inserted."""

    before: bytes
    after: bytes

    @classmethod
    def of(cls, response: contract.DashboardResponse) -> "CachedResponse":
        """Encode ``response``, and cut its time out."""
        before, name, after = msgspec.json.encode(response).partition(_TIME_MEMBER)
        return cls(before + name, after[after.index(b",") :])  # the comma after the time

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.before) + len(self.after)

    def encode(self, now: datetime) -> bytes:
        """Return the encoded response with ``now`` as its time."""
        return self.before + msgspec.json.encode(now) + self.after


_cache: LRUCache[tuple[Any, ...], CachedResponse] = LRUCache(
    limits.MAX_CACHED_BYTES, getsizeof=attrgetter("size")
)
_lock = Lock()


def dashboard_response(link: AccountSite, request: DashboardRequest, now: datetime) -> bytes:
    """Return the encoded DashboardResponse; raises SlowRequest."""
    key = _key(link, request, now)
    with _lock:
        cached = _cache.get(key)
    if cached is None:
        with snapshot():  # begins after the data version was read, so its data is never older
            schedules = installed.by_source(link.schedules)
            response = build_dashboard(link, request, now, schedules, installed.here(link.host))
        cached = CachedResponse.of(response)
        with _lock:
            _cache[key] = cached
    return cached.encode(now)


def finding_response(link: AccountSite, request: FindingRequest) -> bytes:
    """Return the encoded FindingResponse; raises UnknownFinding and SlowRequest."""
    with snapshot():
        return msgspec.json.encode(build_finding(link, request, tested_here=installed.sources()))


def changes_response(link: AccountSite, request: ChangesRequest, now: datetime) -> bytes:
    """Return the encoded ChangesResponse; raises SlowRequest."""
    with snapshot():
        return msgspec.json.encode(build_changes(link, request, now))


def comparison_response(link: AccountSite, request: CompareRequest) -> bytes:
    """Return the encoded CompareResponse; raises UnknownRun and SlowRequest."""
    with snapshot():
        return msgspec.json.encode(build_comparison(link, request, listed_by=listed_by))


def calls_response(account_id: int, request: CallsRequest, reader: Reader) -> bytes:
    """Return the encoded CallsResponse; raises SlowRequest."""
    with snapshot():
        return msgspec.json.encode(build_calls(account_id, request, reader=reader))


def clear() -> None:
    """Empty the cache; for tests and benchmarks."""
    with _lock:
        _cache.clear()


def _key(link: AccountSite, request: DashboardRequest, now: datetime) -> tuple[Any, ...]:
    """Return everything that the response depends on, except the time of day.

    ``tags`` are the version of the website, ``answers`` that of the account's answers.
    """
    entitlement = sections.entitlement(link, today=now.date())
    terms = msgspec.json.encode(entitlement)
    scanners = frozenset(installed.profiles().items())
    days = now.date(), link.answers.today(now)
    return link.pk, link.tags, link.answers, terms, request, days, link.schedules, scanners
