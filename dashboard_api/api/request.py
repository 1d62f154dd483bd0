"""Reads the form of a signed call (checks 1 to 5), and writes the JSON responses of all endpoints."""

import functools
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.request import split_domain_port

import es1
from dashboard_api import limits
from dashboard_api.errors import (
    ApiError,
    BodyTooLarge,
    HttpsRequired,
    IncompleteBody,
    InternalError,
    LengthRequired,
    MethodNotAllowed,
    NotFound,
    Unavailable,
    UnexpectedQuery,
    UnsupportedMediaType,
)
from foundation.operations.metrics import count_refusal
from foundation.operations.request_ids import current_request, current_request_id, note_address
from foundation.operations.storage import is_storage_fault

logger = logging.getLogger(__name__)

_CONTENT_TYPE = re.compile(r"application/json\s*(;\s*charset=\"?utf-8\"?\s*)?", re.ASCII | re.IGNORECASE)
# The key of each ES1 header in request.META
_META_KEYS = {
    name: f"HTTP_{name.upper().replace('-', '_')}"
    for name in (es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER)
}
_LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
_MAX_ADDRESS_LENGTH = 64
IN_PROCESS = "dashboard.in_process"  # a key of the WSGI environment that no header can set
_LENGTH = re.compile(r"[0-9]{1,1000}", re.ASCII)  # int() rejects more than a few thousand digits

_REFUSALS_A_LINE = 100  # in the log, of unauthenticated callers
_unsigned: Counter[str] = Counter()  # refusals of unauthenticated callers by code; threads may lose a few


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A well-formed call that is not authenticated yet."""

    method: str
    path: str
    headers: dict[str, str]  # the ES1 headers, with names in lower case
    body: bytes
    at: datetime  # in UTC, read after the body
    request_id: str
    address: str  # of the caller
    host: str = ""  # the Host header as sent, not verified
    is_in_process: bool = False  # the portal calls from this process, without a rate limit

    @property
    def now(self) -> int:
        """``at`` in whole Unix seconds."""
        return int(self.at.timestamp())

    @property
    def moment(self) -> datetime:
        """``at`` in whole seconds."""
        return self.at.replace(microsecond=0)


def receive(request: HttpRequest, path: str) -> Call:
    """Return ``request`` as a call of ``path``; raises HttpsRequired or the ApiErrors of checks 1 to 5."""
    check_https(request)
    # Django decodes %64 to d, but the path is signed as it is sent: gunicorn has it in RAW_URI.
    target = request.META.get("RAW_URI")
    if request.path != path or (target and urlsplit(target).path != path):
        raise NotFound
    if request.META["REQUEST_METHOD"] != "POST":  # request.method is always in upper case
        raise MethodNotAllowed
    if request.META.get("QUERY_STRING"):
        raise UnexpectedQuery
    encoding: str = request.META.get("HTTP_CONTENT_ENCODING", "identity")
    if not _CONTENT_TYPE.fullmatch(request.META.get("CONTENT_TYPE", "")) or encoding.lower() != "identity":
        raise UnsupportedMediaType
    body = read_body(request, limits.MAX_BODY_BYTES, BodyTooLarge)
    return Call(
        method="POST",
        path=path,
        headers={name: request.META[key] for name, key in _META_KEYS.items() if key in request.META},
        body=body,
        at=datetime.fromtimestamp(time.time(), tz=UTC),
        request_id=current_request_id(),
        address=caller_address(request),
        host=request.META.get("HTTP_HOST", ""),
        is_in_process=request.META.get(IN_PROCESS) is True,
    )


def caller_address(request: HttpRequest) -> str:
    """Return the IP address of the caller; behind a trusted proxy, the address that the proxy saw."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.TRUST_PROXY else ""
    address: str = forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")
    return address[:_MAX_ADDRESS_LENGTH] if address.isprintable() else ""


def check_https(request: HttpRequest) -> None:
    """Raise HttpsRequired for an unencrypted request to a deployment that requires https.

    Calls to a loopback name may use plain http; ALLOWED_HOSTS must include that name.
    """
    if not settings.HTTPS or request.is_secure():
        return
    if split_domain_port(request.get_host())[0] not in _LOOPBACK_HOSTS:
        raise HttpsRequired


def read_body(request: HttpRequest, max_bytes: int, too_large: type[ApiError]) -> bytes:
    """Return the body; refuses a missing or too large Content-Length before it reads a byte."""
    declared = request.META.get("CONTENT_LENGTH", "")
    if not _LENGTH.fullmatch(declared) or "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthRequired
    if int(declared) > max_bytes:
        raise too_large
    try:
        body = request.body
    except UnreadablePostError as error:
        raise IncompleteBody from error
    if len(body) != int(declared):
        raise IncompleteBody
    return body


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON response with its own status and headers."""

    body: bytes
    status: int
    headers: dict[str, str]


def json_endpoint(view: Callable[..., bytes | Reply]) -> Callable[..., HttpResponse]:
    """Turn what ``view`` returns or raises into a JSON response."""

    @functools.wraps(view)
    def respond(request: HttpRequest, **arguments: Any) -> HttpResponse:
        note_address(caller_address(request))
        try:
            reply = view(request, **arguments)
            if isinstance(reply, Reply):
                return _json(reply.status, reply.body, reply.headers)
            return _json(200, reply)
        except ApiError as error:
            return error_response(error, request)
        except Exception as error:
            # Callers get JSON for every error; only the log has the cause.
            if is_storage_fault(error):
                logger.exception("storage failed", extra={"status": Unavailable.status})
                return error_response(Unavailable(), request)
            logger.exception("unforeseen", extra={"status": InternalError.status})
            return error_response(InternalError(), request)

    respond.csrf_exempt = True  # type: ignore[attr-defined]  # a signature or a token authenticates the caller
    return respond


def error_response(error: ApiError, request: HttpRequest) -> HttpResponse:
    """Return the JSON response for ``error``; counts and logs the refusal."""
    detail = {
        "code": error.code,
        "message": error.text,
        "request_id": current_request_id(),
        "doc_url": _doc_url(error, request),
        **error.details,
    }
    body = json.dumps({"ok": False, "error": detail}, separators=(",", ":"), ensure_ascii=False).encode()
    count_refusal(error.code)
    _log_refusal(error)
    return _json(error.status, body, error.headers())


def _doc_url(error: ApiError, request: HttpRequest) -> str:
    """Return the address that explains ``error``; only its path if the Host header is not allowed."""
    try:
        address: str = request.build_absolute_uri(error.doc_path)
    except DisallowedHost:
        return error.doc_path
    return address


def _log_refusal(error: ApiError) -> None:
    """Log a refusal; of unauthenticated callers, only one in a hundred.

    Anyone can cause those, and a line for each could fill the disk.
    """
    current = current_request()
    if error.status >= 500 or (current and current.account):
        logger.info("%s", error.code, extra={"status": error.status})
        return
    _unsigned[error.code] += 1
    count = _unsigned[error.code]
    if count % _REFUSALS_A_LINE == 1:
        logger.info(
            "%s: %d without a signature since the start", error.code, count, extra={"status": error.status}
        )


def _json(status: int, body: bytes, headers: dict[str, str] | None = None) -> HttpResponse:
    fixed = {"Cache-Control": "no-store"}
    return HttpResponse(body, status=status, content_type="application/json", headers=fixed | (headers or {}))
