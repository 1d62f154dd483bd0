"""Cursors: positions in the changes of a website and in the calls of an account, opaque to callers."""

import re
from datetime import UTC, datetime, timedelta

import msgspec

from signed_api.limits import MAX_CURSOR_LENGTH
from signed_api.values import CALL_PATTERN, CURSOR_PATTERN

# The parts that ``__str__`` writes, separated by full stops
_CURSOR = re.compile(CURSOR_PATTERN, re.ASCII)
_LARGEST_ID = 2**63 - 1
_CALL = re.compile(CALL_PATTERN, re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """A position in changes: the newest ids at ``seconds``, and the notes published shortly before.

    Cursors from before version 1.2.0 have no ``message_id``: no message was written before them.
    """

    finding_id: int = 0
    event_id: int = 0
    seconds: int = 0
    note_ids: tuple[int, ...] = ()
    message_id: int = 0

    @property
    def moment(self) -> datetime:
        """The time at which the cursor was issued."""
        return datetime.fromtimestamp(self.seconds, tz=UTC)

    def __str__(self) -> str:
        notes = "-".join(map(str, self.note_ids))
        return f"{self.finding_id}.{self.event_id}.{self.seconds}.{notes}.{self.message_id}"


def read_cursor(text: str) -> Cursor:
    """Parse a cursor; raises ValueError for text that the service cannot have issued."""
    if len(text) > MAX_CURSOR_LENGTH or not _CURSOR.fullmatch(text):
        raise ValueError("no cursor")
    finding_id, event_id, seconds, notes, *messages = text.split(".")
    note_ids = tuple(map(int, notes.split("-"))) if notes else ()
    cursor = Cursor(
        finding_id=int(finding_id),
        event_id=int(event_id),
        seconds=int(seconds),
        note_ids=note_ids,
        message_id=int(messages[0]) if messages else 0,
    )
    if max(cursor.finding_id, cursor.event_id, cursor.message_id, *note_ids) > _LARGEST_ID:
        raise ValueError("no cursor")
    return cursor


class CallPosition(msgspec.Struct, frozen=True, kw_only=True):
    """A position in the calls of an account, which are sorted by time and request id."""

    at: datetime
    request_id: str

    def __str__(self) -> str:
        return f"{(self.at - _EPOCH) // timedelta(microseconds=1)}.{self.request_id}"


def read_call_position(text: str) -> CallPosition:
    """Parse a position in calls; raises ValueError for text that the service cannot have issued."""
    if not _CALL.fullmatch(text):
        raise ValueError("no position")
    microseconds, _, request_id = text.partition(".")
    return CallPosition(at=_EPOCH + timedelta(microseconds=int(microseconds)), request_id=request_id)
