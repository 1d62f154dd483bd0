"""What a browser with a session was shown stays with that browser, and only as long as it shows it."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control


def no_store(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Mark every answer to a session; static files are served before this."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            patch_cache_control(response, private=True, no_store=True)
        return response

    return respond
