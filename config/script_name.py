"""A guard against SCRIPT_NAME: the product is served at the root of a host, never below a path."""

from collections.abc import Callable

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse


def refuse_script_name(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Refuse a request with SCRIPT_NAME: its split path could get around what a proxy limits by path.

    Some servers take SCRIPT_NAME from a header; gunicorn.conf.py switches that off.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if request.META["SCRIPT_NAME"]:
            raise SuspiciousOperation("SCRIPT_NAME is set, and this product is served at the root of a host")
        return get_response(request)

    return respond
