"""manage.py scan and manage.py crawl."""

import json
from contextlib import nullcontext
from threading import Event

import pytest
from django.core.management import CommandError, call_command

from audit.models import AuditEvent
from config.models import Run
from dashboard_api.crawler import worker
from dashboard_api.crawler.canary import Look
from dashboard_api.crawler.home_page import HomePage
from dashboard_api.management.commands import crawl
from dashboard_api.models import ScanJob
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def engines(tmp_path, settings, monkeypatch):
    """A crawler that is on, with an engine that is not installed."""
    file = tmp_path / "engines.toml"
    file.write_text('[[engine]]\nname = "x"\ncommand = ["/nowhere/x", "$tunnel", "$report"]\n')
    settings.CRAWLER_ENABLED, settings.CRAWLER_ENGINES = True, file
    monkeypatch.setattr(worker, "addresses_of", lambda _host: ["192.0.2.10"])
    monkeypatch.setattr(worker, "look", lambda *_, **__: Look("", HomePage()))


def test_a_scan_is_queued_once_and_run(capsys, engines):
    factories.make_scannable()
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


def test_a_scan_that_no_worker_runs_says_so(settings, capsys):
    factories.make_scannable()
    settings.CRAWLER_ENABLED = False
    call_command("scan", "shop.example.com")
    assert "CRAWLER_ENABLED is off here: no worker runs it." in capsys.readouterr().err
    settings.CRAWLER_ENABLED = True
    call_command("scan", "shop.example.com")
    assert capsys.readouterr().err == ""


def test_a_worker_that_goes_on_yields_to_pages_and_calls(engines, monkeypatch):
    yielded, stopped = [], Event()
    stopped.set()
    monkeypatch.setattr(crawl.os, "nice", yielded.append)
    monkeypatch.setattr(crawl, "_stopping", lambda: nullcontext(stopped))
    call_command("crawl", "--once")
    assert yielded == []
    call_command("crawl")
    assert yielded == [crawl.NICENESS]


def test_an_unknown_website_is_refused():
    with pytest.raises(CommandError, match="add it in the admin"):
        call_command("scan", "unknown.example.com")


def test_nothing_runs_while_the_crawler_is_off_or_without_its_engines(settings, engines, tmp_path):
    settings.CRAWLER_ENGINES = tmp_path / "none.toml"
    with pytest.raises(CommandError, match="No such file"):
        call_command("crawl", "--once")
    settings.CRAWLER_ENABLED = False
    with pytest.raises(CommandError, match="CRAWLER_ENABLED is off"):
        call_command("crawl", "--once")


def test_every_scan_is_stopped_at_once_and_none_begins_until_the_end_of_the_stop(capsys, engines):
    for host in ("a.example.com", "b.example.com"):
        factories.make_scannable(host)
        call_command("scan", host)
    capsys.readouterr()
    call_command("crawl", "--stop-all", "--by", "ada")
    assert capsys.readouterr().out.startswith("Scans cancelled: 2.")
    assert set(ScanJob.objects.values_list("state", flat=True)) == {"cancelled"}
    assert AuditEvent.objects.filter(action="scan.cancelled").count() == 2
    call_command("scan", "a.example.com")
    call_command("crawl", "--once")
    assert ScanJob.objects.get(state="queued").started_at is None
    call_command("crawl", "--resume", "--by", "ada")
    call_command("crawl", "--once")
    assert not ScanJob.objects.filter(state="queued").exists()
    call_command("crawl", "--resume")
    assert "Nothing to do" in capsys.readouterr().out
    assert AuditEvent.objects.filter(action__in=("scan.all_stopped", "scan.all_resumed")).count() == 2
