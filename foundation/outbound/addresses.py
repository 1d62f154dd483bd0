"""The addresses of the public internet, which are the only ones that a customer's host may have."""

import ipaddress

_IPV6 = ipaddress.ip_network("2000::/3")  # what is assigned for use between networks
# ``is_global`` of Python 3.11 lets half of these pass.
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # what each machine at Azure asks about itself
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # protocol assignments, with Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which contains an IPv4 address
        "3fff::/20",  # documentation
    )
]


def is_public(address: str) -> bool:
    """Return whether ``address`` is one of the public internet, and leads to no other address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # also an address with a zone, if its text is wrong
        return False
    if any(parsed in network for network in _NOT_PUBLIC):
        return False
    if parsed.version == 6:
        return parsed in _IPV6
    return parsed.is_global and not parsed.is_multicast
