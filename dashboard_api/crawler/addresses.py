"""The address at which a website is scanned: resolved once, and public."""

import ipaddress
import socket

from django.conf import settings


class NoAddress(ValueError):
    """The host cannot be scanned; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def address_of(host: str) -> str:
    """Return one address of the host, IPv4 first; raise NoAddress, also if any of them is not public."""
    try:
        found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NoAddress("no_address") from error
    addresses = {ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in found}
    if not settings.ALLOW_PRIVATE_HOSTS and not all(map(_is_public, addresses)):
        raise NoAddress("private_address")
    return str(min(addresses, key=lambda address: (address.version, int(address))))


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether the address is global, and no form of IPv6 that leads to an IPv4 address."""
    if isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped or address.sixtofour or address.teredo or address in _NAT64
    ):
        return False
    return address.is_global and not address.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
