"""The gate of a program that has no network of its own: it opens the program's connections, or refuses."""

import errno
import ipaddress
import json
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from foundation.outbound import sockets
from foundation.outbound.addresses import is_public
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.names import LOOPBACK, NoAddress, resolve

_PORTS = (80, 443)
_MAX_AT_ONCE = 32  # questions of one program
_SECONDS = 12.0  # for one connection, or the addresses of a name


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Limit of a program: it reaches the scanned address and, with ``others``, public addresses.

    ``never`` lists opted-out hosts and address prefixes. Programs with ``others`` may look names up and ask
    ``resolvers``, which are pairs of an address and a port.
    """

    address: str
    others: bool = False
    never: Sequence[str] = ()
    resolvers: Sequence[tuple[str, int]] = field(default=())

    def allows(self, address: str, port: int) -> bool:
        """Return whether a connection to this address and port is allowed; False for what is no address."""
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        if settings.ALLOW_PRIVATE_HOSTS and address == LOOPBACK:
            return port in settings.LOCALHOST_WEBSITES.values()
        prefixes = [ipaddress.ip_network(value) for value in self.never if "/" in value]
        if port not in _PORTS or parsed.is_loopback or any(parsed in prefix for prefix in prefixes):
            return False
        if address == self.address:  # public, or ALLOW_PRIVATE_HOSTS is set
            return settings.ALLOW_PRIVATE_HOSTS or is_public(address)
        return self.others and is_public(address)


class Gate:
    """A gate while its context lasts; the program inherits ``descriptor``, and asks by it.

    ``use_listener`` gets a listening socket that the program opened where it runs, if it may send one.
    """

    def __init__(self, reach: Reach, use_listener: Callable[[socket.socket], None] | None = None) -> None:
        self._reach, self._use_listener = reach, use_listener
        self._ours, self._theirs = socket.socketpair()
        self._free = threading.BoundedSemaphore(_MAX_AT_ONCE)

    @property
    def descriptor(self) -> int:
        """Number of the open file for the program."""
        return self._theirs.fileno()

    def __enter__(self) -> "Gate":
        """Begin to answer."""
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop answering."""
        with suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        self._theirs.close()

    def _serve(self) -> None:
        with self._ours:
            while True:
                try:
                    byte, descriptors, _, _ = socket.recv_fds(self._ours, 1, 1)
                except OSError:
                    return
                if not byte:
                    return
                for descriptor in descriptors:
                    try:
                        self._take(socket.socket(fileno=descriptor))
                    except OSError:  # it is no socket
                        os.close(descriptor)

    def _take(self, sent: socket.socket) -> None:
        """Answer a question in a thread, or serve at a listener; close what is neither or too much."""
        if self._use_listener is not None:
            use, self._use_listener = self._use_listener, None
            use(sent)
            self._ours.sendall(b".")
        elif self._free.acquire(blocking=False):
            threading.Thread(target=self._answer, args=[sent], daemon=True).start()
        else:
            sent.close()

    def _answer(self, asker: socket.socket) -> None:
        try:
            with asker:
                asker.settimeout(_SECONDS)
                found, opened = self._answered(json.loads(asker.recv(sockets.MAX_MESSAGE)))
                message = json.dumps(found).encode()
                if opened is None:
                    asker.sendall(message)
                    return
                with opened:
                    socket.send_fds(asker, [message], [opened.fileno()])
        except (OSError, ValueError, RecursionError):  # the program ended, or sent no question
            pass
        finally:
            self._free.release()

    def _answered(self, question: Any) -> tuple[dict[str, Any], socket.socket | None]:
        match question:
            case ["resolve", str(name)] if self._reach.others:
                return self._addresses(name), None
            case ["website", str(address), int(port), int() | float() as seconds] if self._reach.allows(
                address, port
            ):
                return _opened(lambda: sockets.connect(address, port, _within(seconds)))
            case ["tcp", str(address), int(port), int() | float() as seconds] if self._knows(address, port):
                return _opened(lambda: sockets.connect_to_name_server(address, port, _within(seconds)))
            case ["udp", str(address), int(port), _] if self._knows(address, port):
                return _opened(lambda: sockets.datagrams_to_name_server(address, port))
        return _error(errno.EACCES), None

    def _knows(self, address: str, port: int) -> bool:
        return (address, port) in self._reach.resolvers

    def _addresses(self, name: str) -> dict[str, Any]:
        try:
            return {"addresses": resolve(name, Deadline(_SECONDS))}
        except NoAddress as error:
            return {"reason": error.reason}
        except DeadlinePassed:
            return {"reason": "servers_silent"}


def _opened(open_socket: Callable[[], socket.socket]) -> tuple[dict[str, Any], socket.socket | None]:
    try:
        return {}, open_socket()
    except OSError as error:
        return _error(errno.ETIMEDOUT if isinstance(error, TimeoutError) else error.errno or errno.EIO), None


def _error(number: int) -> dict[str, Any]:
    return {"errno": number, "text": os.strerror(number)}


def _within(seconds: float) -> float:
    return min(_SECONDS, max(0.01, seconds))  # in this order, NaN is 0.01
