"""The language of a page: that of a cookie, which a form sets, else the browser's."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

ENGLISH_ONLY = ("/v1/", "/badge/")  # programs read these pages; a badge has its own language
_FOR_PEOPLE = {"/v1/public", "/v1/public/feed.html"}  # except for these


def language(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Apply Django's choice of the language to pages for people, and English to those for programs."""
    localised = LocaleMiddleware(get_response)

    def respond(request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if path in _FOR_PEOPLE or not path.startswith(ENGLISH_ONLY):
            return localised(request)  # type: ignore[return-value] # nothing here is asynchronous
        with translation.override(settings.LANGUAGE_CODE):
            return get_response(request)

    return respond
