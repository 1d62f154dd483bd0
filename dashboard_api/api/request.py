"""Form of a signed call (checks 1 to 5), and the JSON response of every endpoint."""

import functools
import json
import logging
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.db import OperationalError
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

logger = logging.getLogger(__name__)

_CONTENT_TYPE = re.compile(r"application/json\s*(;\s*charset=\"?utf-8\"?\s*)?", re.ASCII | re.IGNORECASE)
_SIGNED = {
    name: f"HTTP_{name.upper().replace('-', '_')}"
    for name in (es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER)
}
_LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
_LENGTH = re.compile(r"[0-9]{1,1000}", re.ASCII)  # int() refuses more than some thousands of digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A well-formed call, not yet authenticated. ``headers`` has the ES1 headers in lower case.

    ``now`` is whole Unix seconds, read after the body.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    now: int

    @property
    def moment(self) -> datetime:
        """``now`` as a datetime in UTC."""
        return datetime.fromtimestamp(self.now, tz=UTC)


def receive(request: HttpRequest, path: str) -> Call:
    """Return ``request`` as a call of ``path``; raises HttpsRequired and the ApiErrors of checks 1 to 5."""
    if settings.HTTPS and not (request.is_secure() or _is_on_this_machine(request)):
        raise HttpsRequired
    if request.path != path or _raw_path(request) not in (None, path):
        raise NotFound
    if request.META["REQUEST_METHOD"] != "POST":  # request.method is always in upper case
        raise MethodNotAllowed
    if request.META.get("QUERY_STRING"):
        raise UnexpectedQuery
    if not _CONTENT_TYPE.fullmatch(request.META.get("CONTENT_TYPE", "")) or _is_encoded(request):
        raise UnsupportedMediaType
    body = _read_body(request)
    return Call(
        method="POST",
        path=path,
        headers={name: request.META[key] for name, key in _SIGNED.items() if key in request.META},
        body=body,
        now=int(time.time()),
    )


def _is_on_this_machine(request: HttpRequest) -> bool:
    """Return whether the Host header is a loopback name, which ALLOWED_HOSTS must include."""
    return split_domain_port(request.get_host())[0] in _LOOPBACK_HOSTS


def _raw_path(request: HttpRequest) -> str | None:
    """Return the path as sent, if the server provides it: for a signature ``%64`` differs from ``d``."""
    target = request.META.get("RAW_URI")
    return urlsplit(target).path if target else None


def _is_encoded(request: HttpRequest) -> bool:
    encoding: str = request.META.get("HTTP_CONTENT_ENCODING", "identity")
    return encoding.lower() != "identity"


def _read_body(request: HttpRequest) -> bytes:
    """Return the body; a wrong Content-Length is refused before any byte is read."""
    declared = request.META.get("CONTENT_LENGTH", "")
    if not _LENGTH.fullmatch(declared) or "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthRequired
    if int(declared) > limits.MAX_BODY_BYTES:
        raise BodyTooLarge
    try:
        body = request.body
    except UnreadablePostError as error:
        raise IncompleteBody from error
    if len(body) != int(declared):
        raise IncompleteBody
    return body


def json_endpoint(view: Callable[[HttpRequest], bytes]) -> Callable[[HttpRequest], HttpResponse]:
    """Respond with the JSON that ``view`` returns, or with the JSON of the error that it raises."""

    @functools.wraps(view)
    def respond(request: HttpRequest) -> HttpResponse:
        request_id = new_request_id()
        try:
            return _json(200, view(request), request_id)
        except ApiError as error:
            return error_response(error, request_id)
        except OperationalError:
            logger.exception("%s: a database cannot be reached", request_id)
            return error_response(Unavailable(), request_id)
        except Exception:
            # The caller gets JSON for any error; the cause is in the log.
            logger.exception("%s: unforeseen", request_id)
            return error_response(InternalError(), request_id)

    respond.csrf_exempt = True  # type: ignore[attr-defined]  # the signature authenticates the caller
    return respond


def new_request_id() -> str:
    """Return a random name of the call, for its response and the log. It is not a secret."""
    return random.randbytes(8).hex()  # noqa: S311


def error_response(error: ApiError, request_id: str) -> HttpResponse:
    """Return the JSON response for ``error``."""
    detail = {"code": error.code, "message": error.text, "request_id": request_id, **error.details}
    body = json.dumps({"ok": False, "error": detail}, separators=(",", ":"), ensure_ascii=False).encode()
    logger.info("%s: %s %s", request_id, error.status, error.code)
    return _json(error.status, body, request_id, error.headers())


def _json(status: int, body: bytes, request_id: str, headers: dict[str, str] | None = None) -> HttpResponse:
    fixed = {"Cache-Control": "no-store", "X-Request-Id": request_id}
    return HttpResponse(body, status=status, content_type="application/json", headers=fixed | (headers or {}))
