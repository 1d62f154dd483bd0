"""The worker: whole jobs, whatever the engines do."""

import dataclasses
import json
import socket
import threading
import time
from datetime import timedelta

import msgspec
import pytest
from django.utils import timezone
from dnslib import QTYPE

from audit.models import AuditEvent
from config.demo import website
from dashboard_api.crawler import addresses, policy, queue, retests, worker
from dashboard_api.crawler.addresses import addresses_of
from dashboard_api.crawler.canary import Look
from dashboard_api.crawler.reasons import explanation
from dashboard_api.crawler.response import scan_for_account
from dashboard_api.crawler.runs import run_engine
from dashboard_api.crawler.worker import Worker
from dashboard_api.models import (
    Coverage,
    EngineRun,
    Entitlement,
    Finding,
    ImportRun,
    OwnershipClaim,
    ScanConsent,
    ScanJob,
    ScanOptOut,
    SiteLink,
)
from dashboard_api.models.scan_job import PAGE_CHANGED
from dashboard_api.ownership import claims
from foundation.outbound import proxy
from foundation.outbound.names import NoAddress
from tests import factories
from tests.dashboard_api.crawler.conftest import PAGE
from tests.dashboard_api.crawler.engines import REPORT, WRITE, engine, running
from tests.faults.name_servers import RESOLVER, NameServers
from tests.faults.server import FaultServer, answer, hang_up
from tests.foundation.outbound.internet import OTHER, Internet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("public_address", "crawler")]
ADDRESS = "192.0.2.10"  # of public_address
NAME = "worker"


def scan(*engines, website=None, is_stopping=lambda: False):
    website = website or factories.make_scannable()
    queue.add(website, by="ada")
    return Worker(NAME, engines, is_stopping).run_one()


def lines(*rows):
    return f"open(report, 'w').write({chr(10).join(map(json.dumps, rows))!r})"


def test_a_report_is_imported_with_the_run_and_the_end_of_the_job():
    job = scan(engine())
    assert (job.state, job.outcome, job.reason) == ("finished", "complete", "")
    run = job.runs.get()
    assert (run.state, run.exit_code, run.address) == ("ok", 0, "192.0.2.10")
    assert run.import_run == ImportRun.objects.get()
    assert Finding.objects.get().title == "No HSTS"
    assert Worker(NAME, [], bool).run_one() is None


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
        (f"{WRITE}; os.kill(os.getpid(), 9)", "out_of_memory"),
        (f"{WRITE}; os.kill(os.getpid(), 11)", "engine_crashed"),
        ("bytearray(8 * 1024**3)", "out_of_memory"),
        ("print('terminate called after throwing std::bad_alloc', flush=True); os.abort()", "out_of_memory"),
        ("print('fork: Cannot allocate memory'); sys.exit(4)", "out_of_memory"),
        ("print('JavaScript heap out of memory', flush=True); os.abort()", "out_of_memory"),
        ("print('java.lang.OutOfMemoryError: Java heap space')", "out_of_memory"),
        ("print('too many memory errors'); sys.exit(7)", "engine_crashed"),
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
    assert job.reason == ("" if optional else "engine_missing")
    assert [run.state for run in job.runs.all()] == ["ok", *["skipped"] * (not optional)]
    said = Coverage.objects.filter(source__slug="missing").values_list("state", flat=True)
    assert list(said) == ([] if optional else ["failed"])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("timed_out", "not_all_checked"),
        ("no_page", "no_page"),
        ("no_page_by_http", "not_all_checked"),
        ("page_unknown", "page_unknown"),
        ("server_error", "server_error"),
        ("not_read_to_the_end", "not_read_to_the_end"),
    ],
)
def test_a_scan_with_a_failed_check_is_partial_and_says_why(error, reason):
    failed = {"checked": "https://shop.example.com/", "error": error, "rules": ["csp"]}
    job = scan(engine(lines(*REPORT[:-1], failed, REPORT[-1])))
    assert (job.state, job.outcome, job.reason) == ("finished", "partial", reason)
    assert explanation(reason) != explanation("engine_crashed")


def test_a_scanner_without_time_left_does_not_run_and_the_scan_says_so(monkeypatch):
    def run_late(job, of, *values, seconds, requests):
        seconds = 0 if of.name == "late" else seconds
        return run_engine(job, of, *values, seconds=seconds, requests=requests)

    monkeypatch.setattr(worker, "run_engine", run_late)
    job = scan(engine(), engine(name="late"))
    assert (job.outcome, job.reason) == ("partial", "no_time_left")
    run = job.runs.get(engine="late")
    assert (run.state, run.reason) == ("skipped", "no_time_left")
    assert "not installed" not in str(run)
    assert Coverage.objects.get(source__slug="late").state == "failed"


@pytest.mark.parametrize(
    ("texts", "ended", "status"),
    [
        (["Never said", "Time is up"], ("partial", "stopped_early"), "open"),
        (["Time is over"], ("complete", ""), "fixed"),
    ],
)
def test_a_scanner_that_says_early_that_it_stopped_early_fixes_nothing(texts, ended, status):
    website = factories.make_scannable()
    scan(engine(), website=website)
    ScanJob.objects.update(created_at=timezone.now() - policy.PROFILES["quick"].cooldown)
    early = "sys.stdout.buffer.write(b'\\xff\\0 Time is up. ' + 20_000 * b'x\\n'); "
    code = early + lines(REPORT[0], {"checked": "https://shop.example.com/"})
    job = scan(engine(code, complete=True, complete_unless=texts), website=website)
    assert ((job.outcome, job.reason), job.runs.get().reason) == (ended, ended[1])
    assert Finding.objects.get().status == status
    assert "Time is up" not in job.runs.get().log


def test_a_scan_that_did_not_end_fixes_nothing():
    website = factories.make_scannable()
    scan(engine(), website=website)
    for complete, status in ((False, "open"), (True, "fixed")):
        ScanJob.objects.update(created_at=timezone.now() - policy.PROFILES["quick"].cooldown)
        check = {"checked": "https://shop.example.com/"}
        job = scan(engine(lines(REPORT[0], check, {"complete": complete})), website=website)
        assert job.outcome == ("complete" if complete else "partial")
        assert Finding.objects.get().status == status


def test_a_website_that_lost_its_proof_is_not_scanned():
    website = factories.make_scannable()
    queue.add(website, by="ada")
    website.archive(by="ada", reason="sold", now=timezone.now())
    job = Worker(NAME, [engine()], lambda: False).run_one()
    assert (job.state, job.reason, job.runs.count()) == ("failed", "ownership_lapsed", 0)


def test_a_waiting_scan_ends_with_the_claim_of_its_account():
    link = factories.make_link()
    other = factories.make_link(factories.make_account("acct_0002"), link.website)
    job, _ = queue.add(link.website, by="ada", account=link.account)
    other.revoke(by="ada", reason="sold", now=timezone.now())
    assert ScanJob.objects.get().state == "queued"
    claims.withdraw(OwnershipClaim.objects.first(), by="ada", reason="sold", now=timezone.now())
    job.refresh_from_db()
    assert (job.state, job.reason, job.started_at) == ("cancelled", "cancelled", None)
    assert AuditEvent.objects.get(action="scan.cancelled").reason == "sold"
    with pytest.raises(policy.NotScannable, match="no current proof"):
        queue.add(job.website, by="staff", account=link.account)


def lose_the_link(link):
    SiteLink.objects.update(revoked_at=timezone.now())


def lose_the_claim(link):
    ended = {"state": "ended", "ended_reason": "withdrawn", "ended_at": timezone.now()}
    OwnershipClaim.objects.filter(account=link.account).update(**ended)


def pause_the_link(link):
    SiteLink.objects.filter(pk=link.pk).update(paused_at=timezone.now())


def suspend_the_plan(link):
    Entitlement.objects.update(status="suspended")


def end_the_plan(link):
    today = timezone.now().date()
    Entitlement.objects.update(starts_on=today - timedelta(days=99), ends_on=today - timedelta(days=90))


def include_no_scans(link):
    Entitlement.objects.update(scans_per_month=0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lose_the_link, "ownership_lapsed"),
        (lose_the_claim, "ownership_lapsed"),
        (pause_the_link, "plan_ended"),
        (suspend_the_plan, "plan_ended"),
        (end_the_plan, "plan_ended"),
        (include_no_scans, "plan_ended"),
    ],
)
def test_a_waiting_scan_is_refused_when_what_allowed_it_has_ended(change, reason):
    link = factories.make_link()
    factories.make_link(factories.make_account("acct_0002"), link.website)
    queue.add(link.website, by="ada", account=link.account)
    change(link)
    job = Worker(NAME, [engine()], lambda: False).run_one()
    assert (job.state, job.reason, job.runs.count()) == ("failed", reason, 0)
    assert not Finding.objects.exists()


def test_a_deep_scan_whose_consent_ended_while_it_waited_does_not_begin():
    link = factories.make_link()
    OwnershipClaim.objects.update(method="dns", strength="dns")
    Entitlement.objects.update(features=["deep_scans"])
    consent = ScanConsent.objects.create(link=link, by="ada")
    queue.add(link.website, by="ada", account=link.account, profile="deep")
    ScanConsent.objects.filter(pk=consent.pk).update(at=timezone.now() - timedelta(days=365))
    job = Worker(NAME, [engine()], lambda: False).run_one()
    assert (job.state, job.reason, job.runs.count()) == ("failed", "consent_missing", 0)


def test_a_running_scan_ends_with_the_link_of_its_account(monkeypatch, tmp_path):
    monkeypatch.setattr(policy, "RENEWAL_SECONDS", 0.0)
    link = factories.make_link()
    queue.add(link.website, by="ada", account=link.account)

    def revoke_what_runs():
        if (tmp_path / "ran").exists():
            SiteLink.objects.update(revoked_at=timezone.now())
        return False

    code = f"open({str(tmp_path / 'ran')!r}, 'w').close(); time.sleep(600)"
    job = Worker(NAME, [engine(code)], revoke_what_runs).run_one()
    assert (job.state, job.runs.count()) == ("cancelled", 0)


def test_a_cancelled_scan_keeps_the_reports_of_engines_that_had_ended(monkeypatch):
    monkeypatch.setattr(policy, "RENEWAL_SECONDS", 0.2)
    renew = queue.renew

    def renew_and_cancel(job):
        stored = ScanJob.objects.get(pk=job.pk)
        if any(each["engine"] == "slow" and each["state"] == "running" for each in stored.progress):
            stored.cancel(by="ada")
        renew(job)

    monkeypatch.setattr(queue, "renew", renew_and_cancel)
    job = scan(engine(), engine("time.sleep(60)", name="slow"))
    assert (job.state, job.reason) == ("cancelled", "cancelled")
    assert EngineRun.objects.get().engine == "stub"
    assert Finding.objects.count() == 1


@pytest.mark.slow
def test_ten_of_ten_scans_are_cancelled_whose_scanner_ignores_sigterm(tmp_path, monkeypatch):
    monkeypatch.setattr(policy, "RENEWAL_SECONDS", 0.0)
    code = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    code += f"open({str(tmp_path)!r} + '/' + host, 'w').close()\ntime.sleep(600)"
    hosts = [f"job-{number}.example.com" for number in range(10)]
    jobs = [queue.add(factories.make_scannable(host), by="ada")[0] for host in hosts]

    def cancel_what_runs():
        running = ScanJob.objects.get(state="running")
        if (tmp_path / running.website.host).exists():
            running.cancel(by="ada")
        return False

    for _ in jobs:
        Worker(NAME, [engine(code)], cancel_what_runs).run_one()
        assert not running(str(tmp_path))
    ended = ScanJob.objects.values_list("state", "reason", "attempt").distinct()
    assert list(ended.order_by()) == [("cancelled", "cancelled", 1)]


def test_a_worker_that_ends_gives_its_job_back():
    job = scan(engine("time.sleep(60)"), is_stopping=lambda: True)
    assert (job.state, job.attempt, job.ended_at) == ("queued", 0, None)
    assert Worker(NAME, [engine()], lambda: False).run_one().state == "finished"


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
    assert addresses_of("shop.example.com")[0] == address


def test_only_public_addresses_are_scanned(monkeypatch):
    resolving(monkeypatch, ["8.8.8.8", "127.0.0.1"])
    with pytest.raises(NoAddress, match="private_address"):
        addresses_of("shop.example.com")


@pytest.mark.parametrize("prefix", ["2001:4860::/32", "8.8.4.0/24", "8.8.8.8/32"])
def test_an_opt_out_of_any_address_of_the_website_refuses_the_scan(monkeypatch, prefix):
    resolving(monkeypatch, ["2001:4860:4860::8888", "8.8.8.8", "8.8.4.4"])
    monkeypatch.setattr(worker, "addresses_of", addresses_of)
    ScanOptOut.objects.create(kind="prefix", value=prefix, reason="asked", by="ada")
    job = scan(engine())
    assert (job.state, job.reason, job.runs.count()) == ("failed", "opted_out", 0)


def test_a_name_whose_servers_do_not_answer_in_time_has_its_reason(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(addresses, "_SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait() and [])
    with pytest.raises(NoAddress, match="servers_silent"):
        addresses_of("shop.example.com")
    over.set()


def test_the_built_in_engine_runs_with_an_empty_environment(settings, tmp_path):
    settings.ALLOW_PRIVATE_HOSTS = True
    essentials = engine(name="essentials", command=["$essentials", "$host", "127.0.0.1", "$report"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        settings.LOCALHOST_WEBSITES = {"demo-shop.localhost": free.getsockname()[1]}
    with website.serving(tmp_path, settings.LOCALHOST_WEBSITES["demo-shop.localhost"]):
        job = scan(essentials, website=factories.make_scannable("demo-shop.localhost"))
    run = job.runs.get()
    assert (run.state, run.exit_code, run.log) == ("ok", 0, "")
    assert ImportRun.objects.get().source.slug == "essentials"
    assert Finding.objects.filter(rule="certificate-not-trusted").exists()


def seeing(monkeypatch, *refusals):
    """Let the canaries of the next scan find these, one after the other."""
    found = list(refusals)

    def look(*_, **__):
        reason = found.pop(0)
        return Look(reason, None if reason else PAGE)

    monkeypatch.setattr(worker, "look", look)


def with_a_finding():
    website = factories.make_scannable()
    scan(engine(), website=website)
    ScanJob.objects.update(created_at=timezone.now() - timedelta(days=1))
    return website


CLEAN = [REPORT[0], {"checked": "https://shop.example.com/"}, {"complete": True}]
NOT_CHECKED = [REPORT[0], {"checked": "https://shop.example.com/", "error": "blocked"}, {"complete": True}]
ANOTHER_NOT_CHECKED = [*CLEAN[:2], NOT_CHECKED[1] | {"rules": ["another"]}, *CLEAN[2:]]
CHECKED_ELSEWHERE = [CLEAN[0], {"checked": "https://www.shop.example.com/"}, CLEAN[2]]
# The same rule, of another cookie, and at another website, whose row an import rejects.
OTHERS = [
    REPORT[0],
    REPORT[1] | {"matcher": "another"},
    REPORT[1] | {"location": "https://elsewhere.example.net/"},
    {"complete": True},
]


def test_a_website_that_refuses_the_scan_from_the_start_meets_no_engine_and_fixes_nothing(monkeypatch):
    website = with_a_finding()
    seeing(monkeypatch, "blocked")
    job = scan(engine("raise SystemExit('it ran')"), website=website)
    assert (job.state, job.outcome, job.reason) == ("finished", "blocked", "blocked")
    run = job.runs.get()
    assert (run.state, run.reason, run.log) == ("blocked", "blocked", "")
    coverage = Coverage.objects.get(source__slug="stub")
    assert coverage.state == "failed"
    assert Finding.objects.get().status == "open"


@pytest.mark.parametrize(
    ("protection", "words"),
    [("cloudflare", "It looks as if Cloudflare blocked the scan"), ("", "We cannot tell which")],
)
def test_a_blocked_scan_keeps_by_which_protection_it_looks_blocked(monkeypatch, protection, words):
    monkeypatch.setattr(worker, "look", lambda *_, **__: Look("blocked", protection=protection))
    job = scan(engine("raise SystemExit('it ran')"))
    assert (job.reason, job.protection) == ("blocked", protection)
    shown = scan_for_account(job, 1)
    assert shown.protection == (protection or None)
    assert words in shown.explanation


def test_a_website_that_begins_to_refuse_fixes_nothing_of_that_engine_and_the_next(monkeypatch):
    website = with_a_finding()
    seeing(monkeypatch, "", "", "blocked")
    clean = engine(lines(*CLEAN))
    other = engine(name="other")
    job = scan(other, clean, engine("raise SystemExit('it ran')", name="third"), website=website)
    assert job.outcome == "blocked"
    assert [(run.engine, run.state) for run in job.runs.all()] == [
        ("other", "ok"),
        ("stub", "blocked"),
        ("third", "blocked"),
    ]
    assert set(Finding.objects.values_list("status", flat=True)) == {"open"}


def test_where_our_own_tls_fails_from_the_start_engines_look_why(monkeypatch):
    seeing(monkeypatch, "tls_invalid", "tls_invalid", "")
    failed = {"checked": "https://shop.example.com/", "error": "tls_invalid"}
    job = scan(engine(), engine(lines(REPORT[0] | {"source": "ours"}, failed, REPORT[-1]), name="ours"))
    assert (job.state, job.outcome, job.reason) == ("finished", "partial", "tls_invalid")
    assert [run.state for run in job.runs.all()] == ["ok", "ok"]
    assert Finding.objects.get().status == "open"


def test_a_website_whose_tls_begins_to_fail_fixes_nothing(monkeypatch):
    website = with_a_finding()
    seeing(monkeypatch, "", "tls_invalid")
    job = scan(engine(lines(*CLEAN)), website=website)
    assert (job.state, job.reason) == ("failed", "tls_invalid")
    assert Finding.objects.get().status == "open"


@pytest.fixture
def resolver(settings):
    """A resolver that knows that the website is a CNAME of a name that does not exist."""
    servers = NameServers()
    settings.DNS_RESOLVERS = [(RESOLVER, servers.port)]
    servers.knows(
        "shop.example.com. 60 IN CNAME gone.example.net.", "example.com. 60 IN DS 1 13 2 " + "ab" * 32
    )
    yield servers
    servers.close()


DNS = engine(name="dns", command=["$dns", "$host", "$address", "$report"], format="findings")


@pytest.mark.parametrize("reason", ["no_address", "alias_missing", "servers_silent", "private_address"])
def test_a_website_without_an_address_has_the_problems_of_its_domain(monkeypatch, resolver, reason):
    def addresses_of(_host):
        raise NoAddress(reason)

    monkeypatch.setattr(worker, "addresses_of", addresses_of)
    seeing(monkeypatch)  # nothing is asked of the website
    job = scan(engine("raise SystemExit('it ran')"), DNS)
    assert (job.state, job.outcome, job.reason) == ("finished", "partial", reason)
    assert [(run.state, run.reason, run.address) for run in job.runs.all()] == [
        ("failed", reason, None),
        ("ok", "", None),
    ]
    assert dict(Coverage.objects.values_list("source__slug", "state")) == {"stub": "failed", "dns": "ok"}
    found = Finding.objects.get(rule="cname-dangling")
    assert found.get_severity_display() == "High"
    assert "shop.example.com is a CNAME of gone.example.net" in str(found.evidence)


def test_a_website_that_is_a_cname_that_leads_nowhere_says_so(monkeypatch, resolver):
    def nothing(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    with pytest.raises(NoAddress, match="alias_missing"):
        addresses_of("shop.example.com")
    with pytest.raises(NoAddress, match="no_address"):
        addresses_of("other.example.com")


def test_the_domain_is_checked_although_the_page_looks_different(monkeypatch, resolver):
    monkeypatch.setattr(worker.known_page, "judge", lambda *_: PAGE_CHANGED)
    job = scan(engine("raise SystemExit('it ran')"), DNS)
    assert (job.outcome, job.reason) == ("different", PAGE_CHANGED)
    assert [(run.engine, run.state) for run in job.runs.all()] == [("stub", "failed"), ("dns", "ok")]
    assert Finding.objects.filter(rule="cname-dangling", status="open").exists()


def test_wrong_signatures_are_found_where_the_system_refuses_the_name(monkeypatch, resolver):
    def addresses_of(_host):
        raise NoAddress("servers_silent")

    resolver.bogus = 100
    monkeypatch.setattr(worker, "addresses_of", addresses_of)
    scan(DNS)
    assert Finding.objects.filter(rule="dnssec-bogus", status="open").exists()


@pytest.mark.parametrize(
    ("reason", "runs"), [("connect_failed", True), ("timed_out", True), ("blocked", False)]
)
def test_the_domain_is_looked_at_unless_the_website_refuses(monkeypatch, resolver, reason, runs):
    seeing(monkeypatch, reason)
    job = scan(engine("raise SystemExit('it ran')"), DNS)
    assert job.reason == reason
    assert (job.runs.get(engine="dns").state == "ok") is runs
    assert Finding.objects.filter(rule="cname-dangling").exists() is runs


def test_a_retest_of_a_domain_needs_no_address(monkeypatch, resolver):
    def addresses_of(_host):
        raise NoAddress("no_address")

    monkeypatch.setattr(worker, "addresses_of", addresses_of)
    monkeypatch.setattr(retests, "PAUSE_SECONDS", 0)
    website = factories.make_scannable()
    scan(DNS, website=website)
    finding = Finding.objects.get(rule="cname-dangling")
    resolver.known = [each for each in resolver.known if each.rtype != QTYPE.CNAME]
    queue.add(website, by="ada", trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)
    job = Worker(NAME, [DNS], lambda: False).run_one()
    assert (job.state, job.outcome) == ("finished", "gone")


def test_a_scan_is_cancelled_while_its_website_is_silent(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(policy, "RENEWAL_SECONDS", 0.0)
    monkeypatch.setattr(worker, "look", lambda *_, **__: over.wait() and Look("", PAGE))

    def cancel():
        ScanJob.objects.get(state="running").cancel(by="ada")
        return False

    job = scan(engine("raise SystemExit('it ran')"), is_stopping=cancel)
    over.set()
    assert (job.state, job.reason) == ("cancelled", "cancelled")


def test_a_slow_website_loses_no_time_of_scanners_to_our_looks(monkeypatch):
    quick = policy.PROFILES["quick"]
    monkeypatch.setitem(policy.PROFILES, "quick", dataclasses.replace(quick, seconds=4))
    monkeypatch.setattr(worker, "look", lambda *_, **__: time.sleep(1.5) or Look("", PAGE))
    job = scan(engine(), engine(name="second"))
    assert job.outcome == "complete"


def test_a_website_that_cannot_be_reached_fails_with_its_reason(monkeypatch):
    seeing(monkeypatch, "connect_failed")
    job = scan(engine())
    assert (job.state, job.outcome, job.reason) == ("failed", "", "connect_failed")


@pytest.mark.parametrize(
    ("reports", "canaries", "outcome", "status"),
    [
        ([REPORT, REPORT], [""] * 3, "still_there", "open"),
        ([CLEAN, CLEAN], [""] * 3, "gone", "fixed"),
        ([CLEAN, REPORT], [""] * 3, "still_there", "open"),
        ([CLEAN[:2], CLEAN], [""] * 3, "inconclusive", "open"),
        ([NOT_CHECKED, CLEAN], [""] * 3, "inconclusive", "open"),
        ([ANOTHER_NOT_CHECKED] * 2, [""] * 3, "gone", "fixed"),
        ([CHECKED_ELSEWHERE] * 2, [""] * 3, "inconclusive", "open"),
        ([OTHERS, OTHERS], [""] * 3, "gone", "fixed"),
        ([OTHERS, REPORT], [""] * 3, "still_there", "open"),
        ([CLEAN, CLEAN], ["", "", "blocked"], "inconclusive", "open"),
        ([CLEAN, CLEAN], ["blocked", "blocked"], "inconclusive", "open"),
    ],
)
def test_a_retest_says_gone_only_after_two_looks_that_both_miss_it(
    monkeypatch, tmp_path, reports, canaries, outcome, status
):
    website = with_a_finding()
    monkeypatch.setattr(retests, "PAUSE_SECONDS", 0)
    seeing(monkeypatch, *canaries)
    for number, rows in enumerate(reports):
        (tmp_path / str(number)).write_text("\n".join(map(json.dumps, rows)))
    code = f"n = os.path.exists({str(tmp_path / 'ran')!r}); open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    code += f"open(report, 'w').write(open({str(tmp_path)!r} + '/' + str(int(n))).read())"
    finding = Finding.objects.get()
    queue.add(website, by="ada", trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)
    another = engine("raise SystemExit('it ran')", name="another")
    job = Worker(NAME, [another, engine(code)], lambda: False).run_one()
    assert (job.state, job.outcome, job.runs.count()) == ("finished", outcome, 1)
    finding.refresh_from_db()
    assert finding.status == status


@pytest.mark.parametrize(("rows", "outcome"), [(CLEAN, "gone"), (CHECKED_ELSEWHERE, "inconclusive")])
def test_a_retest_of_an_accepted_risk_says_gone_only_if_its_address_was_checked(monkeypatch, rows, outcome):
    website = with_a_finding()
    finding = Finding.objects.get()
    finding.status = Finding.Status.ACCEPTED_RISK
    finding.save()
    monkeypatch.setattr(retests, "PAUSE_SECONDS", 0)
    queue.add(website, by="ada", trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)
    assert Worker(NAME, [engine(lines(*rows))], lambda: False).run_one().outcome == outcome


@pytest.mark.parametrize(
    ("code", "outcome", "reason"),
    [
        (lines(*REPORT), "still_there", ""),
        ("raise SystemExit(2)", "inconclusive", "engine_crashed"),
        (lines(*CLEAN[:2]), "inconclusive", "not_all_checked"),
    ],
)
def test_a_retest_has_the_time_of_its_engine_and_says_why_its_result_is_unclear(
    monkeypatch, code, outcome, reason
):
    website = with_a_finding()
    quick = policy.PROFILES["quick"]
    monkeypatch.setitem(policy.PROFILES, "quick", dataclasses.replace(quick, seconds=0))
    monkeypatch.setattr(retests, "PAUSE_SECONDS", 0)
    finding = Finding.objects.get()
    queue.add(website, by="ada", trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)
    job = Worker(NAME, [engine(code, profile="standard")], lambda: False).run_one()
    assert (job.outcome, job.reason) == (outcome, reason)


def test_a_retest_by_an_optional_scanner_that_is_not_installed_says_that_it_is_missing():
    website = with_a_finding()
    finding = Finding.objects.get()
    queue.add(website, by="ada", trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)
    missing = engine("", command=["/nowhere/scanner", "$address", "$report"], optional=True)
    job = Worker(NAME, [missing], lambda: False).run_one()
    assert (job.state, job.reason) == ("failed", "engine_missing")


def test_a_retest_that_waits_runs_no_engine_that_attacks():
    website = with_a_finding()
    finding = Finding.objects.get()
    queue.add(website, by="ada", trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)
    attack = engine("raise SystemExit('it ran')", profile="deep")
    job = Worker(NAME, [attack], lambda: False).run_one()
    assert (job.state, job.reason, job.runs.count()) == ("failed", "engine_missing", 0)


ASK = """
import urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": sys.argv[4]}))
def ask(path="/"):
    try:
        return opener.open(urllib.request.Request(sys.argv[5].rstrip("/") + path)).status
    except OSError as error:
        return getattr(error, "code", 0)
"""


WRITE_HERE = WRITE.replace("https://shop.example.com", "http://shop.localhost")


def proxied(code, **fields):
    """Return an engine that reaches the website through the proxy."""
    stub = engine(ASK + code, **fields)
    command = [
        part.replace("host, address, report = sys.argv[1:]", "report = sys.argv[3]") for part in stub.command
    ]
    return msgspec.structs.replace(stub, command=[*command, "$proxy", "$url", "$agent"])


@pytest.mark.parametrize(
    ("robots", "page", "code", "outcome", "reason", "asked"),
    [
        (b"", answer(200), f"ask('/a'); {WRITE_HERE}", "complete", "", 1),
        (
            b"User-agent: *\nDisallow: /a",
            answer(200),
            f"ask('/a'); ask('/'); {WRITE_HERE}",
            "complete",
            "",
            1,
        ),
        (b"User-agent: *\nDisallow: /", answer(200), f"ask(); {WRITE}", "", "robots_txt", 0),
        (b"", answer(200), "while True: ask()", "", "too_many_requests", 5),
        (b"", answer(403), f"print([ask() for _ in range(4)]); {WRITE}", "blocked", "blocked", 4),
        (b"", hang_up, f"ask(); {WRITE}", "", "connect_failed", 1),
    ],
)
def test_an_engine_behind_the_proxy_keeps_the_rules(
    settings, monkeypatch, robots, page, code, outcome, reason, asked
):
    settings.ALLOW_PRIVATE_HOSTS = True
    monkeypatch.setattr(worker, "addresses_of", lambda _: ["127.0.0.1"])
    monkeypatch.setattr(proxy, "_FEW", 4)
    limits = dataclasses.replace(policy.PROFILES["quick"], requests=5)
    monkeypatch.setattr(policy, "PROFILES", {**policy.PROFILES, "quick": limits})
    with FaultServer(answer(200, robots), page) as server:
        settings.LOCALHOST_WEBSITES = {"shop.localhost": server.port}
        job = scan(proxied(code), website=factories.make_scannable("shop.localhost"))
    run = job.runs.get()
    assert (job.outcome, job.reason, run.reason) == (outcome, reason, reason), run.log
    assert server.connections == 1 + asked
    if reason in ("robots_txt", "blocked"):
        assert Coverage.objects.get().state == "failed"
    assert Finding.objects.exists() == (outcome == "complete")


def test_the_robots_txt_of_a_website_without_https_is_obeyed(monkeypatch):
    internet = Internet(monkeypatch)
    with FaultServer(answer(200, b"User-agent: *\nDisallow: /")) as plain:
        internet.serve(plain, address=ADDRESS)
        job = scan(proxied(WRITE))
    assert (job.reason, plain.connections) == ("robots_txt", 1)


@pytest.mark.parametrize(("kind", "value"), [("host", "www.shop.example.com"), ("prefix", f"{OTHER}/32")])
def test_a_redirect_of_robots_txt_to_a_host_that_opted_out_is_not_followed(monkeypatch, kind, value):
    ScanOptOut.objects.create(kind=kind, value=value, reason="They asked", by="ada")
    internet = Internet(monkeypatch)
    internet.zone["www.shop.example.com."] = [OTHER]
    away = [("Location", "http://www.shop.example.com/robots.txt")]
    with FaultServer(answer(301, headers=away)) as server, FaultServer(answer(404)) as www:
        internet.serve(server, address=ADDRESS)
        internet.serve(www, address=OTHER)
        scan(proxied(WRITE))
    assert server.connections == 1
    assert {address for address, _ in internet.connected} == {ADDRESS}


def test_two_engines_of_one_source_do_not_fix_findings_of_each_other():
    website = with_a_finding()
    clean = [{**REPORT[0]}, {"checked": "https://shop.example.com/"}, {"complete": True}]
    job = scan(engine(lines(*clean), name="stub-2", source="stub", category="attacks"), website=website)
    assert job.outcome == "complete"
    assert Finding.objects.get().status == "open"


def test_engines_send_the_user_agent_of_their_scan(settings):
    settings.SCANNER_URL = "https://scans.example.com/scanner"
    stub = engine(f"print(sys.argv[4]); {WRITE}")
    command = [part.replace("sys.argv[1:]", "sys.argv[1:4]") for part in stub.command]
    job = scan(msgspec.structs.replace(stub, command=[*command, "$agent"]))
    assert job.runs.get().log == f"ThreatDashboard/1 (+https://scans.example.com/scanner; job={job.pk})"
