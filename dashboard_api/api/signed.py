"""The decorator of signed endpoints: receives, authenticates and checks a call before the view runs."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest, HttpResponse

from dashboard_api import errors, limits
from dashboard_api.api.authentication import Authenticated, authenticated
from dashboard_api.api.request import Call, Reply, json_endpoint, receive
from dashboard_api.api.test_mode import example_reply
from dashboard_api.contract.requests import read_request
from foundation.operations.places import NoPlace, SlowCallers
from signed_api.routes import Request, Route

_View = Callable[[Call, Authenticated, Request], bytes]
_slow_callers = SlowCallers(limits.MAX_SLOW_CALLS_AT_ONCE)


def signed(
    route: Route[Request, Any],
) -> Callable[[_View[Request]], Callable[..., HttpResponse]]:
    """Return a decorator that calls a view of ``route`` with the call, its caller and the checked request.

    A call with a test secret gets the example and does not reach the view. ApiErrors become responses.
    """

    def decorate(view: _View[Request]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def respond(request: HttpRequest) -> bytes | Reply:
            call = receive(request, route.path)
            with authenticated(call) as caller, _a_place(caller, route):
                fields = read_request(route, caller.unchecked_fields)
                return example_reply(route, fields) if caller.is_test else view(call, caller, fields)

        return json_endpoint(respond)

    return decorate


@contextmanager
def _a_place(caller: Authenticated, route: Route[Any, Any]) -> Iterator[None]:
    """Hold one of this process's places for calls; raises RateLimited for an account with slow calls.

    Calls that change data can wait for imports. They are counted apart, so that pages and exports of the
    portal keep their places.
    """
    kind = "portal" if caller.is_portal else ""
    if route.changes:
        kind += " change"
    try:
        with _slow_callers.place(caller.account_id, kind):
            yield
    except NoPlace:
        message = "Other calls of this account take long. Sign a new attempt after Retry-After seconds."
        raise errors.RateLimited(message, seconds=limits.SLOW_ACCOUNT_RETRY_AFTER_SECONDS) from None
