"""A limit on concurrent calls to the service, so that some threads always stay free."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from portal.gateway.errors import TooManyCalls


class Bulkhead:
    """A counter of this process's calls in progress."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    @contextmanager
    def place(self, limit: int) -> Iterator[None]:
        """Hold one of ``limit`` places; raises TooManyCalls at once when all are taken."""
        with self._lock:
            if self._count >= limit:
                raise TooManyCalls(f"{limit} calls are waiting for the service already")
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1


calls = Bulkhead()
slow_calls = Bulkhead()  # the calls that take much longer; they count in both
