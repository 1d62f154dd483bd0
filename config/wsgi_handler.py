"""Django's WSGI handler, with requests that are UTF-8 whatever charset they name."""

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest


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
