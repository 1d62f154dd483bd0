"""A limit on files that are written at a time in a process: each uses one thread, and may last minutes."""

from contextlib import ExitStack

from django.http import HttpRequest

from foundation.places import NoPlace, Places

MAX_CONCURRENT = 2  # of the four threads of a process

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
