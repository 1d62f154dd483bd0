"""A loopback proxy for scanner programs: it forwards to one website at one address and refuses all others.

It terminates the program's TLS, so it can read, count and pace every request.
"""

import re
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any, Self, cast
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from urllib3.exceptions import HTTPError

from foundation.outbound import sockets
from foundation.outbound.deadline import CONNECT_SECONDS, ConnectFailed, Deadline, DeadlinePassed
from foundation.outbound.fetch import USER_AGENT, pinned_connection, unverified
from foundation.outbound.names import localhost_port
from foundation.outbound.refusals import REFUSALS

MAX_CONNECTIONS = 4
MAX_SLOWDOWNS = 3  # for Retry-After until the scan counts as blocked
_REQUEST_SECONDS = 10.0  # for one request; so stopping all scans takes no longer
_RETRY_SECONDS = 30  # the longest wait for a Retry-After: the whole scan has a deadline
_MAX_BODY = 1024**2  # of a request
_CONTENT_LENGTH = re.compile("[0-9]{1,9}")
_PART = 65_536  # bytes that a tunnel passes on at once
_MAX_RESPONSE = 4 * 1024**2  # longer responses are cut
_FEW = 20  # of fewer responses, half may be refusals by chance
_REFUSALS = REFUSALS - {401, 405}  # these two are normal for parts of a website
_NOT_FORWARDED = {  # headers of one connection, or set by the proxy itself
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one program: requests and bytes (of bodies, both ways) in all, and requests a second."""

    requests: int
    bytes: int
    a_second: float


class Proxy:
    """A proxy that answers at its listeners while its context lasts."""

    handler: type[BaseHTTPRequestHandler]

    def __init__(self) -> None:
        self._servers: list[_Server] = []

    def __enter__(self) -> Self:
        """Return the proxy; nothing is served yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def listen(self) -> int:
        """Serve at a port of this machine's loopback, and return it."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.serve(listener)
        return int(listener.getsockname()[1])

    def serve(self, listener: socket.socket) -> None:
        """Answer connections to a listening socket, also one that another process opened."""
        server = _Server(listener, self)
        self._servers.append(server)
        poll = {"poll_interval": 0.1}  # seconds; stopping takes no longer
        threading.Thread(target=server.serve_forever, kwargs=poll, daemon=True).start()


class WebsiteProxy(Proxy):
    """A proxy that sends requests to one website; ``allows`` decides which paths may be requested.

    ``problem`` is the reason for refusing all further requests: too_many_requests, too_much_traffic, blocked
    or ended.
    """

    def __init__(
        self,
        host: str,
        address: str,
        limits: Limits,
        *,
        folder: Path,
        allows: Callable[[str], bool] = lambda _path: True,
    ) -> None:
        super().__init__()
        self.host, self.allows, self.problem = host, allows, ""
        self.requests = self.answers = self.bytes = 0  # so far
        self._address, self._limits = address, limits
        self._pause = 1 / limits.a_second  # seconds between requests
        self._next_at = 0.0  # when the next request may begin, by time.monotonic
        self._slowdowns, self._slowed_at = 0, 0.0
        self._refusals = 0
        self._lock = threading.Lock()
        self._free_connections = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self.tls = _tls_context(host, folder)

    def __exit__(self, *_: object) -> None:
        """Stop serving; refuse the requests that wait."""
        self.problem = self.problem or "ended"
        super().__exit__()

    @property
    def is_refused(self) -> bool:
        """Whether at least half of the responses were refusals; False for fewer than 20 responses."""
        return self.answers >= _FEW and self._refusals * 2 >= self.answers

    def port(self, scheme: str) -> int | None:
        """Return the website's port for ``scheme``, if it has one."""
        if port := localhost_port(self.host):
            return port if scheme == "http" else None
        return {"https": 443, "http": 80}.get(scheme)

    def exchange(self, scheme: str, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        """Send a request; return the response and its body, or None if the limits forbid the request.

        Raises the errors of connections.
        """
        with self._free_connections:
            if not self._may_begin():
                return None
            began, deadline = time.monotonic(), Deadline(_REQUEST_SECONDS)
            tls = unverified() if scheme == "https" else None
            connection = pinned_connection(self.host, self.port(scheme) or 0, [self._address], deadline, tls)
            try:
                connection.connect()
                connection.request(method, path, body=body or None, headers=headers, preload_content=False)
                response = connection.getresponse()
                content = _body(response)
            finally:
                connection.close()
            self._note(response, len(body) + len(content), began)
            return response, content

    def _may_begin(self) -> bool:
        """Count the request and wait for its turn; return False if it is refused."""
        with self._lock:
            if self.requests >= self._limits.requests:
                self.problem = self.problem or "too_many_requests"
            if self.problem:
                return False
            self.requests += 1
            now = time.monotonic()
            at = max(now, self._next_at)
            self._next_at = at + self._pause
        time.sleep(at - now)
        return not self.problem

    def _note(self, response: Any, size: int, began: float) -> None:
        """Count a response; slow down for a 429 or 503 with Retry-After."""
        with self._lock:
            self.answers += 1
            self.bytes += size
            if response.status in _REFUSALS:
                self._refusals += 1
            if self.bytes > self._limits.bytes:
                self.problem = self.problem or "too_much_traffic"
            retry = response.headers.get("Retry-After")
            # A request that began before the last slowdown asks for the same one.
            if response.status not in (429, 503) or retry is None or began < self._slowed_at:
                return
            now = time.monotonic()
            self._slowdowns += 1
            self._slowed_at, self._pause = now, self._pause * 2
            digits = retry[:9]  # int() rejects thousands of digits
            seconds = int(digits) if digits.isascii() and digits.isdigit() else _RETRY_SECONDS
            self._next_at = max(self._next_at, now + min(seconds, _RETRY_SECONDS))
            if self._slowdowns >= MAX_SLOWDOWNS:
                self.problem = self.problem or "blocked"


class _Server(ThreadingTCPServer):
    """A server with a thread for each connection of the program."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, proxy: Proxy) -> None:
        super().__init__(("", 0), proxy.handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.proxy = listener, proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no traceback: the program may disconnect at any time."""


class _Handler(BaseHTTPRequestHandler):
    """One connection of the program: plain requests with absolute URLs, or CONNECT and then TLS."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    server: _Server
    is_tunnel = False

    @property
    def website(self) -> WebsiteProxy:
        """The proxy of this connection."""
        return cast("WebsiteProxy", self.server.proxy)

    def do_CONNECT(self) -> None:
        """Answer as the website's https server, for its host and port only."""
        proxy = self.website
        host, _, port = self.path.rpartition(":")
        if self.is_tunnel or host.lower().strip("[]") != proxy.host or port != str(proxy.port("https")):
            self.send_error(403, "Not the website of this scan")
            return
        self.send_response_only(200)
        self.end_headers()
        self.connection = proxy.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", 0)
        self.is_tunnel, self.close_connection = True, False  # a CONNECT in HTTP/1.0 would close it

    def finish(self) -> None:
        """Close the connection, and the tunnel that has taken its socket over."""
        with suppress(OSError):
            super().finish()
        if self.is_tunnel:
            self.connection.close()

    def _forward(self) -> None:
        path, size = self._path(), self.headers.get("Content-Length", "0")
        if path is None:
            self.send_error(403, "Not the website of this scan")
        elif (
            "Transfer-Encoding" in self.headers
            or not _CONTENT_LENGTH.fullmatch(size)
            or int(size) > _MAX_BODY
        ):
            self.close_connection = True
            self.send_error(413)
        else:
            body = self.rfile.read(int(size))
            if not self.website.allows(path):
                self.send_error(403, "robots.txt does not allow this")
            else:
                self._exchange(path, body)

    def _path(self) -> str | None:
        """Return the path with the query, if the request is for the website."""
        proxy = self.website
        scheme = "https" if self.is_tunnel else "http"
        try:
            parts = urlsplit(f"https://{self.headers.get('Host', '')}" if self.is_tunnel else self.path)
            port = parts.port or {"https": 443, "http": 80}[scheme]
        except ValueError:
            return None
        if (parts.scheme, parts.hostname, port) != (scheme, proxy.host, proxy.port(scheme)):
            return None
        if self.is_tunnel:
            return self.path if self.path.startswith("/") else None
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def _exchange(self, path: str, body: bytes) -> None:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _NOT_FORWARDED}
        headers = {"User-Agent": USER_AGENT} | headers | {"Connection": "close"}
        scheme = "https" if self.is_tunnel else "http"
        try:
            found = self.website.exchange(scheme, self.command, path, headers, body)
        except (ConnectFailed, DeadlinePassed, HTTPError, HTTPException, OSError, ValueError) as error:
            self.send_error(502, type(error).__name__)
            return
        if found is None:
            self.send_error(503, self.website.problem)
            return
        response, content = found
        self.send_response_only(response.status, "".join(filter(str.isprintable, response.reason or "")))
        for name, value in response.headers.items():
            if name.lower() not in _NOT_FORWARDED:
                self.send_header(name, " ".join(value.split("\r\n")))
        if response.status >= 200 and response.status not in (204, 304):
            length = response.headers.get("Content-Length", "0") if self.command == "HEAD" else len(content)
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = _forward  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Print no access log."""


class Tunnel(Proxy):
    """A proxy for scanners of TLS, which leads to one port of one website at one address, unread."""

    def __init__(self, host: str, address: str, port: int = 443) -> None:
        super().__init__()
        self.targets = {f"{host}:{port}", f"{address}:{port}", f"[{address}]:{port}"}
        self.address, self.port = address, port


class _TunnelHandler(BaseHTTPRequestHandler):
    """One connection of the scanner."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    server: _Server

    def do_CONNECT(self) -> None:
        """Connect to the website in its turn, and pass bytes on until one side ends."""
        tunnel = cast("Tunnel", self.server.proxy)
        self.close_connection = True
        if self.path.lower() not in tunnel.targets:
            self.send_error(403, "Not the website of this scan")
            return
        try:
            website = sockets.connect(tunnel.address, tunnel.port, CONNECT_SECONDS)
        except OSError as error:
            self.send_error(502, type(error).__name__)
            return
        with website:
            self.send_response_only(200)
            self.end_headers()
            with suppress(OSError):
                _pass_on(self.connection, website)

    def log_message(self, *_: object) -> None:
        """Print no access log."""


WebsiteProxy.handler, Tunnel.handler = _Handler, _TunnelHandler


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    """Pass bytes on in both directions until one side ends, or both are silent."""
    one.settimeout(_REQUEST_SECONDS)
    other.settimeout(_REQUEST_SECONDS)
    while readable := select.select([one, other], [], [], _REQUEST_SECONDS)[0]:
        for source in readable:
            part = source.recv(_PART)
            if not part:
                return
            (other if source is one else one).sendall(part)


def _body(response: Any) -> bytes:
    """Return at most _MAX_RESPONSE bytes of the body, not decoded."""
    body = bytearray()
    while missing := _MAX_RESPONSE - len(body):
        part = response.read(missing, decode_content=False)
        if not part:
            break
        body += part
    return bytes(body)


def _tls_context(host: str, folder: Path) -> ssl.SSLContext:
    """Return the tunnels' TLS context; its certificate is self-signed, so the program must not verify it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([]), datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
    made = made.not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    file = folder / "proxy.pem"
    file.touch(0o600)
    file.write_bytes(
        made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    file.unlink()
    return context
