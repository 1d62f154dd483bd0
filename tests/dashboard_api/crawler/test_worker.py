"""The worker: whole jobs, whatever the engines do."""

import json
import socket
import threading

import pytest
from django.utils import timezone

from dashboard_api.crawler import addresses, policy, queue
from dashboard_api.crawler.addresses import address_of
from dashboard_api.crawler.worker import Worker
from dashboard_api.models import EngineRun, Finding, ImportRun, ScanJob
from foundation.outbound.names import NoAddress
from tests import factories
from tests.dashboard_api.crawler.engines import REPORT, WRITE, engine

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("public_address", "short_grace")]


def scan(*engines, website=None, is_stopping=lambda: False):
    website = website or factories.make_website()
    queue.add(website, by="ada")
    return Worker("w", engines, is_stopping).run_one()


def lines(*rows):
    return f"open(report, 'w').write({chr(10).join(map(json.dumps, rows))!r})"


def test_a_report_is_imported_with_the_run_and_the_end_of_the_job():
    job = scan(engine())
    assert (job.state, job.outcome, job.reason) == ("finished", "complete", "")
    run = job.runs.get()
    assert (run.state, run.exit_code, run.address) == ("ok", 0, "192.0.2.10")
    assert run.import_run == ImportRun.objects.get()
    assert Finding.objects.get().title == "No HSTS"
    assert Worker("w", [], bool).run_one() is None


def test_the_exit_code_does_not_decide_but_the_report():
    assert scan(engine(f"{WRITE}; sys.exit(7)")).state == "finished"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("pass", "no_report"),
        ("sys.exit(7)", "engine_crashed"),
        ("sys.exit(4)", "connect_failed"),
        ('open(report, \'w\').write(\'{"scan": "findings/1", "sou\')', "report_unreadable"),
        ("open(report, 'w').write('half')", "report_unreadable"),
        ("os.symlink('/etc/passwd', report)", "no_report"),
        (f"{WRITE}; time.sleep(60)", "engine_timeout"),
        (f"{WRITE}; os.kill(os.getpid(), 9)", "engine_crashed"),
    ],
)
def test_an_engine_without_a_usable_report_ends_in_its_reason_and_stores_nothing(code, reason):
    job = scan(engine(code, seconds=2, exit_codes={"4": "connect_failed"}))
    assert (job.state, job.reason, job.runs.get().reason) == ("failed", reason, reason)
    assert not Finding.objects.exists()
    assert not ImportRun.objects.exists()


@pytest.mark.parametrize(("optional", "outcome"), [(False, "partial"), (True, "complete")])
def test_a_scan_without_an_engine_that_is_not_installed_is_partial_unless_it_is_optional(optional, outcome):
    missing = engine(name="missing", command=["/nowhere/scanner", "$address", "$report"], optional=optional)
    job = scan(engine(), missing)
    assert (job.state, job.outcome) == ("finished", outcome)
    assert [run.state for run in job.runs.all()] == ["ok", "skipped"]


def test_a_scan_that_did_not_end_fixes_nothing():
    website = factories.make_website()
    scan(engine(), website=website)
    for complete, status in ((False, "open"), (True, "fixed")):
        ScanJob.objects.update(created_at=timezone.now() - policy.COOLDOWN)
        check = {"checked": "https://shop.example.com/"}
        job = scan(engine(lines(REPORT[0], check, {"complete": complete})), website=website)
        assert job.outcome == ("complete" if complete else "partial")
        assert Finding.objects.get().status == status


def test_a_website_that_lost_its_proof_is_not_scanned():
    website = factories.make_website()
    queue.add(website, by="ada")
    website.archive(by="ada", reason="sold", now=timezone.now())
    job = Worker("w", [engine()], lambda: False).run_one()
    assert (job.state, job.reason, job.runs.count()) == ("failed", "ownership_lapsed", 0)


def test_a_cancelled_scan_keeps_the_reports_of_engines_that_had_ended(monkeypatch):
    monkeypatch.setattr(policy, "RENEWAL_SECONDS", 0.2)
    renew = queue.renew

    def renew_and_cancel(job):
        if calls.append(1) or len(calls) > 2:
            ScanJob.objects.get(pk=job.pk).cancel(by="ada")
        renew(job)

    calls = []
    monkeypatch.setattr(queue, "renew", renew_and_cancel)
    job = scan(engine(), engine("time.sleep(60)", name="slow"))
    assert (job.state, job.reason) == ("cancelled", "cancelled")
    assert EngineRun.objects.get().engine == "stub"
    assert Finding.objects.count() == 1


def test_a_worker_that_ends_gives_its_job_back():
    job = scan(engine("time.sleep(60)"), is_stopping=lambda: True)
    assert (job.state, job.attempt, job.ended_at) == ("queued", 0, None)
    assert Worker("w", [engine()], lambda: False).run_one().state == "finished"


def test_a_worker_that_lost_its_lease_stores_nothing(monkeypatch):
    renew = queue.renew

    def renew_late(job):
        ScanJob.objects.filter(pk=job.pk).update(worker="another", attempt=2)
        renew(job)

    monkeypatch.setattr(queue, "renew", renew_late)
    job = scan(engine())
    assert (job.state, job.worker) == ("running", "another")
    assert not Finding.objects.exists()
    assert not EngineRun.objects.exists()


def test_an_error_in_the_middle_of_storing_undoes_every_import(monkeypatch):
    def fail(*_, **__):
        raise queue.LostLease

    monkeypatch.setattr(queue, "end", fail)
    assert scan(engine(), engine(name="second")).state == "running"
    assert not ImportRun.objects.exists()


def test_a_secret_in_the_log_is_redacted():
    job = scan(engine("print('Set-Cookie: session=s3cr3t'); sys.exit(1)"))
    assert "s3cr3t" not in job.runs.get().log


def resolving(monkeypatch, found):
    infos = [(0, 0, 0, "", (each, 443)) for each in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: infos)


@pytest.mark.parametrize(
    ("found", "address"),
    [
        (["2001:4860:4860::8888", "8.8.8.8", "8.8.4.4"], "8.8.4.4"),
        (["2001:4860:4860::8888"], "2001:4860:4860::8888"),
    ],
)
def test_one_address_is_scanned_of_ipv4_where_there_is_one(monkeypatch, found, address):
    resolving(monkeypatch, found)
    assert address_of("shop.example.com") == address


def test_only_public_addresses_are_scanned(monkeypatch):
    resolving(monkeypatch, ["8.8.8.8", "127.0.0.1"])
    with pytest.raises(NoAddress, match="private_address"):
        address_of("shop.example.com")


def test_a_name_whose_servers_do_not_answer_in_time_has_its_reason(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(addresses, "_SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait() and [])
    with pytest.raises(NoAddress, match="servers_silent"):
        address_of("shop.example.com")
    over.set()


def test_the_built_in_engine_runs_with_an_empty_environment(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    essentials = engine(name="essentials", command=["$essentials", "$host", "127.0.0.1", "$report"])
    job = scan(essentials, website=factories.make_website("127.0.0.1"))
    run = job.runs.get()
    assert (run.state, run.exit_code, run.log) == ("ok", 0, "")
    assert ImportRun.objects.get().source.slug == "essentials"
