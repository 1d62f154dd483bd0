"""Reads requests of signed calls: applies the rules of ``signed_api`` and the service's own checks."""

from collections.abc import Callable, Mapping
from typing import Any

from dashboard_api.contract.cursor import read_call_position, read_cursor
from dashboard_api.errors import InvalidRequest
from foundation.addresses.hosts import InvalidHost, normalise_dns_name, normalise_host
from foundation.texts.regions import REGIONS
from foundation.texts.time_zones import time_zones
from signed_api.findings import DashboardRequest
from signed_api.reading import BrokenFields, read, rules_of
from signed_api.routes import Request, Route
from signed_api.values import BrokenRule


def read_request(route: Route[Request, Any], fields: Mapping[str, Any]) -> Request:
    """Return the checked request of ``route``; raises InvalidRequest, which lists every broken field."""
    try:
        return read(route, fields, _CHECKS)
    except BrokenFields as error:
        raise InvalidRequest(error.errors) from error


def _host(text: str) -> str:
    try:
        return normalise_host(text)
    except InvalidHost as error:
        raise BrokenRule(str(error)) from error


def _hosts(text: str) -> str:
    try:
        return ",".join(sorted({normalise_dns_name(each) for each in text.split(",")}))
    except InvalidHost as error:
        raise BrokenRule(str(error)) from error


def _websites(text: str) -> str:
    return ",".join(sorted({_host(each.strip()) for each in text.split(",")}))


def _cursor(text: str) -> str:
    try:
        read_cursor(text)
    except ValueError as error:
        raise BrokenRule("must be the cursor of an earlier answer, exactly as answered") from error
    return text


def _call_position(text: str) -> str:
    try:
        read_call_position(text)
    except ValueError as error:
        raise BrokenRule("must be the value of before from an earlier answer, unchanged") from error
    return text


def _region(text: str) -> str:
    code = text.upper()
    if code not in REGIONS:
        raise BrokenRule("must be a country such as DE, a continent such as 150, or 001")
    return code


def _time_zone(name: str) -> str:
    if name not in time_zones():
        raise BrokenRule("must be a time zone, such as Europe/Berlin")
    return name


def _finding_filters(filters: dict[str, Any]) -> dict[str, Any]:
    """Make the service's checks of the filters in a field of a request."""
    rules = rules_of(DashboardRequest)
    checked = dict(filters)
    for name, value in filters.items():
        if check := rules[name].check:
            try:
                checked[name] = _CHECKS[check](value)
            except BrokenRule as error:
                raise BrokenRule(f"has {name}, which {error}") from error
    return checked


# By the name that ``Rule.check`` has in signed_api: each returns the normal form, or raises BrokenRule.
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "finding_filters": _finding_filters,
    "host": _host,
    "hosts": _hosts,
    "websites": _websites,
    "cursor": _cursor,
    "call_position": _call_position,
    "region": _region,
    "time_zone": _time_zone,
}
