"""Portal and service as two deployments on loopback, under many pages at once (docs/operating/install.md)."""

import http.client
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.deploy.production import NAME, SERVING, Production, wait_for
from tests.faults.server import free_port

VIEWS = AT_ONCE = 32
_PROXY = {"Host": NAME, "X-Forwarded-Proto": "https", "X-Forwarded-For": "10.0.0.1"}


@contextmanager
def serving(folder, environ, **settings):
    """Run gunicorn as the unit for systemd does, with more settings; yield its port."""
    port = free_port()
    command = ["bash", "-c", f"exec {SERVING.replace('%i', str(port))}"]
    with (folder / f"{port}.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=environ | settings, stderr=log)
    try:
        wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(60)


def ask(port, cookies, method, path, body=None):
    """Return status and body of a response, and keep its cookies."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=90)
    headers = _PROXY | {"Origin": f"https://{NAME}", "Cookie": "; ".join(map("=".join, cookies.items()))}
    form = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
    connection.request(method, path, body, headers | form)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    for cookie in response.headers.get_all("Set-Cookie", []):
        name, _, value = cookie.partition(";")[0].partition("=")
        cookies[name] = value
    return response.status, text


@pytest.mark.slow
@pytest.mark.once
def test_of_many_pages_at_once_each_waits_for_its_turn(tmp_path):
    production = Production(tmp_path)
    production.fill()
    settings = tmp_path / ".env"
    settings.write_text(settings.read_text().replace("ALLOWED_HOSTS=", "ALLOWED_HOSTS=127.0.0.1,"))
    manage = {"cwd": tmp_path, "env": production.environ, "capture_output": True, "check": True}
    issued = subprocess.run(
        [sys.executable, "manage.py", "issue_secret", "acct_0001", "--for-portal"], **manage
    )
    connect = [sys.executable, "manage.py", "connect_account", "acct_0001"]
    subprocess.run(connect, input=issued.stdout, **manage)
    with serving(tmp_path, production.environ, ENABLE_PORTAL="false") as service:
        address = f"http://127.0.0.1:{service}"
        with serving(tmp_path, production.environ, ENABLE_API="false", DASHBOARD_BASE_URL=address) as portal:
            cookies = {}
            _, page = ask(portal, cookies, "GET", "/accounts/login/")
            token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page)[1].decode()
            form = f"csrfmiddlewaretoken={token}&login=ada&password=correct+horse+battery"
            assert ask(portal, cookies, "POST", "/accounts/login/", form)[0] == 302
            assert b"Finding 1" in ask(portal, cookies, "GET", "/sites/shop.example.com/")[1]

            def view(number):
                path = f"/sites/shop.example.com/?q=Finding+{number}"
                return ask(portal, dict(cookies), "GET", path)[0]

            with ThreadPoolExecutor(AT_ONCE) as threads:
                assert Counter(threads.map(view, range(VIEWS))) == {200: VIEWS}
