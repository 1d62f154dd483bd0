"""A wall-clock deadline for a whole outgoing call, however slow the peer is.

The timeouts of requests apply to each read, so a response of one byte a second would never end. Here every
read waits only for the rest of the call, and all addresses of a host share the connect timeout. Name
resolution is not limited here: the system resolver has its own timeout.
"""

import io
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from http import HTTPStatus
from http.client import BadStatusLine, HTTPException, HTTPResponse, IncompleteRead
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from foundation.outbound import sockets

CONNECT_SECONDS = 3
_MAX_INTERIM_RESPONSES = 20  # before the final one, such as 103 Early Hints
_MAX_HEADER_LINES = 200  # malformed lines included; http.client reads 100 headers
_MAX_HEADER_BYTES = 256 * 1024  # of all headers together, as in Chrome
_HEADER_NAME = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:")


class DeadlinePassed(Exception):
    """The call did not end in time."""


class ConnectFailed(Exception):
    """The connection failed before anything was sent."""


class Deadline:
    """The end of a call, ``seconds`` from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds left, always more than 0; raise DeadlinePassed."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise DeadlinePassed("the deadline passed")
        return seconds

    def allows(self, seconds: float) -> bool:
        """Return whether time is left after a pause of ``seconds``."""
        return time.monotonic() + seconds < self._end


class _Timed:
    """A mixin that adds a deadline to the connections of urllib3."""

    host: str
    port: int
    _dns_host: str
    response_class: Any
    address = ""  # of the server, once connected

    def __init__(self, *args: Any, deadline: Deadline, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline = deadline
        self.response_class = partial(_TimedResponse, deadline=deadline)

    def connect(self) -> None:
        """Connect and shake hands within CONNECT_SECONDS; raise ConnectFailed or DeadlinePassed."""
        try:
            with ExitStack() as self._during_connect:  # _new_conn adds the time limit of the handshake
                super().connect()  # type: ignore[misc]
        except (OSError, HTTPError) as error:
            self._deadline.remaining()
            raise ConnectFailed(f"{self.host}: {error}") from error

    def _new_conn(self) -> socket.socket:
        """Return a socket to the first address that answers, for urllib3.

        Its timeout is the rest of the connect time.
        """
        end = time.monotonic() + min(CONNECT_SECONDS, self._deadline.remaining())
        addresses = self._addresses()
        failure = OSError("the name has no address")
        for tried, address in enumerate(addresses):
            share = _seconds_until(end) / (len(addresses) - tried)
            try:
                sock = sockets.connect(address, self.port, share)
            except OSError as error:
                failure = error
            else:
                # Headers and body are sent in two writes.
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.settimeout(_seconds_until(end))
                self._during_connect.enter_context(handshake_ended_after(_seconds_until(end), sock))
                self.address = address
                return sock
        raise failure

    def _addresses(self) -> Sequence[str]:
        """Return the addresses to try, in this order."""
        infos = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        return [str(socket_address[0]) for _, _, _, _, socket_address in infos]


class TimedHTTPConnection(_Timed, HTTPConnection):
    """Plain HTTP."""


class TimedHTTPSConnection(_Timed, HTTPSConnection):
    """HTTPS."""


class _TimedResponse(HTTPResponse):
    """A response that is read within the deadline: status line, headers and body."""

    def __init__(self, sock: socket.socket, *args: Any, deadline: Deadline, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        file: io.BufferedReader = self.fp
        self.fp = self._reader = _LenientReader(_TimedReader(file.detach(), sock, deadline))
        self._interim_count = 0

    def _read_status(self) -> tuple[str, int, str]:
        """Return the status line; report every interim response as 100, the only one http.client skips."""
        version, status, reason = super()._read_status()  # type: ignore[misc]
        self._reader.begin_headers()
        if 100 <= status < 200 and status != HTTPStatus.SWITCHING_PROTOCOLS:
            self._interim_count += 1
            if self._interim_count > _MAX_INTERIM_RESPONSES:
                raise BadStatusLine("too many responses of 1xx")
            return version, HTTPStatus.CONTINUE, reason
        return version, status, reason


class _LenientReader(io.BufferedReader):
    """A buffered reader that handles bad sizes and header lines as browsers do; http.client does not."""

    _in_headers = False
    _lines = _bytes = 0  # of the headers so far
    _is_kept = False  # whether the last header line was well-formed

    def begin_headers(self) -> None:
        """Treat lines as headers until the next empty one."""
        self._in_headers, self._is_kept, self._lines, self._bytes = True, False, 0, 0

    def read(self, *size: int | None) -> bytes:
        """Read; raise IncompleteRead for a negative size: http.client would read to the end."""
        if size and size[0] is not None and size[0] < 0:
            raise IncompleteRead(b"")
        return super().read(*size)

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line; skip malformed header lines, at which http.client would stop."""
        while True:
            line = super().readline(size)
            if not self._in_headers or len(line) == size:  # http.client rejects a line of full size
                return line
            if line in (b"\r\n", b"\n", b""):
                self._in_headers = False
                return line
            self._lines, self._bytes = self._lines + 1, self._bytes + len(line)
            if self._lines > _MAX_HEADER_LINES or self._bytes > _MAX_HEADER_BYTES:
                raise HTTPException("the headers are too long")
            if not line.startswith((b" ", b"\t")):  # a folded line continues the last header
                match = _HEADER_NAME.match(line)
                self._is_kept = match is not None
                line = match[1] + line[match.end(1) :].lstrip(b" \t") if match else b""
            if self._is_kept:  # without bare CRs, which the parser takes for line ends
                return line.rstrip(b"\r\n").replace(b"\r", b" ") + b"\r\n"


class _TimedReader(io.RawIOBase):
    """A reader of ``file`` that sets the timeout of ``sock`` before each read, to the time left."""

    def __init__(self, file: io.RawIOBase, sock: socket.socket, deadline: Deadline) -> None:
        self._file = file
        self._sock = sock
        self._is_encrypted = isinstance(sock, ssl.SSLSocket)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read once; raise DeadlinePassed."""
        seconds = self._deadline.remaining()
        self._sock.settimeout(seconds)
        try:
            with _ended_after(seconds, self._sock) if self._is_encrypted else nullcontext():
                count = self._file.readinto(buffer)
        except TimeoutError as error:
            raise DeadlinePassed("the deadline passed") from error
        except OSError:
            self._deadline.remaining()
            raise
        if not count:
            self._deadline.remaining()
        return count

    def close(self) -> None:
        """Close the file and release the socket."""
        self._file.close()
        super().close()


@contextmanager
def handshake_ended_after(seconds: float, plain: socket.socket) -> Iterator[None]:
    """Shut the connection down after ``seconds``: OpenSSL reads ever more hello requests in one call."""
    with plain.dup() as same, _ended_after(seconds, same):  # the encrypted socket takes ``plain`` over
        yield


@contextmanager
def _ended_after(seconds: float, sock: socket.socket) -> Iterator[None]:
    """Shut the connection down after ``seconds``: OpenSSL reads ever more session tickets in one call."""
    timer = threading.Timer(seconds, _shut_down, [sock])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut_down(sock: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # SSLSocket.shutdown would continue unencrypted


def _seconds_until(end: float) -> float:
    """Return the socket timeout until ``end``, at least 0.01: 0 means non-blocking, and less is an error."""
    return max(end - time.monotonic(), 0.01)
