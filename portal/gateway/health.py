"""A service's health as this process sees it: a circuit breaker and a budget for retries.

After MAX_FAILURES failures in a row only one probe is sent every PROBE_SECONDS, until one succeeds.
"""

import threading
import time
from collections import defaultdict

from foundation.operations.metrics import note_breaker
from portal.gateway.errors import ServiceDown

MAX_FAILURES = 5
PROBE_SECONDS = 10
RETRIES_PER_CALL = 0.1  # that a call earns
MAX_SAVED_RETRIES = 10


class Health:
    """Counts of one service: failures in a row, and retries that its calls have earned."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._probe_at = 0.0
        self._retries: float = MAX_SAVED_RETRIES

    def begin_call(self) -> None:
        """Count a call; ten calls earn one retry."""
        with self._lock:
            self._retries = min(MAX_SAVED_RETRIES, self._retries + RETRIES_PER_CALL)

    def check(self) -> None:
        """Raise ServiceDown while the breaker is open, unless a probe is due: then the caller sends it."""
        with self._lock:
            if self._failures < MAX_FAILURES:
                return
            now = time.monotonic()
            if now < self._probe_at:
                raise ServiceDown(f"{self._failures} calls in a row failed")
            self._probe_at = now + PROBE_SECONDS

    def is_good(self) -> bool:
        """Return whether the last attempt succeeded, or no attempt was made yet."""
        return self._failures == 0

    def record(self, *, failed: bool) -> None:
        """Store the outcome of an attempt."""
        with self._lock:
            was_open = self._failures >= MAX_FAILURES
            self._failures = self._failures + 1 if failed else 0
            is_open = self._failures >= MAX_FAILURES
            if is_open != was_open:
                note_breaker(is_open=is_open)
            if failed:
                self._probe_at = time.monotonic() + PROBE_SECONDS

    def take_retry(self) -> bool:
        """Use up one earned retry; return False if no retry is left or the breaker is open."""
        with self._lock:
            if self._failures >= MAX_FAILURES or self._retries < 1:
                return False
            self._retries -= 1
            return True


_services: defaultdict[str, Health] = defaultdict(Health)  # by base URL; a deployment has one service


def health_of(base_url: str) -> Health:
    """Return the health of the service at ``base_url``."""
    return _services[base_url]
