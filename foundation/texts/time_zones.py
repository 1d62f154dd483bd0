"""The names of time zones (IANA)."""

from functools import cache
from zoneinfo import available_timezones

_REGIONS = ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
_NOT_ZONES = {"Factory", "localtime"}  # files in the database that are not zones


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones, such as Europe/Berlin."""
    return frozenset(available_timezones() - _NOT_ZONES)


@cache
def offered_time_zones() -> tuple[str, ...]:
    """Return the time zones to choose from: places such as Europe/Berlin, and UTC."""
    return ("UTC", *sorted(name for name in time_zones() if name.partition("/")[0] in _REGIONS))
