"""The scaled layout, as deploy/start-scaled.sh starts it: nginx, two web processes, PostgreSQL and Redis."""

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings

from tests.deploy.production import Browser, wait_for
from tests.deploy.test_production import IMMEDIATE, PAGE
from tests.faults.server import free_port

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scaled(production, link_id):
    """The product behind its own nginx, by two web processes."""
    if not production.environ.get("DATABASE_URL"):
        pytest.skip("the scaled layout is one of PostgreSQL")
    plain, tls, *web = [free_port() for _ in range(4)]
    environ = production.environ | {
        "REDIS_URL": settings.REDIS_URL or "redis://127.0.0.1:6379/9",
        "HTTP_PORT": str(plain),
        "HTTPS_PORT": str(tls),
        "WEB_PORTS": " ".join(map(str, web)),
    }
    log = production.folder / "scaled.log"
    with log.open("w") as output:
        script = subprocess.Popen(
            ["deploy/start-scaled.sh"],
            cwd=production.folder,
            env=environ,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_for(tls, script)
        for port in web:
            wait_for(port, script)
        yield Browser(plain, tls, production.folder / "var" / "scaled" / "certificate.pem")
    finally:
        script.send_signal(signal.SIGTERM)
        script.wait(60)
    with pytest.raises(ProcessLookupError):  # it leaves no process behind
        os.killpg(script.pid, 0)


def test_the_script_serves_four_times_as_many_pages_as_threads_at_once(scaled):
    browser = scaled.another_browser().sign_in("ada")
    together = threading.Barrier(IMMEDIATE)

    def view(_):
        together.wait(60)
        status, _, page = browser.copy().ask("GET", PAGE)
        return status, b"Do first" in page

    with ThreadPoolExecutor(IMMEDIATE) as threads:
        assert set(threads.map(view, range(IMMEDIATE))) == {(200, True)}
