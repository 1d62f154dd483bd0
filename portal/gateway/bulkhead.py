"""A limit on concurrent calls to the service, so that some threads are always free."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from portal.gateway.errors import TooManyCalls


class Bulkhead:
    """A counter of this process's calls in progress."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._count = 0

    @contextmanager
    def place(self, limit: int, *, patience: float = 0) -> Iterator[None]:
        """Hold one of ``limit`` places; raises TooManyCalls if none is free within ``patience`` seconds."""
        with self._turn:
            if not self._turn.wait_for(lambda: self._count < limit, timeout=patience):
                raise TooManyCalls(f"{limit} calls are waiting for the service already")
            self._count += 1
        try:
            yield
        finally:
            with self._turn:
                self._count -= 1
                self._turn.notify()


calls = Bulkhead()
slow_calls = Bulkhead()  # much longer calls; they count in both
