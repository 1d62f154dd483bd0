"""Errors outside any view: JSON below ``/v1/``, pages elsewhere."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from dashboard_api.endpoint import error_response, new_request_id
from dashboard_api.errors import BadRequest, InternalError

WAIT_SECONDS = 15 * 60  # what the page says, too


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: a Host header that is not allowed, say."""
    if request.path.startswith("/v1/"):
        return error_response(BadRequest(), new_request_id())
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: the log has the cause."""
    if request.path.startswith("/v1/"):
        return error_response(InternalError(), new_request_id())
    return defaults.server_error(request)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """429: whoever tried to sign in too often."""
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(WAIT_SECONDS)
    return response
