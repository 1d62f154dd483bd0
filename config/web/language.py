"""The language of a page: the one chosen in a form and kept in a cookie, or the browser's."""

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

ENGLISH_ONLY = ("/v1/", "/badge/", "/admin/")  # for programs and staff; a badge chooses its own language
_LOCALISED = re.compile(r"/v1/public(/feed\.html)?$|/admin/see-as/")  # exceptions: pages for customers


def language(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Apply Django's choice of language to pages for customers, and English to all others."""
    localised = LocaleMiddleware(get_response)

    def respond(request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if _LOCALISED.match(path) or not path.startswith(ENGLISH_ONLY):
            return localised(request)  # type: ignore[return-value] # nothing here is asynchronous
        with translation.override(settings.LANGUAGE_CODE):
            return get_response(request)

    return respond
