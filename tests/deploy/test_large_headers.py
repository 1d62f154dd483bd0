"""Headers of 8 KB, straight at gunicorn: each is answered at once, and none is a fault of the server."""

import socket

import pytest

from tests.deploy.production import NAME

pytestmark = [pytest.mark.slow, pytest.mark.once]

LARGEST = 8190 - len("\r\n")  # limit_request_field_size of gunicorn.conf.py, name and value
PATHS = [
    "GET /accounts/login/",
    "GET /",
    "GET /v1/health",
    "GET /v1/openapi.json",
    "POST /v1/site/dashboard",
    "POST /v1/reports",
]
NAMES = [
    *(
        "Accept",
        "Accept-Language",
        "Accept-Encoding",
        "Content-Type",
        "Cookie",
        "Authorization",
        "User-Agent",
    ),
    *("If-None-Match", "If-Modified-Since", "Range", "Referer", "Origin", "Idempotency-Key", "X-Request-Id"),
    *("X-Forwarded-For", "X-Forwarded-Proto", "HX-Current-URL", "HX-Trigger", "Traceparent"),
    *("X-Service-Timestamp", "X-Service-Nonce", "X-Service-Signature"),
]
# What makes parsers work: endless parts, numbers, quotes, and beginnings that never end.
PATTERNS = [
    "a,",
    ";q=0.1,",
    "text/html;",
    "9",
    " ",
    "=",
    '"\\',
    "a=b; ",
    "((a+)+",
    "%00",
    "\xff",
    "en-",
    "[1:",
]
FULL = [(name, (pattern * LARGEST)[: LARGEST - len(name) - 2]) for name in NAMES for pattern in PATTERNS]


@pytest.fixture(scope="module")
def server(production, link_id):
    with production.serving():
        yield production


def status_of(port, request_line, headers):
    """Return the status of the response to these bytes; TimeoutError without one."""
    method, _, path = request_line.partition(" ")
    fixed = [("Host", NAME), ("X-Forwarded-Proto", "https"), ("Connection", "close")]
    if method == "POST":
        fixed.append(("Content-Length", "0"))
    given = {name.lower() for name, _ in headers}
    lines = [
        f"{name}: {value}" for name, value in (*headers, *(f for f in fixed if f[0].lower() not in given))
    ]
    message = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(message)
        with connection.makefile("rb") as response:
            return int(response.readline().split()[1])


@pytest.mark.parametrize("request_line", PATHS)
def test_one_header_of_8_kb_is_no_fault(server, request_line):
    bad = []
    for name, value in FULL:
        status = status_of(server.port, request_line, [(name, value)])
        if not 200 <= status < 500:
            bad.append((name, value[:12], status))
    assert bad == []


@pytest.mark.parametrize("request_line", PATHS)
def test_a_mix_of_headers_of_8_kb_is_no_fault(server, request_line):
    for number, pattern in enumerate(PATTERNS):
        mixed = FULL[number :: len(PATTERNS)]  # every name, with this pattern
        assert 200 <= status_of(server.port, request_line, mixed) < 500, pattern


@pytest.mark.parametrize("name", ["Accept", "Cookie", "X-Service-Nonce"])
def test_more_or_larger_headers_are_refused(server, name):
    larger = [(name, "a" * 8192)]
    more = [(f"{name}-{number}", "a") for number in range(64)]
    statuses = {status_of(server.port, PATHS[0], headers) for headers in (larger, more)}
    assert statuses <= {400, 431}
    assert status_of(server.port, "GET /livez", []) == 200
