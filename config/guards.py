"""Refuses what no page needs before anything reads or stores it: long bodies, odd characters, odd hosts.

Decision record 0043.
"""

import re
from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, DisallowedHost
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from config.errors import is_api, too_large
from dashboard_api.policy import MAX_UPLOAD_BYTES

MAX_BODY_BYTES = 64 * 1024
# The only page that takes a file, for staff with this permission.
_UPLOADS = {"admin:dashboard_api_website_import": "dashboard_api.add_importrun"}

_LENGTH = re.compile(r"[0-9]{1,1000}", re.ASCII)  # int() takes no more than some thousands
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_DOTTED_HOST = re.compile(r"\.(:[0-9]*)?$", re.ASCII)


class Guard:
    """Middleware, before the one that checks forms: that one reads and stores every body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Leave odd cookies out; a refusal here would lack the headers that other middleware sets."""
        _drop_odd_cookies(request)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """Check host, address and body, once the route is known."""
        _check_host(request)
        if not is_api(request):  # the service has answers of its own
            _check_address(request)
        if _declared_bytes(request) > _most_bytes(request):
            return too_large(request)
        if not is_api(request):
            _check_fields(request)
        return None


def _check_host(request: HttpRequest) -> None:
    """Django takes ``example.com.`` for ``example.com``; browsers keep their cookies apart."""
    if _DOTTED_HOST.search(request.get_host()):
        raise DisallowedHost("The Host header ends with a dot.")


def _check_address(request: HttpRequest) -> None:
    """No address of ours holds a control character; databases and headers break on them."""
    if _CONTROLS.search(request.path) or "\0" in "".join(_texts(request.GET)):
        raise BadRequest("The address holds a control character.")


def _drop_odd_cookies(request: HttpRequest) -> None:
    """A cookie with a control character is none of ours."""
    for name, value in list(request.COOKIES.items()):
        if _CONTROLS.search(value):
            del request.COOKIES[name]


def _declared_bytes(request: HttpRequest) -> int:
    """Of the body: 0 without a length, because then nothing of it is ever read."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if _LENGTH.fullmatch(declared):
        return int(declared)
    if is_api(request):
        return 0
    raise BadRequest("The length of the body is not a number.")


def _most_bytes(request: HttpRequest) -> int:
    permission = _UPLOADS.get(request.resolver_match.view_name) if request.resolver_match else None
    if permission and request.user.is_staff and request.user.has_perm(permission):
        return MAX_UPLOAD_BYTES + MAX_BODY_BYTES
    return MAX_BODY_BYTES


def _check_fields(request: HttpRequest) -> None:
    try:
        fields = request.POST
    except UnreadablePostError as error:
        raise BadRequest("The body ended early.") from error
    if "\0" in "".join(_texts(fields)):
        raise BadRequest("A field holds the NUL character.")


def _texts(fields: Any) -> list[str]:
    """Names and values alike."""
    return [text for name, values in fields.lists() for text in (name, *values)]
