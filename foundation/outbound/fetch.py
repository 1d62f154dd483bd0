"""One GET to an address that a customer typed, with limits for addresses, redirects, bytes and time."""

import re
import ssl
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.utils.encoding import iri_to_uri
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import HTTPHeaderDict
from urllib3.exceptions import HTTPError

from foundation.addresses.domains import registrable_domain
from foundation.addresses.hosts import normalise_host
from foundation.outbound.deadline import (
    ConnectFailed,
    Deadline,
    DeadlinePassed,
    TimedHTTPConnection,
    TimedHTTPSConnection,
)
from foundation.outbound.names import NoAddress, localhost_port, resolve

SECONDS = 12.0
USER_AGENT = "ThreatDashboard/1"
MAX_REDIRECTS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
_PORTS = {"http": 80, "https": 443}
_MAX_ADDRESSES = 2  # to try, of each IP version, because they share the connect timeout
_READ_BYTES = 65_536
# zlib's wbits to try, by encoding; like browsers, read deflate with and without zlib's header.
_WBITS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}
# Names of compressions. Like browsers, ignore any other name, such as a misconfigured "utf-8".
_ENCODINGS = _WBITS.keys() | {"br", "zstd", "compress", "x-compress", "dcb", "dcz"}
# The TLS 1.2 ciphers of browsers; Python's default lacks RSA key exchange and SHA-1. Without DHE: browsers
# dropped it, and OpenSSL rejects the DHE keys of old servers that prefer it.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:RSA+AES:!aDSS:!AESCCM"
LEGACY_SERVERS = 0x4  # OP_LEGACY_SERVER_CONNECT of Python 3.12
_BLANKS = bytes(range(33)).decode()  # browsers strip these around an address; others may be part of UTF-8
_PYTHON_DETAILS = re.compile(r"^\[[^]]*\] |\s*\(_ssl\.c:\d+\)$")  # error numbers and lines of C source


def error_text(error: object) -> str:
    """Return the text of an error without Python's error numbers and source lines."""
    return _PYTHON_DETAILS.sub("", str(error))


class FetchFailed(Exception):
    """There is no usable response; ``hops`` are the requests so far.

    ``reason`` is wrong_url, no_address, servers_silent, private_address, connect_failed, tls_invalid,
    broken_response, redirected_away (to another owner's domain or another port), opted_out (must not be
    contacted), redirect_loop (too many redirects) or timed_out.
    """

    def __init__(self, reason: str, detail: object = "") -> None:
        self.reason, self.detail = reason, error_text(detail)
        self.hops: tuple[Hop, ...] = ()
        super().__init__(f"{reason}: {detail}")


@dataclass(frozen=True, slots=True)
class Hop:
    """A request: its URL, the address that answered (else all to try) and the response's headers.

    ``status`` is 0 without a response.
    """

    url: str
    addresses: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=HTTPHeaderDict, compare=False, repr=False)
    status: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The last response, with at most ``max_bytes`` of its decompressed body.

    ``is_whole`` is false if the body is longer, or damaged. A body that cannot be decompressed is empty.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_whole: bool
    hops: tuple[Hop, ...]

    @property
    def url(self) -> str:
        """The address of the response, after redirects."""
        return self.hops[-1].url


def fetch(
    url: str,
    *,
    max_bytes: int,
    deadline: Deadline | None = None,
    ip_version: int | None = None,
    tls: ssl.SSLContext | None = None,
    verify: bool = True,
    agent: str = "",
    pinned: Sequence[str] = (),
    never: Sequence[str] = (),
    origin: str = "",
) -> Fetched:
    """Return the response to a GET of ``url``, or raise FetchFailed.

    Each hop is checked: its port, its registrable domain, and every address of its host. The connection is
    made to a checked address. ``ip_version`` limits it to IPv4 or IPv6, ``tls`` trusts other authorities, and
    without ``verify`` any certificate is accepted. ``agent`` replaces our User-Agent. ``pinned`` are checked
    addresses for the host of ``url``, which is then not resolved. Hosts and address prefixes in ``never`` are
    not contacted. ``origin`` is sent as the header Origin, as for a script of another website.
    """
    context = (tls or trusted()) if verify else unverified()
    hops: list[Hop] = []
    try:
        target = _target(url)
        known_addresses = {target.host: pinned} if pinned else {}
        headers = _headers(agent) | ({"Origin": origin} if origin else {})
        call = _Call(
            max_bytes, deadline or Deadline(SECONDS), ip_version, context, headers, known_addresses, never
        )
        return _follow_redirects(call, target, hops)
    except FetchFailed as error:
        error.hops = tuple(hops)
        raise


@dataclass(frozen=True, slots=True)
class _Target:
    """A checked URL."""

    scheme: str
    host: str
    port: int
    path: str  # with the query
    url: str


@dataclass(frozen=True, slots=True)
class _Call:
    """The limits of one fetch."""

    max_bytes: int
    deadline: Deadline
    ip_version: int | None
    tls: ssl.SSLContext
    headers: Mapping[str, str]
    known_addresses: Mapping[str, Sequence[str]]  # by host
    never: Sequence[str]

    def get(self, target: _Target, hops: list[Hop]) -> Fetched | str:
        """Return the response to one request, or the location of a redirect; raise FetchFailed.

        Each step replaces the hop of this request, the last of ``hops``, by one with the facts known then.
        """
        hops.append(Hop(target.url))
        try:
            addresses = self._addresses(target.host)
            hops[-1] = Hop(target.url, addresses)
            if self._is_never_asked(target.host, addresses):
                raise FetchFailed("opted_out", target.host)
            tls = self.tls if target.scheme == "https" else None
            connection = pinned_connection(target.host, target.port, addresses, self.deadline, tls)
            return self._exchange(connection, target, hops)
        except NoAddress as error:
            raise FetchFailed(error.reason) from error
        except DeadlinePassed as error:
            raise FetchFailed("timed_out") from error
        except ConnectFailed as error:
            is_tls = isinstance(error.__cause__, ssl.SSLError)
            raise FetchFailed("tls_invalid" if is_tls else "connect_failed", error.__cause__) from error
        except (HTTPError, HTTPException, OSError, ValueError) as error:
            raise FetchFailed("broken_response", error) from error

    def _addresses(self, host: str) -> tuple[str, ...]:
        versions: dict[int, list[str]] = {6: [], 4: []}
        for address in self.known_addresses.get(host) or resolve(host, self.deadline):
            versions[6 if ":" in address else 4].append(address)
        chosen = [self.ip_version] if self.ip_version else versions
        addresses = [address for version in chosen for address in versions[version][:_MAX_ADDRESSES]]
        if not addresses:
            raise NoAddress("no_address")
        return tuple(addresses)

    def _is_never_asked(self, host: str, addresses: Sequence[str]) -> bool:
        prefixes = [ip_network(value) for value in self.never if "/" in value]
        return host in self.never or any(
            ip_address(address) in prefix for address in addresses for prefix in prefixes
        )

    def _exchange(self, connection: Any, target: _Target, hops: list[Hop]) -> Fetched | str:
        try:
            connection.connect()
            hops[-1] = Hop(target.url, (connection.address,))
            connection.request("GET", target.path, headers=self.headers, preload_content=False)
            response = connection.getresponse()
            hops[-1] = Hop(target.url, (connection.address,), response.headers, response.status)
            headers = response.headers.getlist("Location")
            locations = dict.fromkeys(each.strip(_BLANKS) for each in headers)  # without duplicates
            if response.status in _REDIRECTS and locations:
                return ", ".join(locations)
            body, is_whole = _decompressed(self._body(response), response.headers, self.max_bytes + 1)
            return Fetched(
                status=response.status,
                headers=response.headers,
                body=body[: self.max_bytes],
                is_whole=is_whole and len(body) <= self.max_bytes,
                hops=tuple(hops),
            )
        finally:
            connection.close()

    def _body(self, response: Any) -> bytes:
        """Return the body as sent, cut after ``max_bytes`` and one byte, which shows that it is longer."""
        body = bytearray()
        while (missing := self.max_bytes + 1 - len(body)) > 0:
            part = response.read(min(missing, _READ_BYTES), decode_content=False)
            if not part:
                break
            body += part
        return bytes(body)


def _decompressed(sent: bytes, headers: Mapping[str, str], limit: int) -> tuple[bytes, bool]:
    """Return at most ``limit`` bytes of the decompressed body, and whether that is all of it.

    We ask for an uncompressed body, but some servers compress it anyway.
    """
    listed = headers.get("Content-Encoding", "").split(",")
    names = [name for each in listed if (name := each.strip().lower()) not in ("", "identity")]
    if _ENCODINGS.isdisjoint(names) or not sent:
        return sent, True
    if len(names) > 1:  # compressed twice
        return b"", False
    for wbits in _WBITS.get(names[0], ()):
        decompressor = zlib.decompressobj(wbits)
        try:
            body = decompressor.decompress(sent, limit)
        except zlib.error:
            continue
        return body, decompressor.eof and not decompressor.unused_data
    return b"", False


def _follow_redirects(call: _Call, target: _Target, hops: list[Hop]) -> Fetched:
    for _ in range(MAX_REDIRECTS + 1):
        response = call.get(target, hops)
        if isinstance(response, Fetched):
            return response
        target = _redirected(target, response)
    raise FetchFailed("redirect_loop", f"more than {MAX_REDIRECTS} redirects")


class _Pinned:
    """A mixin that connects to checked addresses, even if the host resolves to others later."""

    def __init__(self, *args: Any, pinned: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pinned = pinned

    def _addresses(self) -> Sequence[str]:
        return self._pinned


class _PinnedHTTP(_Pinned, TimedHTTPConnection):
    """Plain HTTP to checked addresses."""


class _PinnedHTTPS(_Pinned, TimedHTTPSConnection):
    """HTTPS to checked addresses; the certificate must be for the name."""


def pinned_connection(
    host: str, port: int, addresses: Sequence[str], deadline: Deadline, tls: ssl.SSLContext | None
) -> Any:
    """Return an unopened connection to one of these checked addresses; plain HTTP without ``tls``."""
    if tls is None:
        return _PinnedHTTP(host, port, pinned=addresses, deadline=deadline)
    return _PinnedHTTPS(host, port, pinned=addresses, deadline=deadline, ssl_context=tls)


def _target(url: str) -> _Target:
    """Return the checked parts of ``url``; raise FetchFailed."""
    try:
        parts = urlsplit(url)
        default = _PORTS[parts.scheme]
        host = normalise_host(parts.hostname or "")
        port = (localhost_port(host) or default) if parts.port is None else parts.port
    except (KeyError, ValueError) as error:
        raise FetchFailed("wrong_url", error) from error
    if "@" in parts.netloc:
        raise FetchFailed("wrong_url", "a name or password")
    if port not in _PORTS.values() and not settings.ALLOW_PRIVATE_HOSTS:
        raise FetchFailed("wrong_url", f"port {port}")
    path = iri_to_uri(parts.path or "/") + (f"?{iri_to_uri(parts.query)}" if parts.query else "")
    location = (f"[{host}]" if ":" in host else host) + ("" if port == default else f":{port}")
    return _Target(parts.scheme, host, port, path, f"{parts.scheme}://{location}{path}")


def _redirected(target: _Target, location: str) -> _Target:
    """Return the target of a redirect; raise FetchFailed if it leaves the owner's domain."""
    try:
        text = location.encode("latin-1", "replace").decode("utf-8", "replace")  # as browsers read it
        following = _target(urljoin(target.url, text))
    except (FetchFailed, ValueError) as error:
        raise FetchFailed("redirected_away", location[:200]) from error
    if _owner(following.host) != _owner(target.host):
        raise FetchFailed("redirected_away", location[:200])
    return following


def _owner(host: str) -> str:
    """Return the registrable domain, else the host itself, such as a private one."""
    return registrable_domain(host) or host


def _headers(agent: str) -> dict[str, str]:
    if not agent:
        contact = iri_to_uri(settings.SUPPORT_URL or settings.PORTAL_BASE_URL)
        agent = f"{USER_AGENT} (+{contact})" if contact else USER_AGENT
    return {
        "User-Agent": agent,
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Cache-Control": "no-cache",  # the current page, with its cookies
    }


@cache
def trusted(*, legacy: bool = False, old: bool = False) -> ssl.SSLContext:
    """Return a TLS context with the public certificate authorities, ignoring the environment's.

    ``legacy`` accepts servers without secure renegotiation, and RSA keys of 1,024 bits, as most browsers do.
    An attacker may then have sent the beginning of the request, so the response is no proof. ``old`` accepts
    TLS 1.0 and 1.1, which browsers reject.
    """
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # browsers trust roots that Python 3.13 refuses
    context.hostname_checks_common_name = False  # browsers read the alternative names only
    context.set_ciphers(_CIPHERS)
    if legacy:
        context.options |= LEGACY_SERVERS
        context.set_ciphers(f"{_CIPHERS}:@SECLEVEL=1")
    if old:
        _accept_old_versions(context)
    return context


@cache
def unverified() -> ssl.SSLContext:
    """Return a TLS context that accepts any certificate, and TLS 1.0: the response may come from anyone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.options |= LEGACY_SERVERS
    _accept_old_versions(context)
    return context


def _accept_old_versions(context: ssl.SSLContext) -> None:
    """Accept TLS 1.0 and 1.1, with the ciphers for them, which OpenSSL disables by default."""
    context.set_ciphers(f"{_CIPHERS}:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
