"""First answers, on demand: a server that was told so forgets what it remembers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from benchmarks.load import ANEW
from dashboard_api.api import response_cache


def forgetful(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, around the product's view and the bare one alike."""

    def respond(request: HttpRequest) -> HttpResponse:
        if ANEW in request.headers:
            response_cache.forget()
        return get_response(request)

    return respond
