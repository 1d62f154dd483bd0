"""A limit on concurrent downloads in a process: each holds a thread, possibly for minutes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from foundation.operations.places import NoPlace, Places

MAX_CONCURRENT = 2  # of the four threads of a process
BUSY_WAIT_SECONDS = 5  # until a person refused for lack of a place tries again

_places = Places(MAX_CONCURRENT)


def hold_place(request: HttpRequest, account_id: int) -> None:
    """Hold a place until ``request`` is closed; raises NoPlace if the account finds no free place.

    The request gives the place back, not the view's response: if middleware fails after the view, Django
    sends an error page and never closes the view's response.
    """
    if not _places.take(account_id):
        raise NoPlace
    at_close = ExitStack()  # runs the last callback first
    at_close.callback(_places.give_back, account_id)
    at_close.callback(request.close)
    request.close = at_close.close  # type: ignore[method-assign]


def send_csv(
    request: HttpRequest, name: str, account_id: int, write: Callable[[], Iterator[str]]
) -> HttpResponseBase:
    """Stream a CSV file; return 503 if the account finds no free place."""
    try:
        hold_place(request, account_id)
    except NoPlace:
        busy = render(request, "503.html", status=503)
        busy["Retry-After"] = str(BUSY_WAIT_SECONDS)
        return busy
    content = (text.encode(errors="replace") for text in write())
    response = StreamingHttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-{timezone.now():%Y-%m-%d}.csv"'
    response["Cache-Control"] = "private, no-store"
    return response
