"""Django's WSGI handler; it reads every request as UTF-8, and answers HEAD without a body."""

from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest

from foundation.operations.request_ids import end_request


class Utf8Request(WSGIRequest):
    """Request that decodes its address and form as UTF-8, which all our pages send.

    Django would use the charset of the Content-Type before any middleware can refuse it. Some of Python's
    codecs, such as base64, do not decode text and raise.
    """

    @property
    def encoding(self) -> None:
        """Return no charset, so that Django uses UTF-8."""
        return None

    @encoding.setter
    def encoding(self, charset: object) -> None:
        """Ignore the charset of the request."""


class Handler(WSGIHandler):
    """The WSGI application of the product."""

    request_class = Utf8Request

    def get_response(self, request: HttpRequest) -> Any:
        """Return the response; for HEAD, drop the body, about which the server would warn.

        The request ends when the server closes the response. Otherwise the server's later log lines in this
        thread would carry its id.
        """
        response: Any = super().get_response(request)
        response._resource_closers.append(end_request)  # noqa: SLF001
        if request.method == "HEAD":
            if response.streaming:
                response.streaming_content = []
            else:
                response.content = b""
        return response
