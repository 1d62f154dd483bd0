"""manage.py scan and manage.py crawl."""

import json

import pytest
from django.core.management import CommandError, call_command

from audit.models import AuditEvent
from config.models import Run
from dashboard_api.crawler import worker
from dashboard_api.models import ScanJob
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def engines(tmp_path, settings, monkeypatch):
    """A crawler that is on, with an engine that is not installed."""
    file = tmp_path / "engines.toml"
    file.write_text('[[engine]]\nname = "x"\ncommand = ["/nowhere/x", "$address", "$report"]\n')
    settings.CRAWLER_ENABLED, settings.CRAWLER_ENGINES = True, file
    monkeypatch.setattr(worker, "address_of", lambda _host: "192.0.2.10")


def test_a_scan_is_queued_once_and_run(capsys, engines):
    factories.make_website()
    call_command("scan", "Shop.Example.COM", "--by", "ada", "--json")
    first = json.loads(capsys.readouterr().out)
    assert (first["host"], first["state"], first["changed"]) == ("shop.example.com", "queued", True)
    call_command("scan", "shop.example.com", "--first")
    assert "exists already" in capsys.readouterr().out
    call_command("crawl", "--once")
    captured = capsys.readouterr()
    assert captured.out == "Scans ended: 1.\n"
    assert "failed engine_missing" in captured.err
    assert Run.objects.get().command == "crawl"


def test_an_unknown_website_is_refused():
    with pytest.raises(CommandError, match="verify its ownership first"):
        call_command("scan", "unknown.example.com")


def test_nothing_runs_while_the_crawler_is_off_or_without_its_engines(settings, engines, tmp_path):
    settings.CRAWLER_ENGINES = tmp_path / "none.toml"
    with pytest.raises(CommandError, match="No such file"):
        call_command("crawl", "--once")
    settings.CRAWLER_ENABLED = False
    with pytest.raises(CommandError, match="CRAWLER_ENABLED is off"):
        call_command("crawl", "--once")


def test_every_scan_is_stopped_at_once(capsys):
    for host in ("a.example.com", "b.example.com"):
        factories.make_website(host)
        call_command("scan", host)
    capsys.readouterr()
    call_command("crawl", "--stop-all", "--by", "ada")
    assert capsys.readouterr().out == "Scans cancelled: 2.\n"
    assert set(ScanJob.objects.values_list("state", flat=True)) == {"cancelled"}
    assert AuditEvent.objects.filter(action="scan.cancelled").count() == 2
