"""The product's URLs, a bare view under the same middleware, and responses without the cache."""

import functools
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from benchmarks import databases
from benchmarks.http_load import UNCACHED
from config import urls as product
from dashboard_api.api import response_cache

RESPONSE_FILE = databases.FOLDER / "response.json"


@csrf_exempt
def bare(_: HttpRequest) -> HttpResponse:
    """Return the bytes of a dashboard response that ``benchmarks.requests`` stored."""
    return HttpResponse(_stored_response(), content_type="application/json")


@functools.cache
def _stored_response() -> bytes:
    return RESPONSE_FILE.read_bytes()


def uncached(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that runs before the product's views and before the bare view."""

    def respond(request: HttpRequest) -> HttpResponse:
        if UNCACHED in request.headers:
            response_cache.clear()
        return get_response(request)

    return respond


urlpatterns = [path("benchmark/bare", bare), *product.urlpatterns]
