"""Addresses of a scanned website: resolved once, and all public."""

from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.names import NoAddress, resolve

_SECONDS = 12.0  # for all queries of one resolution


def addresses_of(host: str) -> list[str]:
    """Return the addresses of the host, IPv4 first; raise NoAddress unless it has some and all are public."""
    try:
        addresses = resolve(host, Deadline(_SECONDS))
    except DeadlinePassed as error:
        raise NoAddress("servers_silent") from error
    return sorted(addresses, key=lambda address: (":" in address, address))
