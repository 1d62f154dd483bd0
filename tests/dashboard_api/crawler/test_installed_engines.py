"""Scanners that make engines installs, in real runs against a website on loopback."""

import os
from pathlib import Path

import msgspec
import pytest
from django.conf import settings

from dashboard_api.crawler import policy, process, queue
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.worker import Worker
from dashboard_api.models import Coverage, Finding
from dashboard_api.scanners import read_report
from tests import factories
from tests.faults.certificate import write_certificate
from tests.faults.server import FaultServer, answer


def installed(name):
    engines = read_engines(Path(settings.BASE_DIR) / "deploy" / "engines.toml")
    found = next(engine for engine in engines if engine.name == name)
    if found.program() is None:
        pytest.skip(f"not installed: {name} (make engines)")
    return found


PAGE = b"<title>Shop</title><a href='/about'>About</a><a href='http://trap.localhost:9/'>Elsewhere</a>"


@pytest.mark.slow
@pytest.mark.django_db
def test_wapiti_crawls_the_website_through_our_proxy_and_its_report_is_imported(settings, monkeypatch):
    engine = installed("wapiti-passive")
    monkeypatch.setattr(policy, "REQUESTS_A_SECOND", 100.0)
    settings.ALLOW_PRIVATE_HOSTS = True
    page = answer(200, PAGE, headers=[("Content-Type", "text/html"), ("Set-Cookie", "a=b")])
    with FaultServer(page) as server:
        settings.LOCALHOST_WEBSITES = {"shop.localhost": server.port}
        queue.add(factories.make_scannable("shop.localhost"), by="ada", profile="standard")
        job = Worker(f"w{os.getpid()}", [engine], lambda: False).run_one()
    run = job.runs.get()
    assert (job.outcome, run.state) == ("complete", "ok"), run.log
    asked = {received.head.split()[1] for received in server.received}
    assert asked == {b"/", b"/about", b"/robots.txt"}
    assert all(received.header("user-agent").startswith("ThreatDashboard/1") for received in server.received)
    assert Finding.objects.filter(source__slug="wapiti", rule__contains="cookie").count() == 2
    assert Coverage.objects.get(source__slug="wapiti").state == "ok"


@pytest.mark.slow
@pytest.mark.django_db
def test_wapiti_whose_time_for_a_module_was_used_up_has_not_tried_everything(settings):
    engine = installed("wapiti-attacks")
    words = ["exec" if "," in word else word for word in engine.command]
    words[words.index("--max-attack-time") + 1] = "1"
    settings.ALLOW_PRIVATE_HOSTS = True
    page = answer(200, b"<a href='/shop?p=1'>Shop</a>", headers=[("Content-Type", "text/html")])
    with FaultServer(page) as server:
        settings.LOCALHOST_WEBSITES = {"shop.localhost": server.port}
        queue.add(factories.make_scannable("shop.localhost"), by="ada", profile="standard")
        engine = msgspec.structs.replace(engine, command=words, profile="standard")
        job = Worker(f"w{os.getpid()}", [engine], lambda: False).run_one()
    assert job.runs.get().exit_code == 0, job.runs.get().log
    assert (job.outcome, job.reason) == ("partial", "stopped_early"), job.runs.get().log


def test_sslyze_reports_the_website_at_the_pinned_address(tmp_path):
    engine = installed("sslyze")
    with FaultServer(answer(200, b""), tls=write_certificate(tmp_path)[1]) as server:
        command = [part.replace(":443", f":{server.port}") for part in engine.command]
        engine = msgspec.structs.replace(engine, command=command)
        report = tmp_path / "report"
        words = engine.arguments(host="shop.example.com", address="127.0.0.1", report=report)
        ended = process.run(
            engine, engine.program(), words, folder=tmp_path, mark=f"test-{tmp_path}", tick=lambda: None
        )
    assert (ended.reason, ended.exit_code in engine.success) == ("", True), ended.log
    with report.open("rb") as file:
        scan = read_report(file, format_name="sslyze")
        assert scan.source == "sslyze"
        assert list(scan)
