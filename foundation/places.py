"""Places of a process for requests that last long, so that its other threads stay free for the rest."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

SLOW_SECONDS = 1
SLOW_FOR_SECONDS = 120  # a caller counts as slow after a slow request


class NoPlace(Exception):
    """No place is free for the caller now."""


class Places:
    """A number of places for all accounts, of which no account holds the last one.

    So the slow requests of one customer do not keep others out.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._held: Counter[int] = Counter()
        self._lock = Lock()

    def take(self, account_id: int) -> bool:
        """Take a place for the account, if there is one for it; ``give_back`` must follow."""
        with self._lock:
            has_room = self._held.total() < self._number and self._held[account_id] + 1 < self._number
            self._held[account_id] += has_room
        return has_room

    def give_back(self, account_id: int) -> None:
        """Give a place of the account back."""
        with self._lock:
            self._held[account_id] -= 1
            self._held += Counter()  # drops accounts without a place


class SlowCallers:
    """Callers of whom a request was slow a while ago: each has few places, and all together one more.

    So requests that wait for a lock or the database do not hold all threads. The first request of a caller
    always has a place.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[int] = Counter()
        self._slow_until: dict[int, float] = {}
        self._lock = Lock()

    @contextmanager
    def place(self, caller: int) -> Iterator[None]:
        """Hold a place for a request; raises NoPlace."""
        began = time.monotonic()
        with self._lock:
            self._slow_until = {each: end for each, end in self._slow_until.items() if end > began}
            if not self._has_room(caller):
                raise NoPlace
            self._held[caller] += 1
        try:
            yield
        finally:
            now = time.monotonic()
            with self._lock:
                self._held[caller] -= 1
                self._held += Counter()  # drops callers without a place
                if now - began > SLOW_SECONDS:
                    self._slow_until[caller] = now + SLOW_FOR_SECONDS

    def _has_room(self, caller: int) -> bool:
        if caller not in self._slow_until or not self._held[caller]:
            return True
        of_all = sum(self._held[each] for each in self._slow_until)
        return self._held[caller] < self._most and of_all <= self._most
