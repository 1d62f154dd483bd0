"""Uncached responses: a request with the header UNCACHED empties the server's response cache first."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from benchmarks.http_load import UNCACHED
from dashboard_api.api import response_cache


def uncached(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that runs before the product's views and before the bare view."""

    def respond(request: HttpRequest) -> HttpResponse:
        if UNCACHED in request.headers:
            response_cache.clear()
        return get_response(request)

    return respond
