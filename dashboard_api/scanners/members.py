"""Access to the members of JSON objects in reports. Any member may be absent or have any type.

Functions with "at" in their name take an object and a key; ``text_of`` and ``texts_of`` take a value.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from dashboard_api import limits
from dashboard_api.scanners.lazy_list import LazyList, is_list
from dashboard_api.scanners.report import BadRow
from dashboard_api.scanners.text import one_line
from dashboard_api.scanners.times import Time, read_time

JsonObject = dict[str, Any]
_MAX_TEXT = 4 * limits.MAX_STORED_EVIDENCE_BYTES  # characters, including markup


def object_at(parent: JsonObject, key: str) -> JsonObject:
    """Return the object at ``key``, or an empty one."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def list_at(parent: JsonObject, key: str) -> Sequence[Any]:
    """Return the list at ``key``, or an empty one."""
    value = parent.get(key)
    return value if is_list(value) else []


def dicts_at(parent: JsonObject, key: str) -> list[JsonObject]:
    """Return the objects in the list at ``key``; skip other items."""
    return [item for item in list_at(parent, key) if isinstance(item, dict)]


def objects_in(value: object) -> Sequence[JsonObject | BadRow]:
    """Return the items of a list, or the single object, with a BadRow for each that is no object."""
    if isinstance(value, LazyList):
        return LazyList(value, as_object)
    if value is None:
        return []
    return [as_object(item) for item in (value if isinstance(value, list) else [value])]


def as_object(item: object) -> JsonObject | BadRow:
    """Return ``item`` if it is an object or already a BadRow, else a BadRow."""
    return item if isinstance(item, dict | BadRow) else BadRow("is not a JSON object")


def line_at(parent: JsonObject, *keys: str) -> str:
    """Return the first text or number among the members ``keys``, on one line; empty without one."""
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
    """Return ``path`` on the host of ``base``; raises BadRow. A path with two slashes names no other host."""
    return address_in(base, f"/.{path}" if path.startswith("//") else path)


def time_at(parent: JsonObject, *keys: str) -> Time:
    """Return the time in the first text among the members ``keys``."""
    return read_time(line_at(parent, *keys))


def known_time_at(parent: JsonObject, key: str) -> datetime | None:
    """Return the time at ``key``, if it is present and understood."""
    time = time_at(parent, key)
    return time if isinstance(time, datetime) else None
