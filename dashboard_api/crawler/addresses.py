"""Addresses of a scanned website: resolved once, and all public."""

from contextlib import suppress

from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.name_servers import records_of
from foundation.outbound.names import NoAddress, resolve

_SECONDS = 12.0  # for all queries of one resolution


def addresses_of(host: str) -> list[str]:
    """Return the addresses of the host, IPv4 first; raise NoAddress unless it has some and all are public.

    The reason is alias_missing if the host is a CNAME of a name that does not exist.
    """
    deadline = Deadline(_SECONDS)
    try:
        addresses = resolve(host, deadline)
    except DeadlinePassed as error:
        raise NoAddress("servers_silent") from error
    except NoAddress as error:
        if error.reason == "no_address" and _leads_nowhere(host, deadline):
            raise NoAddress("alias_missing") from error
        raise
    return sorted(addresses, key=lambda address: (":" in address, address))


def _leads_nowhere(host: str, deadline: Deadline) -> bool:
    with suppress(NoAddress, DeadlinePassed):
        records = records_of(host, "A", deadline)
        return bool(records.aliases) and not records.exists
    return False
