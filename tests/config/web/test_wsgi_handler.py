"""Requests as a server hands them over, before any middleware."""

import io

import pytest
from django.test import RequestFactory

from config.web.wsgi_handler import Handler
from foundation.operations.request_ids import current_request_id
from tests.config.test_settings import PRODUCTION

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
TOKEN = "a" * 32
BODIES = {
    FORM: f"theme=dark&csrfmiddlewaretoken={TOKEN}",
    MULTIPART: '--b\r\nContent-Disposition: form-data; name="theme"\r\n\r\ndark\r\n'
    f'--b\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{TOKEN}\r\n--b--\r\n',
}


@pytest.fixture(scope="module")
def application():
    return Handler()


def answer(application, method, path, kind, *, query="", body=b""):
    """Return the status of the response."""
    seen = []
    environ = RequestFactory()._base_environ() | {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": kind,
        "HTTP_COOKIE": f"csrftoken={TOKEN}",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    response = application(environ, lambda status, _: seen.append(int(status[:3])))
    b"".join(response)
    response.close()
    return seen[0]


@pytest.mark.parametrize("charset", ["base64", "hex", "idna", "undefined", "utf-16", "no-such-charset"])
@pytest.mark.parametrize("path", ["/accounts/login/", "/nowhere/", "/v1/health"])
def test_an_address_is_utf_8_whatever_charset_the_request_names(application, path, charset):
    status = answer(application, "GET", path, f"text/plain; charset={charset}", query="next=%C3%A4")
    assert status == (404 if path == "/nowhere/" else 200)


@pytest.mark.parametrize("charset", ["base64", "undefined", "utf-16"])
@pytest.mark.parametrize("kind", BODIES)
def test_a_form_is_utf_8_whatever_charset_the_request_names(application, kind, charset):
    kind, body = f"{kind}; charset={charset}", BODIES[kind].encode()
    assert answer(application, "POST", "/theme/", kind, body=body) == 302


@pytest.mark.parametrize("charset", ["base64", "latin-1"])
def test_a_call_in_another_charset_is_still_refused(application, charset):
    kind = f"application/json; charset={charset}"
    assert answer(application, "POST", "/v1/site/dashboard", kind, body=b"{}") == 415


@pytest.mark.parametrize("path", ["/", "/nothing/", "/v1/site/dashboard", "/livez"])
def test_a_response_to_head_has_no_body(application, path):
    bodies = {}
    for method in ("GET", "HEAD"):
        environ = RequestFactory()._base_environ() | {"REQUEST_METHOD": method, "PATH_INFO": path}
        response = application(environ, lambda *_: None)
        bodies[method] = b"".join(response)
        response.close()
    assert bodies["GET"]
    assert bodies["HEAD"] == b""


def test_after_its_response_no_request_is_current(application):
    environ = RequestFactory()._base_environ() | {"REQUEST_METHOD": "GET", "PATH_INFO": "/accounts/login/"}
    response = application(environ, lambda *_: None)
    assert current_request_id() == response["X-Request-Id"]
    b"".join(response)
    response.close()
    assert current_request_id() == ""


def test_a_server_loads_all_views_before_its_first_request(checkout):
    code = "import config.wsgi, sys; print('config.urls' in sys.modules)"
    assert checkout.python("-c", code, **PRODUCTION).stdout == "True\n"
