"""Clients that stall, in front of the real nginx and gunicorn.

With ``STALL_SECONDS=60``, those that nginx cut off come back for a minute.
"""

import http.client
import os
import re
import socket
import ssl
import time
from contextlib import ExitStack, closing

import pytest

from tests.config.checkout import BASE_DIR
from tests.deploy.production import NAME, nginx

pytestmark = [pytest.mark.slow, pytest.mark.once]

PROBES = 20
LIMITS = ("client_header_timeout", "client_body_timeout")
THREADS = 8  # of gunicorn.conf.py: two workers with four each
STALL_SECONDS = float(os.environ.get("STALL_SECONDS", "0"))


def bare(website):
    return website.connected()


def stalled_header(website):
    connection = website.connected()
    connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
    return connection


def stalled_body(website):
    connection = website.connected()
    head = f"POST /v1/site/dashboard HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 4000\r\n"
    connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + b"{")
    return connection


def slow_reader(website, address="127.0.0.1"):
    connection = website.connected(address)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    request = f"GET /static/admin/js/vendor/jquery/jquery.js HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode()
    connection.sendall(request * 5)  # more than a megabyte to read
    return connection


def still_waits(connection):
    """Return whether nginx still keeps the connection."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except ssl.SSLWantReadError:
        return True
    except OSError:
        pass
    return False


def probed(website):
    return [website.another_browser().ask("GET", "/v1/openapi.json")[0] for _ in range(PROBES)]


@pytest.mark.parametrize("clients", [[bare], [stalled_header, stalled_body]])
def test_everybody_else_is_answered_while_200_clients_of_each_kind_stall(website, clients):
    with ExitStack() as stack:
        stalled = [(client, client(website)) for client in clients * 200]
        for _, connection in stalled:
            stack.enter_context(connection)
        until = time.monotonic() + STALL_SECONDS
        while True:
            assert probed(website) == [200] * PROBES
            if time.monotonic() > until:
                break
            stalled = [
                (client, connection if still_waits(connection) else stack.enter_context(client(website)))
                for client, connection in stalled
            ]
        assert still_waits(stalled[-1][1])


def test_everybody_else_is_answered_while_100_clients_hardly_read(website):
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(slow_reader(website))
        assert probed(website) == [200] * PROBES


def test_one_address_makes_nginx_store_at_most_300_responses_at_a_time(website, production, tmp_path):
    stranger = {"127.0.0.0/8 0;": "127.0.0.0/8 0; 127.0.0.9 1;"}
    small = {" ssl http2;": " ssl http2 sndbuf=16k;"}  # the kernel's buffers would hold a megabyte of each
    with nginx(tmp_path, production.port, changes=stranger | small) as own, ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(slow_reader(own, "127.0.0.9"))
        time.sleep(3)
        refused = stack.enter_context(own.connected("127.0.0.9"))
        refused.sendall(f"GET / HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        assert refused.recv(4096).startswith(b"HTTP/1.1 429 ")
        assert own.ask("GET", "/")[0] == 200


def test_no_page_waits_for_a_form_that_nginx_takes_for_a_report_and_does_not_collect(website):
    head = f"POST /admin/..%2fv1/reports HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 4000\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\n\r\na="
    with website.connected() as connection:
        connection.sendall(head.encode())
        connection.settimeout(5)
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


def ending(connection):
    """Wait until the other side closes the connection, whatever it says before."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass


def test_nginx_cuts_off_each_client_that_stalls_at_a_limit_of_at_most_15_seconds(production, tmp_path):
    shipped = (BASE_DIR / "deploy" / "nginx.conf").read_text()
    limits = {name: int(re.search(rf"^ +{name} (\d+)s;", shipped, re.MULTILINE)[1]) for name in LIMITS}
    assert max(limits.values()) <= 15
    sooner = {f"{name} {seconds}s": f"{name} 1s" for name, seconds in limits.items()}
    with ExitStack() as stack:
        website = stack.enter_context(nginx(tmp_path, production.port, changes=sooner))
        stalled = [client(website) for client in [stalled_header, stalled_body] * 50]
        for connection in stalled:
            ending(stack.enter_context(connection))  # raises TimeoutError for one that is kept


def is_answered(port):
    """Return whether gunicorn itself answers another client within three seconds."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=3)) as probe:
        probe.request("GET", "/livez")
        try:
            return probe.getresponse().status == 200
        except TimeoutError:
            return False


def test_without_nginx_a_few_stalled_clients_keep_all_others_out(production, website):
    with ExitStack() as stack:
        for _ in range(20):  # which worker takes a client is chance: one may have all of the first
            for _ in range(THREADS):
                connection = socket.create_connection(("127.0.0.1", production.port), timeout=60)
                stack.enter_context(connection).sendall(b"GET / HTTP/1.1\r\nHost: ")
            if not is_answered(production.port):
                return
    pytest.fail("160 stalled clients kept no one out")
