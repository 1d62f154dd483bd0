"""The baseline of request benchmarks: a view that does nothing."""

import functools

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from benchmarks import records

ANSWER = records.FOLDER / "answer.json"


@csrf_exempt
def bare(_: HttpRequest) -> HttpResponse:
    """Return the bytes of a stored answer of the product."""
    return HttpResponse(_answer(), content_type="application/json")


@functools.cache
def _answer() -> bytes:
    return ANSWER.read_bytes()
