"""Cache headers: a browser keeps no page after the sign-out, and proxies keep none at all."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control

_PUBLIC_DOCUMENTS = "/v1/public/"  # without the page /v1/public: it shows members their navigation


@receiver(user_logged_out)
def note_sign_out(request: Any, **_: Any) -> None:
    """Mark the request of a sign-out, so that the response clears the browser's cache."""
    request.has_signed_out = True


def without_cookies(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Ignore the cookies of requests for public documents, which are the same for everyone.

    Any cache may keep them. This runs before sessions, which would forbid it for people who are signed in.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(_PUBLIC_DOCUMENTS):
            request.COOKIES = {}
        return get_response(request)

    return respond


def no_store(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Forbid storing pages, and every response to a request with a session, unless the view says otherwise.

    A page without a session can be about one person, too, such as an invitation. Static files are served
    before this.
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
