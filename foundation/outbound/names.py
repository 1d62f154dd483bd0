"""The addresses of a customer's host: all of them public, or none of them is used."""

import queue
import socket
import threading
from typing import Any

from django.conf import settings

from foundation.outbound.addresses import is_public
from foundation.outbound.deadline import Deadline, DeadlinePassed

_LOOPBACK = "127.0.0.1"
_ABSENT = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class NoAddress(ValueError):
    """The host has no address that may be used.

    ``reason`` is no_address, servers_silent (whether it has an address is unknown) or private_address.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def resolve(host: str, deadline: Deadline) -> list[str]:
    """Return the addresses of ``host``, IPv6 first; raise NoAddress or DeadlinePassed.

    A single private address refuses them all, unless ALLOW_PRIVATE_HOSTS is set.
    """
    if localhost_port(host):
        return [_LOOPBACK]
    answer = _look_up(host, deadline)
    if isinstance(answer, socket.gaierror) and answer.errno not in _ABSENT:
        raise NoAddress("servers_silent") from answer
    if isinstance(answer, Exception):
        raise NoAddress("no_address") from answer
    found = dict.fromkeys(str(info[4][0]) for info in answer)
    if not settings.ALLOW_PRIVATE_HOSTS and not all(map(is_public, found)):
        raise NoAddress("private_address")
    return sorted(found, key=lambda address: ":" not in address)


def localhost_port(host: str) -> int | None:
    """Return the port of a website of this machine that LOCALHOST_WEBSITES names; None for any other host.

    Its names end in .localhost, so no name of the internet is among them.
    """
    return settings.LOCALHOST_WEBSITES.get(host) if settings.ALLOW_PRIVATE_HOSTS else None


def origin_of(host: str) -> str:
    """Return the beginning of the addresses of a website, such as ``https://shop.example.com``."""
    if port := localhost_port(host):
        return f"http://{host}:{port}"
    return f"https://[{host}]" if ":" in host else f"https://{host}"


def _look_up(host: str, deadline: Deadline) -> Any:
    """Return the result or the error of the system resolver, in a thread because it keeps no deadline."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # With a dot at its end, a name is not looked up below the domains of this machine's own network.
    name = host if settings.ALLOW_PRIVATE_HOSTS else f"{host}."

    def ask() -> None:
        try:
            answers.put(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=deadline.remaining())
    except queue.Empty:
        raise DeadlinePassed("the name was not resolved in time") from None
