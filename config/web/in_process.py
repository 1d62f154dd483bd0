"""WSGI application that lets the portal call the service in its own process, without a web server."""

from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.db import connections
from django.utils import translation

from dashboard_api.api.request import IN_PROCESS
from foundation.operations.request_ids import restored_request


class InProcess(BaseHandler):
    """WSGI application that handles a call in the thread of the calling request.

    It does not send request_started and request_finished: their receivers close connections and caches that
    the outer request still needs.
    """

    def __init__(self) -> None:
        self.load_middleware()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Return the response as one part, and restore the thread's language and request id."""
        request = WSGIRequest(environ | {"HTTP_HOST": _allowed_host(), IN_PROCESS: True})
        with translation.override(translation.get_language()), restored_request():
            try:
                response = self.get_response(request)
                body = b"".join(response)
            finally:
                request.close()
                _close_broken_connections()
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return [body]


def _allowed_host() -> str:
    """Return a host name of this deployment: the portal's call has no visitor's Host header."""
    names = (name.removeprefix(".") for name in settings.ALLOWED_HOSTS if name != "*")
    return next(names, "localhost")


def _close_broken_connections() -> None:
    """Close connections that failed, so that the outer request gets working ones."""
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()


application = InProcess()
