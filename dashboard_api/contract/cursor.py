"""The position of a caller in the changes of a website; opaque to callers (decision record 0032)."""

import re
from datetime import UTC, datetime

import msgspec

from dashboard_api.limits import MAX_CURSOR_LENGTH

PATTERN = r"^[0-9]{1,19}\.[0-9]{1,19}\.[0-9]{1,11}\.([0-9]{1,19}(-[0-9]{1,19})*)?$"
_CURSOR = re.compile(PATTERN, re.ASCII)
_LARGEST_ID = 2**63 - 1


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """The newest finding and regression of a website at ``seconds``, and the notes published just before."""

    finding_id: int = 0
    event_id: int = 0
    seconds: int = 0
    note_ids: tuple[int, ...] = ()

    @property
    def moment(self) -> datetime:
        """The time at which the cursor was issued."""
        return datetime.fromtimestamp(self.seconds, tz=UTC)

    def __str__(self) -> str:
        notes = "-".join(map(str, self.note_ids))
        return f"{self.finding_id}.{self.event_id}.{self.seconds}.{notes}"


def read_cursor(text: str) -> Cursor:
    """Return the cursor that ``text`` encodes; raises ValueError for text that was never issued."""
    if len(text) > MAX_CURSOR_LENGTH or not _CURSOR.fullmatch(text):
        raise ValueError("no cursor")
    finding_id, event_id, seconds, notes = text.split(".")
    note_ids = tuple(map(int, notes.split("-"))) if notes else ()
    cursor = Cursor(
        finding_id=int(finding_id), event_id=int(event_id), seconds=int(seconds), note_ids=note_ids
    )
    if max(cursor.finding_id, cursor.event_id, *note_ids) > _LARGEST_ID:
        raise ValueError("no cursor")
    return cursor
