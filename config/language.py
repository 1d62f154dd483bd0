"""The language of a page: the one chosen in the menu and stored in a cookie, else the browser's."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

# What programs and operators read is written once; half a translation would be worse than none.
ENGLISH_ONLY = ("/v1/", "/admin/")


def language(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that applies Django's choice of the language to translated pages only."""
    in_chosen_language = LocaleMiddleware(get_response)

    def answer(request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(ENGLISH_ONLY):
            return in_chosen_language(request)  # type: ignore[return-value] # nothing here is asynchronous
        with translation.override(settings.LANGUAGE_CODE):
            return get_response(request)

    return answer
