"""How many files a process makes at a time: each holds one of its threads, and asks another for its pages."""

from collections.abc import Generator, Iterator
from threading import BoundedSemaphore

from portal.exports.errors import Busy

AT_ONCE = 2  # of the four threads of a process

_free = BoundedSemaphore(AT_ONCE)


class Place:
    """One of them, from here until ``release``; raises Busy."""

    def __init__(self) -> None:
        if not _free.acquire(blocking=False):
            raise Busy
        self._is_held = True

    def release(self) -> None:
        """Give it back, once."""
        if self._is_held:
            self._is_held = False
            _free.release()

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Held(Iterator[bytes]):
    """``chunks`` for a response, which closes them also where nobody ever read one."""

    def __init__(self, chunks: Generator[bytes], place: Place) -> None:
        self._chunks = chunks
        self._place = place

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        """What the response does at its end."""
        try:
            self._chunks.close()
        finally:
            self._place.release()
