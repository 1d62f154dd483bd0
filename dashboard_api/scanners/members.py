"""Members of a JSON object, each of which may be absent, or anything."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from dashboard_api.scanners.lazy_list import Items, is_list
from dashboard_api.scanners.report import BadRow
from dashboard_api.scanners.text import one_line

Row = dict[str, Any]


def object_of(parent: Row, key: str) -> Row:
    """The object there, or an empty one."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def list_of(parent: Row, key: str) -> Sequence[Any]:
    """The list there, or an empty one."""
    value = parent.get(key)
    return value if is_list(value) else []


def objects_in(value: object) -> Sequence[Row | BadRow]:
    """The objects of a member that is one object or a list of them; a BadRow for what is no object."""
    if isinstance(value, Items):
        return Items(value, _as_object)
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [_as_object(item) for item in values]


def _as_object(item: object) -> Row | BadRow:
    return item if isinstance(item, dict | BadRow) else BadRow("is not a JSON object")


def line_of(parent: Row, *keys: str) -> str:
    """The first of the keys that has a text, on one line."""
    return next((line for key in keys if (line := one_line(text_of(parent.get(key))))), "")


def texts_of(value: object) -> list[str]:
    """The texts of a member that is null, one text, or a list of them."""
    values = value if is_list(value) else [value]
    return [text for item in values if (text := text_of(item))]


def text_of(value: object) -> str:
    """A text or a number, as text."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def time_of(parent: Row, *keys: str) -> datetime | None:
    """The first time there is, in UTC, which it also is without a zone."""
    return next((time for key in keys if (time := moment(line_of(parent, key)))), None)


def moment(text: str) -> datetime | None:
    """An ISO 8601 time; none for anything else, or for Go's zero time of the year 1."""
    try:
        return as_utc(datetime.fromisoformat(text))
    except ValueError:
        return None


def written_moment(text: str) -> datetime | None:
    """A time as in mail, "Wed, 3 Dec 2025 12:46:55", UTC where it has no zone; none in another language."""
    try:
        return as_utc(parsedate_to_datetime(text))
    except (TypeError, ValueError, OverflowError):
        return None


def as_utc(time: datetime) -> datetime | None:
    """``time``, which is UTC where it has no zone; none for the year 1, or what UTC cannot tell."""
    try:
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if time.year > 1 else None
