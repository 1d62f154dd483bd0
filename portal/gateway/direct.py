"""A transport to a WSGI application in this process, without a socket or a second thread."""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from urllib3 import HTTPHeaderDict, HTTPResponse

WsgiApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class DirectAdapter(HTTPAdapter):
    """An adapter for the library requests that calls ``application`` as a web server does."""

    def __init__(self, application: WsgiApplication) -> None:
        self._application = application
        super().__init__()

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Call the application, and return its whole response."""
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(status: str, headers: list[tuple[str, str]]) -> None:
            started.append((status, headers))

        body = b"".join(self._application(_environ(request), start_response))
        [(status, headers)] = started  # an application starts exactly one response
        response = HTTPResponse(
            body=BytesIO(body),
            headers=HTTPHeaderDict(headers),
            status=int(status[:3]),
            preload_content=False,
        )
        return self.build_response(request, response)


def _environ(request: PreparedRequest) -> dict[str, Any]:
    """Return the WSGI environment of ``request``, as a web server on this machine would build it."""
    url = urlsplit(request.url or "")
    body = request.body if isinstance(request.body, bytes) else b""
    headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in request.headers.items()}
    return headers | {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(url.path).decode("latin-1"),
        "RAW_URI": url.path,
        "QUERY_STRING": url.query,
        "CONTENT_TYPE": request.headers["content-type"],
        "CONTENT_LENGTH": str(len(body)),
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": url.hostname,
        "SERVER_PORT": "443",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": url.netloc,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": url.scheme,
        "wsgi.input": BytesIO(body),
        "wsgi.errors": None,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
