"""Refuse long bodies, control characters and odd hosts before other code reads or stores them."""

import re
from collections.abc import Callable
from typing import Any

from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from config.web.errors import is_api, too_large
from dashboard_api.limits import MAX_UPLOAD_BYTES

MAX_BODY_BYTES = 64 * 1024
# The permission of staff by page: this page alone accepts a file.
_UPLOAD_PERMISSIONS = {"admin:dashboard_api_website_import": "dashboard_api.add_importrun"}
_ROUTES_WITH_OWN_LIMIT = {"dashboard_api:reports", "dashboard_api:callbacks"}

_BODY_LENGTH = re.compile(r"[0-9]{1,1000}", re.ASCII)  # int() takes a few thousand digits at most
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_DOTS = re.compile(r"/\.\.?(/|$)")  # /./ and /../, also at the end
_DOTTED_HOST = re.compile(r"\.(:[0-9]*)?$", re.ASCII)


def refuse_script_name(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Refuse a request with SCRIPT_NAME: it changes the path, so a proxy's limits by path would not apply.

    The product is served at the root of a host. Some servers read SCRIPT_NAME from a header;
    gunicorn.conf.py prevents that.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if request.META["SCRIPT_NAME"]:
            raise SuspiciousOperation("SCRIPT_NAME is set, and this product is served at the root of a host")
        return get_response(request)

    return respond


def same_origin_only(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Forbid other websites to load a response into their pages, unless the view allows it."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    return respond


class Guard:
    """Middleware that runs before the CSRF check, which reads and stores every body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Drop cookies with control characters: a refusal here would lack the headers of other middleware."""
        _drop_control_cookies(request)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """Check host, address and body, once the route is known."""
        _check_host(request)
        if not is_api(request):  # the service has its own errors
            _check_address(request)
        # Routes with a limit of their own read the body only after they know the token.
        has_own_limit = request.resolver_match and request.resolver_match.view_name in _ROUTES_WITH_OWN_LIMIT
        if not has_own_limit and _declared_bytes(request) > _max_bytes(request):
            return too_large(request)
        if not is_api(request):
            _check_fields(request)
        return None


def _check_host(request: HttpRequest) -> None:
    """Refuse ``example.com.``: Django treats it as ``example.com``, but browsers keep separate cookies."""
    if _DOTTED_HOST.search(request.get_host()):
        raise DisallowedHost("The Host header ends with a dot.")


def _check_address(request: HttpRequest) -> None:
    """Refuse control characters, which break databases and headers, and dots between slashes.

    With dots, a proxy applies the limits of another path: nginx reads ``/admin/..%2fv1/reports`` as the path
    of reports, and does not buffer slow bodies there.
    """
    try:
        fields = request.GET
    except TooManyFieldsSent as error:
        raise BadRequest("The address has too many fields.") from error
    if _CONTROLS.search(request.path) or "\0" in "".join(_texts(fields)):
        raise BadRequest("The address holds a control character.")
    if _DOTS.search(request.path):
        raise BadRequest("The address holds dots between slashes.")


def _drop_control_cookies(request: HttpRequest) -> None:
    for name, value in list(request.COOKIES.items()):
        if _CONTROLS.search(value):
            del request.COOKIES[name]


def _declared_bytes(request: HttpRequest) -> int:
    """Return the declared length of the body; 0 without one: the body is then not read."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if _BODY_LENGTH.fullmatch(declared):
        return int(declared)
    if is_api(request):
        return 0
    raise BadRequest("The length of the body is not a number.")


def _max_bytes(request: HttpRequest) -> int:
    permission = _UPLOAD_PERMISSIONS.get(request.resolver_match.view_name) if request.resolver_match else None
    if permission and request.user.is_staff and request.user.has_perm(permission):
        return MAX_UPLOAD_BYTES + MAX_BODY_BYTES
    return MAX_BODY_BYTES


def _check_fields(request: HttpRequest) -> None:
    """Refuse incomplete forms, NUL characters and too many fields, for which Django logs a traceback."""
    try:
        fields = request.POST
    except UnreadablePostError as error:
        raise BadRequest("The body ended early.") from error
    except (TooManyFieldsSent, TooManyFilesSent) as error:
        raise BadRequest("The form has too many fields.") from error
    if "\0" in "".join(_texts(fields)):
        raise BadRequest("A field holds the NUL character.")


def _texts(fields: Any) -> list[str]:
    """Return all names and values of the fields."""
    return [text for name, values in fields.lists() for text in (name, *values)]
