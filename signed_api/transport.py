"""One attempt of a signed call: sends a request, and reads a response of limited size before a deadline."""

import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.exceptions import RequestException
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util.connection import create_connection

try:
    import es1
except ImportError as error:
    raise ImportError("signed_api signs with es1, which is offered next to it: pip install ./es1") from error

from signed_api.errors import BadResponse, CannotConnect, TimedOut, Unreachable
from signed_api.limits import MAX_RESPONSE_BYTES

CONNECT_SECONDS = 3
_CHUNK_BYTES = 64 * 1024
_NO_DELAY = HTTPConnection.default_socket_options  # TCP_NODELAY: headers and body leave in two writes
_NONCE_BYTES = 24  # the reference client's figure (specification, section 5)
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": "signed-api-python",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its response; header names are in lower case."""

    url: str
    sent_headers: Mapping[str, str] = field(repr=False)
    sent_body: bytes = field(repr=False)
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class Deadline:
    """The deadline of a call, ``seconds`` from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds left, more than 0; raises TimedOut."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimedOut("the deadline passed")
        return seconds

    def allows(self, seconds: float) -> bool:
        """Return whether time remains after a pause of ``seconds``."""
        return time.monotonic() + seconds < self._end


def attempt(
    url: str,
    body: bytes,
    *,
    secret: str,
    deadline: Deadline,
    headers: Mapping[str, str] | None = None,
    ca_file: str = "",
    adapter: BaseAdapter | None = None,
) -> Exchange:
    """POST ``body`` to ``url`` with a new signature; raises Unreachable, TimedOut or BadResponse.

    ``ca_file`` names the certificate authorities to trust, by default the public ones. ``adapter`` sends the
    request, by default over the network. This does without requests.Session, which would follow redirects,
    read proxies and passwords from the environment, store cookies, and retry.
    """
    request = requests.Request("POST", url, headers=_HEADERS | dict(headers or {}), data=body).prepare()
    path, nonce = urlsplit(url).path, secrets.token_urlsafe(_NONCE_BYTES)
    request.headers.update(
        es1.sign(secret, method="POST", path=path, body=body, now=int(time.time()), nonce=nonce)
    )
    with _errors_of_calls(deadline), closing(adapter or _Adapter(deadline)) as sender:
        seconds = deadline.remaining()
        timeout = (min(CONNECT_SECONDS, seconds), seconds)
        response = sender.send(request, stream=True, timeout=timeout, verify=ca_file or True)
        with closing(response):
            response_body = _read(response)
        deadline.remaining()  # a connection shut down at the deadline looks like the end of the response
    return Exchange(
        url=url,
        sent_headers=_lower_case(request.headers),
        sent_body=body,
        status=response.status_code,
        headers=_lower_case(response.headers),
        body=response_body,
    )


class _Adapter(HTTPAdapter):
    """The adapter for one request: shuts connections down at the deadline, even if bytes keep arriving."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._timers = ExitStack()  # stops each timer when the request has ended
        super().__init__(max_retries=0)

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        """Return the pool that requests chose, but make its connections end at the deadline."""
        pool: Any = super().get_connection_with_tls_context(*args, **kwargs)
        kind = _HTTPSConnection if pool.scheme == "https" else _HTTPConnection
        pool.ConnectionCls = partial(kind, end_at_deadline=self._end_at_deadline)
        return pool

    def _end_at_deadline(self, connected: socket.socket) -> None:
        duplicate = self._timers.enter_context(connected.dup())  # TLS takes over the original socket
        timer = threading.Timer(self._deadline.remaining(), _shut_down, [duplicate])
        timer.daemon = True
        timer.start()
        # Callbacks run in reverse: cancel, then join.
        self._timers.callback(timer.join)
        self._timers.callback(timer.cancel)

    def close(self) -> None:
        """Stop the timers, and close the pools."""
        self._timers.close()
        super().close()


def _shut_down(connected: socket.socket) -> None:
    with suppress(OSError):  # already closed
        connected.shutdown(socket.SHUT_RDWR)


class _EndsAtDeadline:
    """A mixin for urllib3's connections that calls ``end_at_deadline`` once there is a socket."""

    port: int
    timeout: Any
    _dns_host: str

    def __init__(self, *args: Any, end_at_deadline: Callable[[socket.socket], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._end_at_deadline = end_at_deadline

    def connect(self) -> None:
        """Connect; raises CannotConnect, which means that the request was not sent."""
        try:
            super().connect()  # type: ignore[misc]
        except (OSError, HTTPError) as error:
            raise CannotConnect(str(error)) from error

    def _new_conn(self) -> socket.socket:
        """Connect to the addresses in turn until one accepts; they share the time limit."""
        end = time.monotonic() + float(self.timeout)
        addresses = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        failure = OSError("the name has no address")
        for number_tried, address in enumerate(addresses):
            seconds = max(end - time.monotonic(), 0.01) / (len(addresses) - number_tried)
            try:
                connected = create_connection(
                    (str(address[4][0]), self.port), seconds, socket_options=_NO_DELAY
                )
            except OSError as error:
                failure = error
            else:
                self._end_at_deadline(connected)
                return connected
        raise failure


class _HTTPConnection(_EndsAtDeadline, HTTPConnection):
    """Plain HTTP."""


class _HTTPSConnection(_EndsAtDeadline, HTTPSConnection):
    """HTTPS."""


@contextmanager
def _errors_of_calls(deadline: Deadline) -> Iterator[None]:
    """Turn errors of the connection into errors of the call."""
    try:
        yield
    except (RequestException, HTTPError, OSError, ValueError, CannotConnect) as error:
        if not deadline.allows(0):
            raise TimedOut("the deadline passed") from error
        if isinstance(error, CannotConnect):
            raise
        raise Unreachable(f"the connection was lost: {type(error).__name__}") from error


def _read(response: requests.Response) -> bytes:
    """Return the body; raises BadResponse for more than MAX_RESPONSE_BYTES or an encoded body."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise BadResponse("the response is encoded, although no encoding was accepted")
    raw: Any = response.raw
    read_length = raw._update_chunk_length  # noqa: SLF001  # urllib3 has no public hook for it

    def read_length_from_zero() -> None:
        """Refuse a negative chunk length: urllib3 would read to the end of the connection."""
        read_length()
        if raw.chunk_left is not None and raw.chunk_left < 0:
            raise BadResponse("a chunk of the response has a negative length")

    raw._update_chunk_length = read_length_from_zero  # noqa: SLF001
    body = bytearray()
    for chunk in raw.stream(_CHUNK_BYTES, decode_content=False):
        body += chunk
        if len(body) > MAX_RESPONSE_BYTES:
            raise BadResponse(f"the response has more than {MAX_RESPONSE_BYTES} bytes")
    return bytes(body)


def _lower_case(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
