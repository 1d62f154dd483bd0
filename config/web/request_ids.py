"""Middleware that gives every request an id, and sends it in a header of the response."""

import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from foundation.operations.metrics import count_request
from foundation.operations.request_ids import HEADER, begin_request, current_request

_META = f"HTTP_{HEADER.upper().replace('-', '_')}"


def route_label(route: str) -> str:
    """Return the label of a route in metrics: a call's route, "admin", "pages" or "other"."""
    if route.startswith("v1/"):
        return f"/{route}"
    if not route:
        return "other"  # files, probes and unknown addresses
    return "admin" if route.startswith("admin/") else "pages"


class RequestIds:
    """Middleware that begins each request with a new id of ours, whatever the caller sends."""

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
        """Note the pattern of the route, which contains no values from the path."""
        if (current := current_request()) and request.resolver_match:
            current.route = request.resolver_match.route
