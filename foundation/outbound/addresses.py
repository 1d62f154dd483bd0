"""Addresses of the public internet, the only ones allowed for a customer's host."""

import ipaddress

_PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")  # global unicast
# Python 3.11's ``is_global`` accepts half of these.
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # Azure's service for its own machines
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # protocol assignments, with Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which contains an IPv4 address
        "3fff::/20",  # documentation
    )
]


def is_public(address: str) -> bool:
    """Return whether ``address`` is public, and does not contain another address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # including an address with a malformed zone
        return False
    if any(parsed in network for network in _NOT_PUBLIC):
        return False
    if parsed.version == 6:
        return parsed in _PUBLIC_IPV6
    return parsed.is_global and not parsed.is_multicast
