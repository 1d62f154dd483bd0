"""The product is served at the root of a host, and below no path."""

from collections.abc import Callable

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse


def refuse_script_name(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Refuse a request whose path was split: what a proxy limits by path, it could reach by another one.

    Some servers take SCRIPT_NAME from a header; gunicorn.conf.py tells ours not to.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if request.META["SCRIPT_NAME"]:
            raise SuspiciousOperation("SCRIPT_NAME is set, and this product is served at the root of a host")
        return get_response(request)

    return respond
