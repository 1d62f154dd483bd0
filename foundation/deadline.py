"""One wall-clock deadline over a whole call, which no slow peer can outlive.

The timeouts of requests count the silence before each read, so an answer of one byte per second would
never end. Here every read of headers and body waits only for what is left of the call, and all
addresses of a host share the connect timeout. The one step without a limit of ours is name
resolution: the system resolver has its own.
"""

import io
import socket
import time
from functools import partial
from http.client import HTTPResponse
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util.connection import create_connection

from portal.gateway.errors import CannotConnect, TimedOut

CONNECT_SECONDS = 3
_NO_DELAY = HTTPConnection.default_socket_options  # headers and body leave in two writes


class Deadline:
    """The end of a call, ``seconds`` from its start."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """The seconds left, always more than 0; raises TimedOut."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimedOut("the deadline passed")
        return seconds

    def allows(self, seconds: float) -> bool:
        """Whether ``seconds`` may be waited with something left afterwards."""
        return time.monotonic() + seconds < self._end


class DeadlineAdapter(HTTPAdapter):
    """Sends one request within ``deadline``; raises TimedOut and CannotConnect beside requests' errors."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        super().__init__(max_retries=0)

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        """The pool that requests chose, with connections that keep the deadline."""
        pool: Any = super().get_connection_with_tls_context(*args, **kwargs)
        kind = _TimedHTTPSConnection if pool.scheme == "https" else _TimedHTTPConnection
        pool.ConnectionCls = partial(kind, deadline=self._deadline)
        return pool


class _Timed:
    """What both kinds of connection do otherwise than urllib3's."""

    host: str
    port: int
    _dns_host: str
    response_class: Any

    def __init__(self, *args: Any, deadline: Deadline, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline = deadline
        self.response_class = partial(_TimedResponse, deadline=deadline)

    def connect(self) -> None:
        """Connect and shake hands within CONNECT_SECONDS; raises CannotConnect or TimedOut."""
        try:
            super().connect()  # type: ignore[misc]
        except (OSError, HTTPError) as error:
            self._deadline.remaining()
            raise CannotConnect(f"{self.host}: {error}") from error

    def _new_conn(self) -> socket.socket:
        """A socket to the first address that answers, its timeout what is left for the handshake."""
        end = time.monotonic() + min(CONNECT_SECONDS, self._deadline.remaining())
        found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        failure = OSError("the name has no address")
        for tried, (*_, address) in enumerate(found):
            share = _seconds_until(end) / (len(found) - tried)
            try:
                sock = create_connection((str(address[0]), self.port), share, socket_options=_NO_DELAY)
            except OSError as error:
                failure = error
            else:
                sock.settimeout(_seconds_until(end))
                return sock
        raise failure


class _TimedHTTPConnection(_Timed, HTTPConnection):
    """Plain, to this machine only."""


class _TimedHTTPSConnection(_Timed, HTTPSConnection):
    """Over TLS; a handshake is one read to Python's ssl, so the socket's timeout limits all of it."""


class _TimedResponse(HTTPResponse):
    """An answer whose status line, headers and body are read by the deadline."""

    def __init__(self, sock: socket.socket, *args: Any, deadline: Deadline, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        file: io.BufferedReader = self.fp
        self.fp = io.BufferedReader(_TimedReads(file.detach(), sock, deadline))


class _TimedReads(io.RawIOBase):
    """Re-arms the timeout of ``sock`` with what is left before each read from ``file``."""

    def __init__(self, file: io.RawIOBase, sock: socket.socket, deadline: Deadline) -> None:
        self._file = file
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read once; raises TimedOut."""
        self._sock.settimeout(self._deadline.remaining())
        try:
            return self._file.readinto(buffer)
        except TimeoutError as error:
            raise TimedOut("the deadline passed") from error

    def close(self) -> None:
        """Let go of the socket, too."""
        self._file.close()
        super().close()


def _seconds_until(end: float) -> float:
    """A timeout for a socket, which takes 0 for "do not wait" and refuses less."""
    return max(end - time.monotonic(), 0.01)
