"""Middleware that gives every request an id, and every response a header with it."""

import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from foundation.operations.metrics import count_request
from foundation.operations.request_ids import HEADER, begin_request, current_request

_META = f"HTTP_{HEADER.upper().replace('-', '_')}"


def route_label(route: str) -> str:
    """Return the label of a route: that of a call, or the part of the product that it belongs to."""
    if route.startswith("v1/"):
        return f"/{route}"
    if not route:
        return "other"  # files, probes, and addresses that no route takes
    return "admin" if route.startswith("admin/") else "pages"


class RequestIds:
    """Begins a request with an id of ours, whatever the caller sends."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response with the id, and count it."""
        current = begin_request(request.META.get(_META, ""))
        response = self.get_response(request)
        response.headers[HEADER] = current.request_id
        seconds = time.perf_counter() - current.began
        count_request(route_label(current.route), response.status_code, seconds)
        return response

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        """Note the route, which contains no value of the path."""
        if (current := current_request()) and request.resolver_match:
            current.route = request.resolver_match.route
