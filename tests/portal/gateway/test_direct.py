import pytest

import es1
from portal.gateway.target import Service
from signed_api.errors import BadResponse, SlowRequest, Unreachable
from signed_api.findings import DashboardRequest
from tests.factories import SECRET
from tests.portal.gateway.test_client import fetch_dashboard
from tests.signed_api.responses import HOST, dashboard, encoded, refusal

GOOD = encoded(dashboard())


class Application:
    """A WSGI application that records requests and returns one response."""

    def __init__(self, status="200 OK", body=GOOD, headers=()):
        self._answer = status, list(headers), [body[:7], body[7:]]
        self.environs = []
        self.bodies = []

    def __call__(self, environ, start_response):
        status, headers, body = self._answer
        self.environs.append(environ)
        self.bodies.append(environ["wsgi.input"].read())
        start_response(status, headers)
        return body


def call(application, request=None):
    return fetch_dashboard(Service(application=application, timeout_seconds=10), request=request)


def test_an_application_is_called_without_a_socket(monkeypatch):
    monkeypatch.setattr("socket.socket", None)
    assert call(Application()).host == HOST


def test_an_application_gets_the_bytes_that_were_signed():
    application = Application()
    call(application, DashboardRequest(query="été"))
    [environ], [body] = application.environs, application.bodies
    names = [es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER]
    headers = {name: environ[f"HTTP_{name.upper().replace('-', '_')}"] for name in names}
    es1.verify(
        [SECRET],
        headers,
        method=environ["REQUEST_METHOD"],
        path=environ["PATH_INFO"],
        body=body,
        now=int(headers[es1.TIMESTAMP_HEADER]),
        window=2,
    )
    assert "été".encode() in body
    assert int(environ["CONTENT_LENGTH"]) == len(body)
    assert (environ["wsgi.url_scheme"], environ["RAW_URI"]) == ("https", environ["PATH_INFO"])


def test_every_call_of_an_application_has_a_nonce_of_its_own():
    application = Application()
    for _ in range(2):
        call(application)
    assert len({environ["HTTP_X_SERVICE_NONCE"] for environ in application.environs}) == 2


@pytest.mark.parametrize(
    "status", ["500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable"]
)
def test_a_failed_application_is_not_called_again(status):
    application = Application(status, encoded(refusal("unavailable")), [("Retry-After", "1")])
    with pytest.raises(Unreachable):
        call(application)
    assert len(application.environs) == 1


def test_an_applications_headers_are_read():
    slow = encoded(refusal("unavailable", reason="slow_question", limit_seconds=3))
    headers = [("Retry-After", "30"), ("X-Request-Id", "0123abcd")]
    with pytest.raises(SlowRequest) as caught:
        call(Application("503 Service Unavailable", slow, headers))
    assert (caught.value.retry_after, caught.value.request_id) == (30, "0123abcd")


def test_a_response_of_an_application_has_a_size_limit():
    with pytest.raises(BadResponse, match="more than"):
        call(Application(body=b" " * 3_000_000))
