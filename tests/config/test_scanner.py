"""The page about our scans, and probing.txt."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from config import doctor

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _crawler(settings):
    settings.CRAWLER_ENABLED = True
    settings.SUPPORT_URL = "mailto:scans@example.com"
    settings.CRAWLER_ADDRESSES = ["192.0.2.7", "2001:db8::/64"]
    settings.SCANNER_URL = "https://scans.example.com/scanner"


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("About our scans", "at most 3,000 requests, 5 a second", "How to be left out")),
        (
            "de",
            ("Über unsere Scans", "höchstens 3.000 Anfragen, 5 in der Sekunde", "So werden Sie ausgenommen"),
        ),
    ],
)
def test_everyone_reads_who_scans_from_where_and_how_to_be_left_out(client, language, words):
    page = client.get("/scanner", headers={"Accept-Language": language}).text
    text = " ".join(page.replace("\xa0", " ").split())
    agent = "ThreatDashboard/1 (+https://scans.example.com/scanner; job=1234)"
    for word in (*words, agent, "192.0.2.7", "2001:db8::/64", 'href="mailto:scans@example.com"'):
        assert word in text


def test_probing_txt_has_contact_end_and_description(client):
    found = client.get("/.well-known/probing.txt")
    assert found["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in found.text.splitlines())
    assert fields["Canonical"] == "http://testserver/.well-known/probing.txt"
    assert fields["Contact"] == "mailto:scans@example.com"
    assert "https://scans.example.com/scanner" in fields["Description"]
    assert timezone.now() + timedelta(days=30) < datetime.fromisoformat(fields["Expires"])


def test_without_a_contact_there_is_no_probing_txt_and_doctor_says_so(client, settings):
    settings.SUPPORT_URL = ""
    assert client.get("/.well-known/probing.txt").status_code == 404
    assert any("SUPPORT_URL" in line for line in doctor.problems())


@pytest.mark.parametrize("path", ["/scanner", "/.well-known/probing.txt"])
def test_a_deployment_that_does_not_scan_has_neither(client, settings, path):
    settings.CRAWLER_ENABLED = False
    assert client.get(path).status_code == 404
    assert client.post(path).status_code in (404, 405)


def test_doctor_names_scanners_that_are_not_installed(settings, tmp_path):
    settings.CRAWLER_ENGINES = tmp_path / "engines.toml"
    engine = '[[engine]]\nname = "{0}"\ncommand = ["{0}", "$address", "$report"]\n'
    settings.CRAWLER_ENGINES.write_text(engine.format("missing-scanner") + engine.format("sh"))
    [line] = [line for line in doctor.problems() if "not installed" in line]
    assert "missing-scanner" in line
    assert "sh," not in line
    settings.CRAWLER_ENGINES.write_text("nonsense")
    assert any("CRAWLER_ENGINES" in line for line in doctor.problems())
