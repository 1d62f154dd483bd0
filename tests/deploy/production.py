"""The product, set up and served as in docs/operating/install.md, with deploy/nginx.conf in front."""

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.config.checkout import BASE_DIR, Checkout
from tests.faults.certificate import write_certificate
from tests.faults.server import free_port

NAME = "portal.example.com"
_DOCUMENT = (BASE_DIR / "docs" / "operating" / "install.md").read_text()
MACHINE, SETTING_UP, STARTING, IN_FRONT = re.findall(
    r"```sh\n(.*?)```", _DOCUMENT.partition("## One machine\n")[2], re.DOTALL
)[:4]
_UNIT = (BASE_DIR / "deploy" / "systemd" / "dashboard-web@.service").read_text()
SERVING = re.search(r"^ExecStart=/srv/threat-dashboard/(.*)$", _UNIT, re.MULTILINE)[1]
FILL = """
from django.contrib.auth import get_user_model
from tests import factories
link = factories.make_link()
for number in range(30):
    factories.make_finding(link.website, title=f"Finding {number}")
account = factories.make_portal_account()
factories.make_portal_website(account, link.website.host, link.link_id)
for name in ("ada", "bob"):
    user = get_user_model().objects.create_user(name, f"{name}@example.com", "correct horse battery")
    factories.make_membership(user, account)
print(link.link_id)
"""


class Production(Checkout):
    """A checkout prepared by the documented commands, with the database at ``url`` or SQLite."""

    def __init__(self, folder, url=""):
        super().__init__(folder)
        (folder / ".venv").symlink_to(Path(sys.executable).parent.parent)
        self.environ = {"PATH": os.environ["PATH"], **({"DATABASE_URL": url} if url else {})}
        self.port = free_port()
        self.done = self.shell(_here(SETTING_UP, without_sqlite=bool(url)))

    def shell(self, script, **environ):
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.folder,
            env=self.environ | environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
        )

    def fill(self):
        """Create an account with findings and two members; return the id of its link."""
        filled = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", FILL],
            cwd=self.folder,
            env=self.environ | {"PYTHONPATH": str(BASE_DIR)},
            capture_output=True,
            text=True,
            check=True,
            timeout=400,
        )
        return filled.stdout.strip()

    @contextmanager
    def serving(self):
        """Run gunicorn as the unit for systemd does, on a port of the test."""
        command = SERVING.replace("%i", str(self.port))
        with (self.folder / "gunicorn.log").open("w") as log:
            server = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environ, stderr=log
            )
        try:
            wait_for(self.port, server)
            yield server
        finally:
            server.terminate()
            server.wait(60)  # a worker that misses the signal while it starts is killed after 30 seconds


@contextmanager
def nginx(folder, upstream_port, *, changes=()):
    """Run nginx with the shipped file, other ports and paths, and ``changes``; yield a browser."""
    if shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") is None:
        without = pytest.fail if os.environ.get("REQUIRE_NGINX") == "1" else pytest.skip
        without("nginx is not installed (Debian: apt install nginx-light)")
    plain, tls = free_port(), free_port()
    text = (BASE_DIR / "deploy" / "nginx.conf").read_text()
    for old, new in {
        "listen 80": f"listen 127.0.0.1:{plain}",
        "listen 443": f"listen 127.0.0.1:{tls}",
        "server 127.0.0.1:8000": f"server 127.0.0.1:{upstream_port}",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "/var/log/nginx/": f"{folder}/",
        "/etc/ssl/portal/fullchain.pem": f"{folder}/certificate.pem",
        "/etc/ssl/portal/privkey.pem": f"{folder}/certificate.pem",
        **dict(changes),
    }.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    write_certificate(folder, name=NAME)
    server = subprocess.Popen(["/usr/sbin/nginx", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"])
    try:
        wait_for(tls, server)
        yield Browser(plain, tls, folder / "certificate.pem")
    finally:
        server.terminate()
        server.wait(20)


class Browser:
    """A client of the website with cookies."""

    def __init__(self, plain, tls, certificate):
        self.plain, self.tls, self.cookies, self.host = plain, tls, {}, NAME
        self._context = ssl.create_default_context(cafile=str(certificate))

    def another_browser(self):
        """Return another browser of the same website."""
        other = object.__new__(Browser)
        other.__dict__ |= self.__dict__ | {"cookies": {}}
        return other

    def copy(self):
        """Return the same browser for another thread."""
        other = self.another_browser()
        other.cookies = dict(self.cookies)
        return other

    def connected(self, address="127.0.0.1"):
        """Return an encrypted connection from ``address`` to nginx."""
        plain = socket.create_connection(("127.0.0.1", self.tls), timeout=60, source_address=(address, 0))
        return self._context.wrap_socket(plain, server_hostname=NAME)

    def ask(self, method, path, body=None, *, headers=None, tls=True):
        """Return status, headers and body of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.plain, timeout=60)
        if tls:
            connection.sock = self.connected()
        sent = {"Host": self.host, "Origin": f"https://{self.host}", **(headers or {})}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        answer = response.status, response.headers, response.read()
        connection.close()
        for cookie in response.headers.get_all("Set-Cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def sign_in(self, name):
        _, _, page = self.ask("GET", "/accounts/login/")
        token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page)[1].decode()
        body = f"csrfmiddlewaretoken={token}&login={name}&password=correct+horse+battery"
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        status, _, page = self.ask("POST", "/accounts/login/", body, headers=form)
        assert status == 302, page
        return self


def error_of(body):
    """Return the error in a response of the API."""
    return json.loads(body)["error"]


def _here(block, *, without_sqlite):
    """Return the commands of a block of the document for this folder and this user."""
    lines = [line for line in block.splitlines() if not line.startswith("chown ")]
    lines = [line for line in lines if not (without_sqlite and "short_lived" in line)]
    manage = "umask 077; .venv/bin/python manage.py"
    return f"NAME={NAME}\n" + "\n".join(lines).replace("dashboard-manage", manage)


def wait_for(port, server):
    """Wait until ``server`` listens on the port."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert server.poll() is None, "the server has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not listen")
