"""Errors outside any view: JSON below ``/v1/``, the portal's pages elsewhere."""

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from dashboard_api.endpoint import error_response, new_request_id
from dashboard_api.errors import BadRequest, InternalError


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
