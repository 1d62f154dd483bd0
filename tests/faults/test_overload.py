"""A real server under endless searches and with databases that disappear."""

import http.client
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.db import connection

from tests.dashboard_api.calls import PATH, compact, fields_for, signed_headers
from tests.databases import url_of
from tests.factories import make_finding, make_link
from tests.faults.server import closed_port

pytestmark = pytest.mark.django_db(transaction=True)

on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only")


@contextmanager
def serving(url, *, threads):
    """Run gunicorn on a socket that already listens; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "gunicorn", "tests.faults.endless", "--no-control-socket"]
        command += ["--worker-class", "gthread", "--workers", "1", "--threads", f"{threads}"]
        command += ["--bind", f"fd://{listener.fileno()}"]
        environment = {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        server = subprocess.Popen(
            command,
            env=os.environ | environment,
            cwd=settings.BASE_DIR,
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
        )
        try:
            yield listener.getsockname()[1]
        finally:
            server.terminate()
            server.wait()


@pytest.fixture
def link():
    link = make_link()
    make_finding(link.website)
    return link


@pytest.fixture
def port(link):
    with serving(url_of(connection), threads=2) as port:
        yield port


def ask(port, link, **fields):
    """Return status, headers and body of the response to a signed call."""
    body = compact(fields_for(link, **fields))
    headers = signed_headers(body, nonce=os.urandom(16).hex()) | {"content-type": "application/json"}
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    server.request("POST", PATH, body, headers)
    response = server.getresponse()
    answer = response.status, response.headers, json.loads(response.read())
    server.close()
    return answer


@contextmanager
def asking_endlessly(port, link):
    """Start one call that takes as long as it may."""
    with ThreadPoolExecutor(1) as thread:
        yield thread.submit(ask, port, link, query="endless")


@pytest.mark.slow
def test_others_are_answered_while_a_question_takes_too_long(port, link):
    assert ask(port, link)[0] == 200
    with asking_endlessly(port, link) as slow:
        others = [ask(port, link)[0] for _ in range(3)]
        assert not slow.done()
    assert others == [200, 200, 200]
    status, headers, body = slow.result()
    assert (status, body["error"]["reason"], headers["Retry-After"]) == (503, "slow_question", "30")
    assert [ask(port, link)[0] for _ in range(4)] == [200, 200, 200, 200]


def killed(condition):
    """Return how many of the server's connections were cut."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity "
            f"WHERE datname = current_database() AND pid <> pg_backend_pid() AND {condition}"
        )
        return cursor.fetchone()[0]


@on_postgresql
def test_connections_that_were_cut_between_calls_are_replaced(port, link):
    assert ask(port, link)[0] == 200
    assert killed("state = 'idle'")
    assert [ask(port, link)[0] for _ in range(4)] == [200, 200, 200, 200]


@on_postgresql
def test_a_connection_that_is_cut_in_a_response_is_503_and_replaced(port, link):
    with asking_endlessly(port, link) as cut:
        while not killed("query LIKE '%%endless%%' AND state = 'active'"):
            assert not cut.done()
    status, headers, body = cut.result()
    assert (status, body["error"]["code"], headers["Retry-After"]) == (503, "unavailable", "5")
    assert "reason" not in body["error"]
    assert [ask(port, link)[0] for _ in range(4)] == [200, 200, 200, 200]


def test_without_its_database_a_call_is_refused_and_not_let_pass(link):
    with serving(f"postgres://nobody@127.0.0.1:{closed_port()}/none", threads=1) as port:
        status, headers, body = ask(port, link)
    assert (status, body["error"]["code"], headers["Retry-After"]) == (503, "unavailable", "5")
