"""Sockets to other machines, opened here or by the gate of a process that has no network of its own."""

import json
import socket
from typing import Any

from urllib3.util.connection import create_connection

from foundation.outbound.pace import wait_for_turn

MAX_MESSAGE = 4096  # bytes of a question to the gate, and of its answer
_PATIENCE = 30.0  # seconds for the gate, beyond those for the connection


class WayOut:
    """The end of a program without network: it asks the gate at the other end of ``gate`` for sockets."""

    def __init__(self, gate: socket.socket) -> None:
        self._gate = gate

    def open(self, kind: str, address: str, port: int, seconds: float) -> socket.socket:
        """Return a connected socket; ``kind`` is website, tcp or udp (name servers). Raise OSError."""
        answer, found = self._ask(kind, address, port, seconds, seconds=seconds)
        if found is None:
            raise OSError(answer.get("errno", 0), answer.get("text", "the gate did not answer"))
        found.settimeout(seconds or None)
        return found

    def addresses(self, name: str, seconds: float) -> tuple[list[str], str]:
        """Return the addresses of a name and an empty reason, or the reason of a NoAddress; raise OSError."""
        answer, _ = self._ask("resolve", name, seconds=seconds)
        found = answer.get("addresses", [])
        return found, "" if found else answer.get("reason", "servers_silent")

    def hand_over(self, sent: socket.socket) -> None:
        """Hand a socket over to the gate: the end of a pair, for a question, or a listener."""
        socket.send_fds(self._gate, [b"."], [sent.fileno()])

    def _ask(self, *question: Any, seconds: float) -> tuple[dict[str, Any], socket.socket | None]:
        """Return the answer, and the socket that came with it.

        Each question has a pair of sockets of its own, so threads do not wait for each other.
        """
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self.hand_over(theirs)
            ours.settimeout(seconds + _PATIENCE)
            ours.sendall(json.dumps(question).encode())
            message, descriptors, _, _ = socket.recv_fds(ours, MAX_MESSAGE, 1)
        found = socket.socket(fileno=descriptors[0]) if descriptors else None
        return (json.loads(message) if message else {}), found


_way_out: WayOut | None = None


def use_gate(descriptor: int) -> None:
    """Open all sockets of this process through the gate at the other end of an inherited socket."""
    global _way_out
    _way_out = WayOut(socket.socket(fileno=descriptor))


def connect(address: str, port: int, seconds: float) -> socket.socket:
    """Return a TCP connection to a website's address, in its turn; raise OSError."""
    if _way_out is not None:
        return _way_out.open("website", address, port, seconds)
    wait_for_turn()
    return create_connection((address, port), seconds)


def connect_to_name_server(address: str, port: int, seconds: float) -> socket.socket:
    """Return a TCP connection to a name server; raise OSError."""
    if _way_out is not None:
        return _way_out.open("tcp", address, port, seconds)
    return create_connection((address, port), seconds)


def datagrams_to_name_server(address: str, port: int) -> socket.socket:
    """Return a UDP socket to a name server; raise OSError."""
    if _way_out is not None:
        return _way_out.open("udp", address, port, 0)
    found = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        found.connect((address, port))
    except OSError:
        found.close()
        raise
    return found


def addresses_from_gate(name: str, seconds: float) -> tuple[list[str], str] | None:
    """Return the gate's addresses of a name and an empty reason, or a reason; None without a gate."""
    return None if _way_out is None else _way_out.addresses(name, seconds)
