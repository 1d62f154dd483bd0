"""Limits for long requests in one process, so that its other threads remain free."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

SLOW_SECONDS = 1  # a request that takes longer is slow
SLOW_FOR_SECONDS = 120  # for so long, a caller counts as slow after a slow request


class NoPlace(Exception):
    """No place is free for the caller now."""


class Places:
    """A fixed number of places, which one account can never fill alone.

    So one customer's slow requests leave room for others.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._held: Counter[int] = Counter()
        self._lock = Lock()

    def take(self, account_id: int) -> bool:
        """Take a place for the account; return False if it may have no more. ``give_back`` must follow."""
        with self._lock:
            # One place always remains for another account.
            has_room = self._held.total() < self._number and self._held[account_id] + 1 < self._number
            if has_room:
                self._held[account_id] += 1
        return has_room

    def holds(self, account_id: int) -> bool:
        """Return whether the account has a place now."""
        with self._lock:
            return self._held[account_id] > 0

    def give_back(self, account_id: int) -> None:
        """Give a place of the account back."""
        with self._lock:
            self._held[account_id] -= 1
            self._held += Counter()  # drops accounts without a place


class SlowCallers:
    """Limits callers after a slow request: one may hold ``places``, and all together one more than that.

    So requests that wait for a lock or the database do not hold all threads. Kinds of requests, such as
    changes, are slow separately; a slow caller without a running request of a slow kind always gets a place.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._held: Counter[tuple[int, str]] = Counter()
        self._slow_until: dict[tuple[int, str], float] = {}
        self._lock = Lock()

    @contextmanager
    def place(self, caller: int, kind: str = "") -> Iterator[None]:
        """Hold a place for a request; raises NoPlace."""
        began, key = time.monotonic(), (caller, kind)
        with self._lock:
            self._slow_until = {each: end for each, end in self._slow_until.items() if end > began}
            if key in self._slow_until and not self._has_room(key):
                raise NoPlace
            self._held[key] += 1
        try:
            yield
        finally:
            now = time.monotonic()
            with self._lock:
                self._held[key] -= 1
                self._held += Counter()  # drops callers without a place
                if now - began > SLOW_SECONDS:
                    self._slow_until[key] = now + SLOW_FOR_SECONDS

    def _has_room(self, key: tuple[int, str]) -> bool:
        held_by_slow = {each: self._held[each] for each in self._slow_until}
        has_none = not any(number for (caller, _kind), number in held_by_slow.items() if caller == key[0])
        return has_none or (held_by_slow[key] < self._places and sum(held_by_slow.values()) <= self._places)
