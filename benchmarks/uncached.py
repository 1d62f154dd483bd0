"""Uncached responses: a request with this header empties the server's response cache first."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from benchmarks.load import UNCACHED
from dashboard_api.api import response_cache


def uncached(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware for the product's view and the bare one alike."""

    def respond(request: HttpRequest) -> HttpResponse:
        if UNCACHED in request.headers:
            response_cache.clear()
        return get_response(request)

    return respond
