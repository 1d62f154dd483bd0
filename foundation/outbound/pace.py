"""The pace of a program's connections: a scan must not burden the website.

Without ``set_pace``, connections do not wait; only programs that scan set it.
"""

import threading
import time

_lock = threading.Lock()
_pause = 0.0  # seconds between the beginnings of two connections
_next = 0.0  # when the next connection may begin, by time.monotonic()


def set_pace(connections_a_second: float) -> None:
    """Begin at most so many connections a second in this process from now on."""
    global _pause
    _pause = 1 / connections_a_second


def wait_for_turn() -> None:
    """Wait until the next connection may begin."""
    global _next
    if not _pause:
        return
    with _lock:
        turn = max(_next, time.monotonic())
        _next = turn + _pause
    time.sleep(max(turn - time.monotonic(), 0))
