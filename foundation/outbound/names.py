"""Resolution of a customer's host: a single private address rules all of its addresses out."""

import queue
import socket
import threading
from typing import Any

from django.conf import settings

from foundation.outbound import sockets
from foundation.outbound.addresses import is_public
from foundation.outbound.deadline import Deadline, DeadlinePassed

LOOPBACK = "127.0.0.1"
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class NoAddress(ValueError):
    """The host has no usable address.

    ``reason`` is no_address, servers_silent (it may have an address) or private_address.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def resolve(host: str, deadline: Deadline) -> list[str]:
    """Return the addresses of ``host``, IPv6 first; raise NoAddress or DeadlinePassed.

    A single private address is an error, unless ALLOW_PRIVATE_HOSTS is set.
    """
    if localhost_port(host):
        return [LOOPBACK]
    if (answer := sockets.addresses_from_gate(host, deadline.remaining())) is not None:
        addresses, reason = answer
        if not addresses:
            raise NoAddress(reason)
        return addresses
    result = _look_up(host, deadline)
    if isinstance(result, socket.gaierror) and result.errno not in _NO_SUCH_NAME:
        raise NoAddress("servers_silent") from result
    if isinstance(result, Exception):
        raise NoAddress("no_address") from result
    # Each result of getaddrinfo ends with a tuple that begins with the address.
    found = dict.fromkeys(str(info[-1][0]) for info in result)
    if not settings.ALLOW_PRIVATE_HOSTS and not all(map(is_public, found)):
        raise NoAddress("private_address")
    return sorted(found, key=lambda address: ":" not in address)


def localhost_port(host: str) -> int | None:
    """Return the port of a website on this machine, if LOCALHOST_WEBSITES names ``host``.

    The names there end in .localhost, which public DNS does not have.
    """
    return settings.LOCALHOST_WEBSITES.get(host) if settings.ALLOW_PRIVATE_HOSTS else None


def origin_of(host: str) -> str:
    """Return the origin of a website, such as ``https://shop.example.com``."""
    if port := localhost_port(host):
        return f"http://{host}:{port}"
    return f"https://[{host}]" if ":" in host else f"https://{host}"


def _look_up(host: str, deadline: Deadline) -> Any:
    """Ask the system resolver, in a thread because it takes no timeout; return its result or its error."""
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # The trailing dot keeps the resolver from trying this machine's search domains.
    name = host if settings.ALLOW_PRIVATE_HOSTS else f"{host}."

    def ask() -> None:
        try:
            results.put(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            results.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return results.get(timeout=deadline.remaining())
    except queue.Empty:
        raise DeadlinePassed("the name was not resolved in time") from None
