"""The pace of connections to a website: a scan must not burden it.

Only the worker of scans sets a pace; elsewhere connections do not wait.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_SLACK = 1.05  # so that a second of the website has no further connection because others were late
_lock = threading.Lock()
_pause = 0.0  # seconds between the beginnings of two connections
_next = 0.0  # when the next connection may begin, by time.monotonic()


@contextmanager
def paced(connections_a_second: float) -> Iterator[None]:
    """Begin at most so many connections a second in this process, by all threads together."""
    global _pause
    _pause = _SLACK / connections_a_second
    try:
        yield
    finally:
        _pause = 0.0


def wait_for_turn() -> None:
    """Wait until the next connection may begin."""
    global _next
    if not _pause:
        return
    with _lock:
        time.sleep(max(_next - time.monotonic(), 0))
        _next = time.monotonic() + _pause
