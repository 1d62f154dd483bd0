"""The names of time zones (IANA)."""

from functools import cache
from zoneinfo import available_timezones

_NOT_ZONES = {"Factory", "localtime"}  # files in the database that are not zones


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones, such as Europe/Berlin."""
    return frozenset(available_timezones() - _NOT_ZONES)
