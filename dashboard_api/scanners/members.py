"""Access to the members of JSON objects in reports. Any member may be absent or have any type."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from dashboard_api import limits
from dashboard_api.scanners.lazy_list import LazyList, is_list
from dashboard_api.scanners.report import BadRow
from dashboard_api.scanners.text import one_line
from dashboard_api.scanners.times import Time, read_time

Row = dict[str, Any]
_MAX_TEXT = 4 * limits.MAX_STORED_EVIDENCE_BYTES  # characters, including markup


def object_of(parent: Row, key: str) -> Row:
    """Return the object at ``key``, or an empty one."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def list_of(parent: Row, key: str) -> Sequence[Any]:
    """Return the list at ``key``, or an empty one."""
    value = parent.get(key)
    return value if is_list(value) else []


def dicts_of(parent: Row, key: str) -> list[Row]:
    """Return the objects in the list at ``key``; skip other items."""
    return [item for item in list_of(parent, key) if isinstance(item, dict)]


def objects_in(value: object) -> Sequence[Row | BadRow]:
    """Return the items of a list, or the single object, with a BadRow for each that is no object."""
    if isinstance(value, LazyList):
        return LazyList(value, as_object)
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [as_object(item) for item in values]


def as_object(item: object) -> Row | BadRow:
    """Return ``item`` if it is an object or already a BadRow, else a BadRow."""
    return item if isinstance(item, dict | BadRow) else BadRow("is not a JSON object")


def line_of(parent: Row, *keys: str) -> str:
    """Return the first text among the members ``keys``, on one line."""
    return next((line for key in keys if (line := one_line(text_of(parent.get(key))))), "")


def texts_of(value: object) -> list[str]:
    """Return the texts in ``value``: null, one text, or a list."""
    values = value if is_list(value) else [value]
    return [text for item in values if (text := text_of(item))]


def text_of(value: object) -> str:
    """Return a text, cut to a length limit, or a number as text; empty for any other value."""
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def address_in(base: str, address: str) -> str:
    """Return ``address`` resolved against ``base``; raises BadRow if either is no address."""
    try:
        return urljoin(base, address)
    except ValueError as error:
        raise BadRow(f"names no address: {address[:100]}") from error


def address_of_path(base: str, path: str) -> str:
    """Return ``path`` on the host of ``base``, even if it begins with two slashes; raises BadRow."""
    return address_in(base, f"/.{path}" if path.startswith("//") else path)


def time_of(parent: Row, *keys: str) -> Time:
    """Return the time in the first text among the members ``keys``."""
    return read_time(line_of(parent, *keys))


def known_time_of(parent: Row, key: str) -> datetime | None:
    """Return the time at ``key``, if it is present and understood."""
    time = time_of(parent, key)
    return time if isinstance(time, datetime) else None
