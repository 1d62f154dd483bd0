"""Cache headers: proxies store no page, and browsers delete theirs at sign-out."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control

_PUBLIC_DOCUMENTS = "/v1/public/"  # not the page /v1/public, which shows members their navigation


@receiver(user_logged_out)
def note_sign_out(request: Any, **_: Any) -> None:
    """Mark the request of a sign-out, so that the response clears the browser's cache."""
    request.has_signed_out = True


def without_cookies(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Ignore cookies in requests for public documents, which are the same for everyone.

    Caches may store these documents. This runs before sessions, which would forbid it for signed-in people.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(_PUBLIC_DOCUMENTS):
            request.COOKIES = {}
        return get_response(request)

    return respond


def no_store(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Forbid storing responses to requests with a session, and pages without their own ``Cache-Control``.

    A page without a session, such as an invitation, can also be about one person. Static files are served
    earlier.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if settings.SESSION_COOKIE_NAME in request.COOKIES or (is_page and "Cache-Control" not in response):
            patch_cache_control(response, private=True, no_store=True)
        if hasattr(request, "has_signed_out"):
            response["Clear-Site-Data"] = '"cache", "storage"'
        return response

    return respond
