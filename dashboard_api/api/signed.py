"""Signed endpoints: receive, authenticate and check a call, then let the view answer it."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

from dashboard_api.api.authentication import Authenticated, authenticated
from dashboard_api.api.request import Call, Reply, json_endpoint, receive
from dashboard_api.api.test_mode import Request, example_reply

_Request = TypeVar("_Request", bound=Request)
_View = Callable[[Call, Authenticated, _Request], bytes]


def signed(
    path: str, read: Callable[[Mapping[str, Any]], _Request]
) -> Callable[[_View[_Request]], Callable[..., HttpResponse]]:
    """Return a decorator for the view of ``path``, which gets the call, its caller and the checked request.

    A call with a test secret is answered with the example, without the view. ApiErrors become responses.
    """

    def decorate(view: _View[_Request]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def respond(request: HttpRequest) -> bytes | Reply:
            call = receive(request, path)
            with authenticated(call) as caller:
                fields = read(caller.fields)
                return example_reply(fields) if caller.is_test else view(call, caller, fields)

        return json_endpoint(respond)

    return decorate
