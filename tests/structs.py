"""Members of responses for tests: what is not given gets a plain value of its type."""

from datetime import UTC, date, datetime
from types import NoneType, UnionType
from typing import Annotated, Union, get_args, get_origin, get_type_hints

import msgspec

from signed_api.errors import ErrorDetail

PLAIN = {
    str: "",
    int: 0,
    bool: False,
    date: date(2026, 11, 1),
    datetime: datetime(2026, 11, 1, 8, 0, tzinfo=UTC),
}

USUAL = {
    **dict.fromkeys(("ok", "cancellable", "included", "may_grow", "is_usable"), True),
    "page": 1,
    "page_size": 20,
    "total_relation": "exact",
    "frequency": "off",
    "profile": "quick",
    "start_hour": 2,
    "hours": 4,
    "time_zone": "UTC",
}


def build(kind, /, *first, **given):
    """Return a ``kind`` with its ``first`` members, ``given`` ones, and plain others."""
    hints = get_type_hints(kind, include_extras=True)
    given |= dict(zip(kind.__struct_fields__, first, strict=False))
    return kind(**{name: _plain(hints[name], name) for name in hints if name not in given} | given)


def as_json(kind, /, **given):
    """Return the JSON value of a ``kind`` with ``given`` JSON members and plain others."""
    hints = get_type_hints(kind, include_extras=True)
    missing = {name: _plain(hints[name], name) for name in hints if name not in given}
    return msgspec.to_builtins(missing) | given


def _plain(hint, name):
    if name in USUAL:
        return USUAL[name]
    if get_origin(hint) is Annotated:
        return _plain(get_args(hint)[0], name)
    if get_origin(hint) in (UnionType, Union) and NoneType in get_args(hint):
        return None
    kind = get_origin(hint) or hint
    if kind in (list, dict):
        return kind()
    return build(kind) if issubclass(kind, msgspec.Struct) else PLAIN[kind]


def refused(kind, *, request_id="", http_status=0, **details):
    """Return an error of the service with the ``details`` of its reason."""
    detail = ErrorDetail(**{"code": kind.codes[0] if kind.codes else "refused"} | details)
    return kind(detail, status=http_status, request_id=request_id)
