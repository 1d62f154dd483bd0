"""Calls in odd shapes of HTTP, as raw bytes to nginx in front of gunicorn, and to gunicorn itself."""

import os
import re
import socket
from contextlib import suppress

import pytest

from tests.deploy.production import NAME
from tests.deploy.test_production import CALL, error_of, signed

pytestmark = [pytest.mark.slow, pytest.mark.once]

HOST = f"Host: {NAME}"
BODY, MARK = b"BODY", "SIGNED"  # replaced by a call of its own


def shape(*lines, body=BODY, line=f"POST {CALL} HTTP/1.1", close="Connection: close", ending="\r\n"):
    """Return the bytes of a request, with the lines of a signature where MARK is."""
    head = [line, HOST, "Content-Type: application/json", MARK, *lines, close]
    return ending.join([each for each in head if each]).encode() + (ending * 2).encode() + body


LENGTH = "Content-Length: LENGTH"
CHUNKED = "Transfer-Encoding: chunked"
EMPTY_CHUNK = b"0\r\n\r\n"
SMUGGLED = b"GET /livez HTTP/1.1\r\nHost: " + NAME.encode() + b"\r\n\r\n"
# What nginx answers in front of gunicorn.
SHAPES = {
    "as documented": (shape(LENGTH), [200]),
    "8,192 bytes": (shape("Content-Length: 8192", body=b" " * 8192), [400]),  # read, and no JSON
    "8,193 bytes": (shape("Content-Length: 8193", body=b" " * 8193), [413]),
    "10 GB": (shape("Content-Length: 10000000000", body=b""), [413]),
    "no length": (shape(), [411]),
    "chunked": (shape(CHUNKED, body=b"SIZE\r\nBODY\r\n" + EMPTY_CHUNK), [200]),  # nginx counts it
    "length and chunked": (shape(LENGTH, CHUNKED, body=EMPTY_CHUNK + SMUGGLED), [400]),
    "chunked and length": (shape(CHUNKED, LENGTH, body=EMPTY_CHUNK + SMUGGLED), [400]),
    "another transfer encoding": (shape("Transfer-Encoding: gzip", body=b""), [501]),
    "chunked twice": (shape(CHUNKED, CHUNKED, body=EMPTY_CHUNK), [400]),
    "two equal lengths": (shape(LENGTH, LENGTH), [400]),
    "two lengths": (shape(LENGTH, "Content-Length: 0"), [400]),
    "a list of lengths": (shape("Content-Length: LENGTH, LENGTH"), [400]),
    "+143": (shape("Content-Length: +143"), [400]),
    "-1": (shape("Content-Length: -1"), [400]),
    "a length in hex": (shape("Content-Length: 0x8f"), [400]),
    "a folded line": (shape("X-Note: one\r\n two", LENGTH), [400]),
    "a space before the colon": (shape("Content-Length : LENGTH"), [400]),
    "an underscore": (shape("Content_Length: 0", LENGTH), [200]),
    "bare line feeds": (shape(LENGTH, ending="\n"), [200]),
    "a NUL in a header": (shape("X-Note: a\0b", LENGTH), [400]),
    "an encoded path": (shape(LENGTH, line="POST /v1/site/%64ashboard HTTP/1.1"), [404]),
    "two slashes": (shape(LENGTH, line="POST //v1/site/dashboard HTTP/1.1"), [404]),
    "a query": (shape(LENGTH, line=f"POST {CALL}?page=1 HTTP/1.1"), [400]),
    "an absolute address": (shape(LENGTH, line=f"POST https://{NAME}{CALL} HTTP/1.1"), [200]),
    "HTTP/1.0": (shape(LENGTH, line=f"POST {CALL} HTTP/1.0"), [200]),
    "HTTP/9.9": (shape(LENGTH, line=f"POST {CALL} HTTP/9.9"), [505]),
    "two hosts": (shape(HOST, LENGTH), [400]),
    "a header of 9 KB": (shape("X-Note: " + "x" * 9_000, LENGTH), [400]),
    "two in one write": (shape(LENGTH, close="") + shape(LENGTH), [200, 401]),
}
# Where gunicorn by itself answers otherwise.
OF_GUNICORN = {
    "chunked": [411],
    "another transfer encoding": [400],
    "bare line feeds": [400],
    "HTTP/9.9": [400],
    "a header of 9 KB": [431],
}


def finish(connection):
    """Say that nothing more comes; otherwise nginx waits for the rest of a body that it refused."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.shutdown(socket.SHUT_WR)


def asked(connection, data, link_id):
    """Send the shape with a signed call, and return the statuses and the bytes of everything that comes."""
    body, headers = signed(link_id)
    lines = "\r\n".join(f"{name}: {value}" for name, value in headers.items() if name != "content-type")
    ending = b"\r\n" if b"\r\n" in data else b"\n"
    data = data.replace(MARK.encode(), lines.encode().replace(b"\r\n", ending))
    with connection:
        connection.sendall(
            data.replace(b"LENGTH", b"%d" % len(body)).replace(b"SIZE", b"%x" % len(body)).replace(BODY, body)
        )
        came = b""
        with suppress(ConnectionResetError):  # of a body that it did not read
            while part := connection.recv(65_536):
                came += part
                if b"\r\nConnection: close\r\n" in came:
                    finish(connection)
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", came)], came


@pytest.mark.parametrize("name", SHAPES)
def test_nginx_in_front_answers_each_shape_as_the_table_says(website, link_id, name):
    data, expected = SHAPES[name]
    statuses, came = asked(website.connected(), data, link_id)
    assert statuses == expected, came
    if expected == [413]:
        assert error_of(came.partition(b"\r\n\r\n")[2])["code"] == "body_too_large"


@pytest.mark.parametrize("name", SHAPES)
def test_gunicorn_itself_answers_each_shape_without_an_error_of_its_own(production, website, link_id, name):
    data, expected = SHAPES[name]
    ending = b"\r\n" if b"\r\n" in data else b"\n"
    data = data.replace(b"Host:", b"X-Forwarded-Proto: https" + ending + b"Host:")
    connection = socket.create_connection(("127.0.0.1", production.port), timeout=30)
    statuses, came = asked(connection, data, link_id)
    assert statuses == OF_GUNICORN.get(name, expected), came
