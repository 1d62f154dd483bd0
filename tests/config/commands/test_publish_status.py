"""The status page as plain files, which need nothing of ours to be read."""

import http.server
import re
import threading

import pytest
from django.core.management.base import CommandError

from config import health
from config.models import Incident, Run
from tests.commands import run, run_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(monkeypatch):
    """Let the process be ready: its checks, in a thread, would wait for the transaction of the test."""
    monkeypatch.setattr(health.READINESS, "failed", tuple)


@pytest.fixture
def site():
    """A server at which our pages should be; its ``status`` can change."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(server.status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.status = 200
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def states(folder, name="index.html"):
    return re.findall(r'<span class="state \w+">([^<]*)</span>', (folder / name).read_text())


def test_it_writes_a_page_in_each_language_and_the_feed(tmp_path):
    Incident.objects.create(title="Calls are slow", began="2026-01-01T00:00Z")
    run("publish_status", str(tmp_path))
    assert {file.name for file in tmp_path.iterdir()} == {
        *("index.html", "de.html", "feed.xml", "portal.css", "icon.svg")
    }
    english, german = (tmp_path / name for name in ("index.html", "de.html"))
    assert '<html lang="en"' in english.read_text()
    assert "Gestört" in german.read_text()
    for file in (english, german, tmp_path / "feed.xml"):
        assert "Calls are slow" in file.read_text()
    # Nothing is loaded from elsewhere, and there is no form that nothing would answer.
    pages = english.read_text() + german.read_text()
    assert set(re.findall(r'(?:href|src)="([^"#]*)"', pages)) == {
        *("index.html", "de.html", "feed.xml", "portal.css", "icon.svg")
    }
    assert not re.search("<form|<script", pages)
    assert Run.objects.get().command == "publish_status"


def test_a_link_in_the_folder_leads_to_no_other_file(tmp_path):
    """Another user, such as that of the web server, may write to the folder."""
    other, folder = tmp_path / "other", tmp_path / "status"
    folder.mkdir()
    other.write_text("Keep this.")
    for name in ("index.html", ".index.html.tmp"):
        (folder / name).symlink_to(other)
    run("publish_status", str(folder))
    assert other.read_text() == "Keep this."
    assert not (folder / "index.html").is_symlink()
    assert "<html" in (folder / "index.html").read_text()


def test_without_an_answer_at_our_address_calls_and_portal_are_disturbed(tmp_path, settings, site):
    settings.PORTAL_BASE_URL = f"http://127.0.0.1:{site.server_port}"
    assert run_json("publish_status", str(tmp_path))["disturbed"] == []
    assert states(tmp_path) == ["Works", "Works"]
    site.status = 502
    assert run_json("publish_status", str(tmp_path))["disturbed"] == ["calls", "portal"]
    assert states(tmp_path, "de.html") == ["Gestört", "Gestört"]
    site.status = 404  # the page is off, but the server answers
    assert run_json("publish_status", str(tmp_path))["disturbed"] == []
    settings.PORTAL_BASE_URL = "http://127.0.0.1:9"  # nothing listens
    assert run_json("publish_status", str(tmp_path))["disturbed"] == ["calls", "portal"]


def test_the_result_says_why_calls_and_portal_are_disturbed(tmp_path, settings, site):
    settings.PORTAL_BASE_URL = f"http://127.0.0.1:{site.server_port}"
    site.status = 502
    assert f"{settings.PORTAL_BASE_URL}/status/ answered 502." in run("publish_status", str(tmp_path))
    settings.PORTAL_BASE_URL = "http://127.0.0.1:9"  # nothing listens
    result = run("publish_status", str(tmp_path))
    assert "http://127.0.0.1:9/status/ did not answer this machine: [Errno 111] Connection refused." in result


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(CommandError, match="nowhere cannot be written: No such file or directory"):
        run("publish_status", str(tmp_path / "nowhere"))
