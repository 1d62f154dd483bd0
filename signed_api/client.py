"""The client of the signed API: signs, keeps a deadline, retries once, and returns typed responses."""

import ipaddress
import math
import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import msgspec

from signed_api.all_routes import ROUTES
from signed_api.errors import (
    BY_CODE,
    BadResponse,
    CallError,
    CannotConnect,
    CheckTooSoon,
    ErrorDetail,
    ErrorResponse,
    RateLimited,
    Refused,
    ScanRefused,
    SignatureRefused,
    SlowRequest,
    TooManyDisputes,
    Unavailable,
    Unreachable,
)
from signed_api.routes import Request, Response, Route
from signed_api.transport import Deadline, Exchange, attempt

TIMEOUT_SECONDS = 45  # the reference client's figure (specification, section 4)
PAUSE_SECONDS = 0.2  # before a retry, unless the service sends Retry-After
MAX_WAIT_SECONDS = 3600  # the longest retry_after of an error
# Scheme, then labels of a name or an IPv6 address in brackets, then a port if there is one
_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_BASE_URL = re.compile(
    rf"https?://({_LABEL}(\.{_LABEL})*|\[[0-9a-f:.]*:[0-9a-f:.]*\])(:[0-9]{{1,5}})?", re.ASCII | re.IGNORECASE
)
_RETRIED_STATUSES = {429, 502, 503, 504}
_DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
# Created on import, because msgspec crashes if several threads use a type for the first time together.
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {
    route.response: msgspec.json.Decoder(route.response) for route in ROUTES
}
_REFUSAL_DECODER = msgspec.json.Decoder(ErrorResponse)


class Client:
    """A client for one account of the service at ``base_url``, such as https://api.example.com.

    ``secret`` is the account's site API secret. A call ends after ``timeout`` seconds, its retry included;
    only the system's look-up of names has a time limit of its own. ``ca_file`` names the certificate
    authorities to trust, by default the public ones. Raises ValueError if ``check_address`` refuses the
    address.
    """

    def __init__(
        self,
        base_url: str,
        *,
        account_ref: str,
        secret: str,
        timeout: float = TIMEOUT_SECONDS,
        ca_file: str = "",
    ) -> None:
        check_address(base_url)
        self._base_url = base_url
        self._account_ref = account_ref
        self._secret = secret
        self._timeout = timeout
        self._ca_file = ca_file

    def send(self, route: Route[Request, Response], request: Request) -> Response:
        """Send ``request`` for the account of this client, and return the response; raises CallError."""
        deadline = Deadline(max(self._timeout, route.seconds))
        send_once = partial(
            attempt,
            self._base_url + route.path,
            encode(request, portal_account_ref=self._account_ref),
            secret=self._secret,
            deadline=deadline,
            ca_file=self._ca_file,
        )
        exchange = up_to_twice(send_once, deadline, is_repeatable=route.is_repeatable)
        return read_response(exchange, route)


def encode(request: msgspec.Struct, **extra_fields: str) -> bytes:
    """Return the body: compact JSON of ``extra_fields`` and the non-empty fields of ``request``."""
    given = {
        name: value
        for name, value in msgspec.to_builtins(request).items()
        if value not in ("", None) and name not in extra_fields
    }
    return msgspec.json.encode({**extra_fields, **given})


def up_to_twice(
    send_once: Callable[[], Exchange],
    deadline: Deadline,
    *,
    is_repeatable: bool = True,
    may_retry: Callable[[], bool] = lambda: True,
) -> Exchange:
    """Return the exchange of ``send_once``, and retry once if the first failure may be temporary.

    Retry a call that is not repeatable only if the request was never sent. ``send_once`` signs each attempt
    with a new nonce.
    """
    try:
        first = send_once()
    except CannotConnect:
        if not (deadline.allows(PAUSE_SECONDS) and may_retry()):
            raise
        pause = PAUSE_SECONDS
    else:
        pause = _pause_after(first) if is_repeatable else math.inf
        if not (deadline.allows(pause) and may_retry()):
            return first
    time.sleep(pause)
    return send_once()


def _pause_after(exchange: Exchange) -> float:
    """Return the seconds to wait before a retry; infinity forbids one."""
    if exchange.status not in _RETRIED_STATUSES:
        return math.inf
    retry_after = exchange.headers.get("retry-after")
    if retry_after is None:  # a 429 without Retry-After forbids a retry now
        return math.inf if exchange.status == 429 else PAUSE_SECONDS
    return int(retry_after) if _SECONDS.fullmatch(retry_after) else math.inf  # Retry-After can be a date


def read_response(exchange: Exchange, route: Route[Any, Response], *, host: str = "") -> Response:
    """Decode the response; raises Refused, Unreachable, or BadResponse if it is not about ``host``."""
    header = exchange.headers.get("x-request-id", "")
    request_id = header if _REQUEST_ID.fullmatch(header) else ""  # any other header is not safe to log
    if exchange.status != 200:
        raise _error_of(exchange, request_id)
    try:
        response: Response = _DECODERS[route.response].decode(exchange.body)
    except _DECODE_ERRORS as error:
        raise BadResponse(f"no {route.response.__name__}: {error}", request_id=request_id) from error
    members: Any = response  # each response has ok, and some have a host
    if not members.ok or (host and getattr(members, "host", host) != host):
        raise BadResponse("the response is about another website, or not ok", request_id=request_id)
    return response


def is_outage(exchange: Exchange) -> bool:
    """Return whether the service, or a proxy in front of it, reports an outage."""
    detail = _detail(exchange)
    is_about_the_request = detail is not None and (detail.code in ScanRefused.codes or _is_slow(detail))
    return exchange.status in (502, 503, 504) and not is_about_the_request


def check_address(url: str) -> None:
    """Raise ValueError unless ``url`` is scheme, host and optional port: https, or http to loopback."""
    host = host_of(url)
    if host is None:
        raise ValueError(
            "The base URL must be a scheme, a host and an optional port, such as https://api.example.com, "
            "without user, path, query or a slash at the end."
        )
    if url.lower().startswith("http:") and not is_loopback(host):
        raise ValueError(
            "The base URL must start with https://; http:// is only for this machine, such as "
            "http://127.0.0.1:8000."
        )


def host_of(url: str) -> str | None:
    """Return the host of a URL that has only scheme, host and port, or else None."""
    if not _BASE_URL.fullmatch(url):
        return None
    with suppress(ValueError):  # a port above 65535, or an invalid IPv6 address
        parts = urlsplit(url)
        return parts.hostname if parts.port != 0 else None
    return None


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is localhost or a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _error_of(exchange: Exchange, request_id: str) -> CallError:
    """Return the error for a status other than 200."""
    status, detail = exchange.status, _detail(exchange)
    header = exchange.headers.get("retry-after", "")
    wait = min(int(header), MAX_WAIT_SECONDS) if _SECONDS.fullmatch(header) else 0
    kind = _kind_of(status, detail)
    if kind is not None:
        return kind(detail, status=status, retry_after=wait, request_id=request_id)
    if status == 503:
        return Unavailable(retry_after=wait, request_id=request_id)
    if status >= 500:
        return Unreachable(f"the service answered {status}", request_id=request_id)
    return BadResponse(f"the service answered {status} without a reason", request_id=request_id)


def _kind_of(status: int, detail: ErrorDetail | None) -> type[Refused] | None:
    """Return the class of a refusal, unless the response breaks the contract or reports an outage."""
    code = detail.code if detail else ""
    if code in ScanRefused.codes:
        return ScanRefused
    if status == 429:  # proxies send it as well, without the contract's body
        return next((kind for kind in (CheckTooSoon, TooManyDisputes) if code in kind.codes), RateLimited)
    if status >= 500:
        return SlowRequest if status == 503 and detail and _is_slow(detail) else None
    if status < 400 or detail is None:
        return None
    return SignatureRefused if status == 401 else BY_CODE.get(code, Refused)


def _is_slow(detail: ErrorDetail) -> bool:
    """Return whether a 503 is about this request only, not about the whole service."""
    return detail.reason == "slow_question"  # the service's word for a request that took too long


def _detail(exchange: Exchange) -> ErrorDetail | None:
    """Return the details of a refusal, if the body follows the contract."""
    try:
        body = _REFUSAL_DECODER.decode(exchange.body)
    except _DECODE_ERRORS:
        return None
    return None if body.ok else body.error
