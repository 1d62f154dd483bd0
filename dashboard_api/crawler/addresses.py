"""The address at which a website is scanned: resolved once, and public."""

from foundation.deadline import Deadline, DeadlinePassed
from foundation.outbound.names import NoAddress, resolve

_SECONDS = 12.0


def address_of(host: str) -> str:
    """Return one address of the host, IPv4 first; raise NoAddress, also if any of them is not public."""
    try:
        addresses = resolve(host, Deadline(_SECONDS))
    except DeadlinePassed as error:
        raise NoAddress("servers_silent") from error
    return min(addresses, key=lambda address: (":" in address, address))
