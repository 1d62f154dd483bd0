"""The page about our scans, and probing.txt."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from config.operations import doctor
from dashboard_api.models import ScanSchedule
from tests.factories import make_link

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


@pytest.mark.parametrize(
    ("language", "words"), [("en", "some 600 connections"), ("de", "rund 600 Verbindungen")]
)
def test_the_page_says_how_many_connections_are_no_requests(client, language, words):
    assert words in client.get("/scanner", headers={"Accept-Language": language}).text


def test_probing_txt_has_contact_end_and_description(client):
    found = client.get("/.well-known/probing.txt")
    assert found["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in found.text.splitlines())
    assert fields["Canonical"] == "http://testserver/.well-known/probing.txt"
    assert fields["Contact"] == "mailto:scans@example.com"
    assert "https://scans.example.com/scanner" in fields["Description"]
    assert timezone.now() + timedelta(days=30) < datetime.fromisoformat(fields["Expires"])


def test_without_a_contact_there_is_no_probing_txt(client, settings):
    settings.SUPPORT_URL = ""
    assert client.get("/.well-known/probing.txt").status_code == 404


@pytest.mark.parametrize("path", ["/scanner", "/.well-known/probing.txt"])
def test_a_deployment_that_does_not_scan_has_neither(client, settings, path):
    settings.CRAWLER_ENABLED = False
    assert client.get(path).status_code == 404
    assert client.post(path).status_code in (404, 405)


def test_doctor_names_scanners_that_are_not_installed(settings, tmp_path):
    settings.CRAWLER_ENGINES = tmp_path / "engines.toml"
    engine = '[[engine]]\nname = "{0}"\ncommand = ["{0}", "$tunnel", "$report"]\n'
    settings.CRAWLER_ENGINES.write_text(engine.format("missing-scanner") + engine.format("sh"))
    [line] = [line for line in doctor.problems() if "not installed" in line]
    assert "missing-scanner" in line
    assert "sh," not in line
    settings.CRAWLER_ENGINES.write_text("nonsense")
    assert any("CRAWLER_ENGINES" in line for line in doctor.problems())


@pytest.fixture
def engines(settings, tmp_path):
    """Let scans have the scanners that a test writes down."""
    settings.CRAWLER_ENGINES = tmp_path / "engines.toml"
    row = '[[engine]]\nname = "{}"\nprofile = "{}"\noptional = true\ncommand = ["{}", "$tunnel", "$report"]\n'

    def write(*rows):
        settings.CRAWLER_ENGINES.write_text("".join(row.format(*each, each[0]) for each in rows))

    return write


def test_an_optional_scanner_that_is_not_installed_is_no_problem(engines):
    engines(("missing-scanner", "quick"), ("sh", "quick"))
    assert [line for line in doctor.problems() if "installed" in line] == []


def test_scans_by_schedule_that_have_none_of_their_scanners_are_a_problem(engines):
    engines(("sh", "quick"), ("missing-scanner", "deep"), ("another-scanner", "deep"))
    link, now = make_link(), timezone.now()
    schedule = ScanSchedule.objects.create(
        link=link, frequency="monthly", profile="deep", anchor=now.date(), next_at=now
    )
    [line] = [line for line in doctor.problems() if "installed" in line]
    assert line.startswith("Websites with deep scans by schedule: 1. None of the scanners")
    assert "(missing-scanner, another-scanner)" in line
    engines(("sh", "deep"), ("missing-scanner", "deep"))
    assert [line for line in doctor.problems() if "installed" in line] == []
    engines(("missing-scanner", "deep"))
    ScanSchedule.objects.filter(pk=schedule.pk).update(frequency="off", next_at=None)
    assert [line for line in doctor.problems() if "installed" in line] == []
