"""A limit on files that are written at a time in a process: each uses one thread, and may last minutes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from foundation.operations.places import NoPlace, Places

MAX_CONCURRENT = 2  # of the four threads of a process
BUSY_SECONDS = 5

_places = Places(MAX_CONCURRENT)


def hold_place(request: HttpRequest, account_id: int) -> None:
    """Hold one of the places until the response to ``request`` is closed; raises NoPlace if none is free.

    If middleware fails after the view, that is an error page, and nothing closes the response of the view.
    """
    if not _places.take(account_id):
        raise NoPlace
    end = ExitStack()
    end.callback(_places.give_back, account_id)
    end.callback(request.close)
    request.close = end.close  # type: ignore[method-assign]


def send_csv(
    request: HttpRequest, name: str, account_id: int, write: Callable[[], Iterator[str]]
) -> HttpResponseBase:
    """Return a streamed CSV file, which may last minutes; 503 while the account has its place."""
    try:
        hold_place(request, account_id)
    except NoPlace:
        busy = render(request, "503.html", status=503)
        busy["Retry-After"] = str(BUSY_SECONDS)
        return busy
    content = (text.encode(errors="replace") for text in write())
    response = StreamingHttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-{timezone.now():%Y-%m-%d}.csv"'
    response["Cache-Control"] = "private, no-store"
    return response
