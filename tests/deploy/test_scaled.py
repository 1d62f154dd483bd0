"""The scaled layout of start-scaled.sh: nginx, two web processes and a worker, PostgreSQL and Redis."""

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings

from tests.deploy.production import NAME, Browser, wait_for
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
        "CRAWLER_ENABLED": "true",
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
        browser = Browser(plain, tls, production.folder / "var" / "scaled" / "certificate.pem")
        browser.host = f"{NAME}:{tls}"  # as a browser names another port than 443
        yield browser
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


def test_the_script_takes_bodies_that_nginx_stores(scaled):
    status, _, _ = scaled.another_browser().ask("POST", "/accounts/login/", b"a" * 60_000)
    assert status == 302


def test_the_script_starts_a_worker_of_scans(scaled, production):
    runs = "from config.models import Run; print(Run.objects.filter(command='crawl').count())"
    ask = f'.venv/bin/python manage.py shell --no-imports -c "{runs}"'
    assert (
        production.shell(f"for _ in {{1..30}}; do {ask} | grep -qx 1 && exit; done; exit 1").returncode == 0
    )
