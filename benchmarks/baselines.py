"""The baseline of the request benchmark: a view that only returns stored bytes."""

import functools

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from benchmarks import databases

RESPONSE_FILE = databases.FOLDER / "response.json"


@csrf_exempt
def bare(_: HttpRequest) -> HttpResponse:
    """Return the bytes of a dashboard response that ``benchmarks.requests`` stored."""
    return HttpResponse(_stored_response(), content_type="application/json")


@functools.cache
def _stored_response() -> bytes:
    return RESPONSE_FILE.read_bytes()
