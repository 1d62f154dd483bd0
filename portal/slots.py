"""A limit on files that are written at a time in a process: each uses one thread, and may last minutes."""

from collections.abc import Generator, Iterator

from foundation.places import Places

MAX_CONCURRENT = 2  # of the four threads of a process

_places = Places(MAX_CONCURRENT)


class NoSlot(Exception):
    """No slot is free for the account."""


class Slot:
    """One of the slots, until ``release``; raises NoSlot if none is free for the account."""

    _is_held = False

    def __init__(self, account_id: int) -> None:
        if not _places.take(account_id):
            raise NoSlot
        self._account_id, self._is_held = account_id, True

    def __del__(self) -> None:
        """Release the slot of a response that is not sent, because its session ended or a database failed."""
        self.release()

    def release(self) -> None:
        """Release the slot; further calls do nothing."""
        if self._is_held:
            self._is_held = False
            _places.give_back(self._account_id)

    def __enter__(self) -> "Slot":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class SlotStream(Iterator[bytes]):
    """Chunks of a response that holds a slot; closing releases it, also if nothing was read."""

    def __init__(self, chunks: Generator[bytes], slot: Slot) -> None:
        self._chunks = chunks
        self._slot = slot

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        """Close the chunks and release the slot."""
        try:
            self._chunks.close()
        finally:
            self._slot.release()
