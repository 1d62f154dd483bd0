"""The strict parser of bodies: one JSON object with an account reference (check 8)."""

import codecs
import functools
import json
import math
from typing import Any, NoReturn

import msgspec

from dashboard_api import limits
from dashboard_api.errors import InvalidRequest, MalformedJson
from signed_api.limits import MAX_ACCOUNT_REF_LENGTH


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A body before its signature is verified: use it only to look up the account's secrets and link."""

    unverified_account_ref: str
    unverified_link_id: str
    unverified_fields: dict[str, Any]


@functools.lru_cache(maxsize=256)
def read_envelope(body: bytes) -> Envelope:
    """Parse a body; raises MalformedJson, or InvalidRequest if the account reference is missing or wrong."""
    fields = _strict_object(body)
    ref = fields.get("portal_account_ref")
    if not isinstance(ref, str) or not 1 <= len(ref) <= MAX_ACCOUNT_REF_LENGTH or not ref.isprintable():
        message = f"must be a printable string of 1 to {MAX_ACCOUNT_REF_LENGTH} characters"
        if "portal_account_ref" not in fields:
            message = "is required"
        raise InvalidRequest([{"field": "portal_account_ref", "message": message}])
    link_id = fields.get("link_id")
    if not isinstance(link_id, str) or not link_id.isprintable():
        link_id = ""  # cannot be looked up; its rule is checked after authentication
    return Envelope(unverified_account_ref=ref, unverified_link_id=link_id, unverified_fields=fields)


def _strict_object(body: bytes) -> dict[str, Any]:
    if body.startswith(codecs.BOM_UTF8):
        raise MalformedJson("The body begins with a byte order mark; send JSON alone.")
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_without_duplicates,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise MalformedJson("The body is not UTF-8.") from error
    except RecursionError as error:
        raise MalformedJson(_TOO_DEEP) from error
    except ValueError as error:
        raise MalformedJson(f"The body is not strict JSON: {error}.") from error
    if not isinstance(value, dict):
        raise MalformedJson
    _check_inside(value, depth=1)
    return value


_TOO_DEEP = f"The body nests deeper than {limits.MAX_JSON_DEPTH} levels."


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is given twice")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:  # int() rejects more than a few thousand digits
        raise ValueError("a number is too large") from error


def _check_inside(value: object, *, depth: int) -> None:
    """Raise MalformedJson if ``value`` nests too deep or contains a lone surrogate."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise MalformedJson("The body holds a lone surrogate, which is not a character.") from error
        return
    if not isinstance(value, dict | list):
        return
    if depth > limits.MAX_JSON_DEPTH:
        raise MalformedJson(_TOO_DEEP)
    members = (*value, *value.values()) if isinstance(value, dict) else value  # names and values
    for inner in members:
        _check_inside(inner, depth=depth + 1)
