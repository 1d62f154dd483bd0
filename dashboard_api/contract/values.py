"""Readers of single values of a request; each checks a rule and raises BrokenRule."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from dashboard_api import limits
from dashboard_api.contract.cursor import CallPosition, Cursor, read_call_position, read_cursor
from dashboard_api.models import Kind, Severity
from foundation.hosts import InvalidHost, normalise_dns_name, normalise_host
from foundation.regions import REGIONS
from foundation.time_zones import time_zones

PROBLEM_ID = re.compile(rf"[a-z0-9-]{{1,{limits.MAX_PROBLEM_ID_LENGTH}}}")
_ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class BrokenRule(ValueError):
    """A value that breaks the rule of its field; the message continues "<field> ..."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a request: the function that reads its value, and its schema in OpenAPI."""

    read: Callable[[Any], Any]
    schema: dict[str, Any]
    required: bool = False


def text(value: object) -> str:
    """Return a string as it is."""
    if not isinstance(value, str):
        raise BrokenRule("must be a string")
    if "\0" in value:
        raise BrokenRule("must not contain the NUL character")
    return value


def host(value: object) -> str:
    """Return the domain name of a website in its normal form."""
    try:
        return normalise_host(text(value))
    except InvalidHost as error:
        raise BrokenRule(str(error)) from error


def hosts(value: object) -> tuple[str, ...]:
    """Return a list of hosts in their normal form, sorted."""
    try:
        return tuple(sorted({normalise_dns_name(each) for each in _several(value)}))
    except InvalidHost as error:
        raise BrokenRule(str(error)) from error


def severity(value: object) -> Severity:
    """Return a severity by its name."""
    return Severity[one_of(Severity.labels)(value).upper()]


def severities(value: object) -> tuple[Severity, ...]:
    """Return a list of severities, the worst first."""
    return tuple(sorted({severity(each) for each in _several(value)}, reverse=True))


def kinds(value: object) -> tuple[Kind, ...]:
    """Return a list of kinds in their own order."""
    chosen = {one_of(Kind.values)(each) for each in _several(value)}
    return tuple(kind for kind in Kind if kind in chosen)


def sources(value: object) -> tuple[str, ...]:
    """Return a list of sources by their slugs, sorted."""
    return tuple(sorted(set(_several(value))))


def problem(value: object) -> str:
    """Return the id of a problem."""
    given = text(value)
    if not PROBLEM_ID.fullmatch(given):
        raise BrokenRule("must be the id of a problem, exactly as answered")
    return given


def id_of(what: str) -> Callable[[object], int]:
    """Return a reader of numeric ids from earlier answers; ``what`` names the id in the error."""

    def read(value: object) -> int:
        given = text(value)
        if not _ID.fullmatch(given):
            raise BrokenRule(f"must be {what}, exactly as answered")
        return int(given)

    return read


def one_of(allowed: list[str] | tuple[str, ...]) -> Callable[[object], str]:
    """Return a reader that ignores case and returns the allowed spelling."""
    spellings = {value.lower(): value for value in allowed}

    def read(value: object) -> str:
        spelling = spellings.get(text(value).lower())
        if spelling is None:
            raise BrokenRule(f"must be one of {', '.join(allowed)}")
        return spelling

    return read


def query(value: object) -> str:
    """Return the words of a search."""
    words = text(value).strip()
    if len(words) > limits.MAX_QUERY_LENGTH:
        raise BrokenRule(f"must have at most {limits.MAX_QUERY_LENGTH} characters")
    return words


def cursor(value: object) -> Cursor:
    """Return the position in the changes that an earlier response gave."""
    try:
        return read_cursor(text(value))
    except ValueError as error:
        raise BrokenRule("must be the cursor of an earlier answer, exactly as answered") from error


def call_position(value: object) -> CallPosition:
    """Return the position in the calls on record that an earlier response gave."""
    try:
        return read_call_position(text(value))
    except ValueError as error:
        raise BrokenRule("must be the value of before from an earlier answer, unchanged") from error


def day(value: object) -> date:
    """Return a day of the calendar, in ISO 8601."""
    given = text(value)
    try:
        if DAY.fullmatch(given):
            return date.fromisoformat(given)
    except ValueError:  # no day of the calendar
        pass
    raise BrokenRule("must be a day, such as 2026-11-23")


def true_or_false(value: object) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise BrokenRule("must be true or false")
    return value


def time_zone(value: object) -> str:
    """Return the name of a time zone."""
    name = text(value)
    if name not in time_zones():
        raise BrokenRule("must be a time zone, such as Europe/Berlin")
    return name


def reason(value: object) -> str:
    """Return a person's reason, without spaces around it."""
    given = text(value).strip()
    if not given or len(given) > limits.MAX_REASON_LENGTH:
        raise BrokenRule(f"must have 1 to {limits.MAX_REASON_LENGTH} characters")
    return given


def region(value: object) -> str:
    """Return the code of a country or a larger region, in upper case."""
    code = text(value).upper()
    if code not in REGIONS:
        raise BrokenRule("must be a country such as DE, a continent such as 150, or 001")
    return code


def whole_number(*, at_least: int = 1, at_most: int | None = None) -> Callable[[object], int]:
    """Return a reader of integers; it refuses ``true``, ``1.0`` and ``"1"``."""
    bounds = f"an integer from {at_least}" + (f" to {at_most:,}" if at_most else "")

    def read(value: object) -> int:
        if type(value) is not int or value < at_least or (at_most and value > at_most):
            raise BrokenRule(f"must be {bounds}")
        return value

    return read


def websites(value: object) -> tuple[str, ...]:
    """Return hosts of a list with commas, as many as a request holds."""
    try:
        return tuple(sorted({normalise_host(each.strip()) for each in text(value).split(",")}))
    except InvalidHost as error:
        raise BrokenRule(str(error)) from error


def _several(value: object) -> list[str]:
    """Return the values of a list with commas."""
    given = [each.strip() for each in text(value).split(",")]
    if len(given) > limits.MAX_FILTER_VALUES:
        raise BrokenRule(f"must have at most {limits.MAX_FILTER_VALUES} values")
    return given
