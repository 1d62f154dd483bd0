"""Django's WSGI handler, with requests that are UTF-8 whatever charset they name, and HEAD without bodies."""

from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest

from foundation.operations.request_ids import end_request


class Utf8Request(WSGIRequest):
    """A request whose address and form are UTF-8, as all our pages send them.

    Django decodes them with the charset of the Content-Type, while it makes the request and before any
    middleware can refuse it. Some of Python's charsets, such as base64, decode no text and raise.
    """

    @property
    def encoding(self) -> None:
        """Return no charset, for which Django takes UTF-8."""
        return None

    @encoding.setter
    def encoding(self, charset: object) -> None:
        """Ignore the charset that the request names."""


class Handler(WSGIHandler):
    """The WSGI application of the product."""

    request_class = Utf8Request

    def get_response(self, request: HttpRequest) -> Any:
        """Return the response, for HEAD without its body, which the server would only warn about.

        The request ends when the server closes the response. The server's own lines about what is no request
        come after that, in the same thread.
        """
        response: Any = super().get_response(request)
        response._resource_closers.append(end_request)  # noqa: SLF001
        if request.method == "HEAD":
            if response.streaming:
                response.streaming_content = []
            else:
                response.content = b""
        return response
