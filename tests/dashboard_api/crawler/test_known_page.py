"""Whether the website itself answers: a page of another closes and opens no finding, with any status."""

import json
import os
import socket
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from dashboard_api.crawler import known_page, policy, queue, retests, worker
from dashboard_api.crawler.worker import Worker
from dashboard_api.models import Coverage, Finding, ScanJob
from foundation.outbound.names import origin_of
from tests import factories
from tests.dashboard_api.crawler.engines import engine
from tests.dashboard_api.crawler.placeholders import (
    FIXED,
    FIXED_WEBSITE,
    INSTEAD,
    OTHERS,
    PLACEHOLDERS,
    REDESIGN,
    WEBSITE,
    page,
)
from tests.faults.server import FaultServer, http

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.usefixtures("crawler")]
HOST = "shop.localhost"
ESSENTIALS = engine(name="essentials", command=["$essentials", "$host", "$address", "$report"])
EXPOSED_FILES = engine(
    name="exposed-files", command=["$exposed", "$host", "$address", "$report"], profile="standard"
)
SECRET = http(200, b"DB_PASSWORD=hunter2-secret\n", headers=[("Content-Type", "text/plain")])
# The page in another language is the website itself, so that a second day may accept it.
PAGES_OF_OTHERS = PLACEHOLDERS | OTHERS | {kind: INSTEAD[kind] for kind in ("error", "queue")}
DAY = timedelta(days=1)


class Weak:
    """A website on loopback, whose page can be exchanged."""

    def __init__(self):
        self.shown, self.row = WEBSITE, factories.make_scannable(HOST)
        self.scanners = lambda: [self.probe()]

    def __call__(self, server, connection):
        if connection.recv(1, socket.MSG_PEEK) == b"\x16":  # there is no https
            return
        server.receive(connection)
        path = server.received[-1].head.split()[1].decode()
        shown = SECRET if path == "/.env" and self.shown == WEBSITE else self.shown
        connection.sendall(shown(path) if callable(shown) else shown)

    def scan(self, shown=None, **asked):
        self.shown = shown or self.shown
        queue.add(self.row, by="ada", **asked)
        return Worker(f"w{os.getpid()}", self.scanners(), lambda: False).run_one()

    def probe(self):
        """Return a quick scanner, which reports a page without a policy."""
        at = f"{origin_of(HOST)}/"
        problem = {"finding": "csp-missing", "title": "No policy", "severity": "low", "location": at}
        found = [] if b"Content-Security-Policy" in self.shown else [problem]
        head = {"scan": "findings/1", "source": "probe", "name": "Probe"}
        rows = map(json.dumps, [head, {"checked": at}, *found, {"complete": True}])
        return engine(f"open(report, 'w').write({chr(10).join(rows)!r})", name="probe")

    def retest(self, finding):
        return self.scan(trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)

    def open(self):
        return set(Finding.objects.filter(status="open").values_list("pk", "rule"))


def let_a_day_pass():
    ScanJob.objects.update(
        created_at=F("created_at") - DAY, started_at=F("started_at") - DAY, ended_at=F("ended_at") - DAY
    )


@pytest.fixture
def weak(settings, monkeypatch):
    settings.ALLOW_PRIVATE_HOSTS = True
    monkeypatch.setattr(retests, "PAUSE_SECONDS", 0)
    weak = Weak()
    with FaultServer(weak) as server:
        settings.LOCALHOST_WEBSITES = {HOST: server.port}
        yield weak


@pytest.mark.slow
def test_pages_in_the_place_of_the_website_close_and_open_nothing_on_three_days(weak, monkeypatch):
    check_three_days(weak, monkeypatch, dict([*PAGES_OF_OTHERS.items()][::8]))


@pytest.mark.long
def test_30_pages_of_protections_and_placeholders_close_and_open_nothing_on_three_days(weak, monkeypatch):
    assert len({str(page) for page in PAGES_OF_OTHERS.values()}) == len(PAGES_OF_OTHERS) >= 30
    check_three_days(weak, monkeypatch, PAGES_OF_OTHERS)


def check_three_days(weak, monkeypatch, pages):
    monkeypatch.setattr(policy, "CONNECTIONS_A_SECOND", 1000.0)
    weak.scanners = lambda: [ESSENTIALS, EXPOSED_FILES]
    assert weak.scan(profile="standard").outcome == "complete"
    found, first = weak.open(), ScanJob.objects.get().pk
    assert len(found) >= 12, found
    assert "credentials-exposed" in {rule for _, rule in found}
    for kind, shown in pages.items():
        for day in range(3):
            let_a_day_pass()
            job = weak.scan(shown, profile="standard")
            assert (job.outcome, job.reason) == ("different", "page_changed"), (kind, day)
        again = weak.retest(Finding.objects.filter(rule="csp-missing").get())
        assert (again.outcome, again.reason) == ("inconclusive", "page_changed"), kind
        assert (weak.open(), Finding.objects.count()) == (found, len(found)), kind
        assert Coverage.objects.get(source__slug="essentials").state == "failed"
        ScanJob.objects.exclude(pk=first).delete()
    let_a_day_pass()
    back = weak.scan(WEBSITE, profile="standard")
    assert (back.outcome, weak.open() == found) == ("complete", True)


@pytest.mark.parametrize("shown", INSTEAD.values(), ids=INSTEAD)
def test_a_page_of_an_error_or_in_another_language_fixes_nothing(weak, shown):
    weak.scan()
    found = weak.open()
    let_a_day_pass()
    job = weak.scan(shown)
    assert (job.outcome, job.reason) == ("different", "page_changed")
    again = weak.retest(Finding.objects.get())
    assert (again.outcome, again.reason) == ("inconclusive", "page_changed")
    assert weak.open() == found
    let_a_day_pass()
    assert (weak.scan(FIXED_WEBSITE).outcome, weak.open()) == ("complete", set())


@pytest.mark.slow
def test_a_website_that_was_fixed_closes_its_findings_at_once(weak):
    weak.scanners = lambda: [ESSENTIALS]
    weak.scan()
    finding = Finding.objects.get(rule="csp-missing")
    let_a_day_pass()
    weak.shown = FIXED_WEBSITE
    assert weak.retest(finding).outcome == "gone"
    let_a_day_pass()
    job = weak.scan()
    assert (job.outcome, job.reason) == ("complete", "")
    assert {rule for _, rule in weak.open()} <= {
        "https-not-offered",
        "https-not-enforced",
        "cookie-without-secure",
    }


def test_a_redesign_is_accepted_by_a_scan_on_another_day(weak):
    weak.scan()
    found = weak.open()
    let_a_day_pass()
    for _ in range(2):  # also by hand on the same day
        job = weak.scan(REDESIGN)
        assert (job.outcome, weak.open()) == ("different", found)
        ScanJob.objects.filter(pk=job.pk).update(created_at=F("created_at") - timedelta(hours=1))
    let_a_day_pass()
    assert (weak.scan().outcome, weak.open()) == ("complete", set())


def test_a_retest_never_accepts_a_redesign(weak):
    weak.scan()
    let_a_day_pass()
    weak.scan(REDESIGN)
    let_a_day_pass()
    finding = Finding.objects.filter(status="open").first()
    assert weak.retest(finding).outcome == "inconclusive"
    finding.refresh_from_db()
    assert finding.status == "open"


def test_a_page_that_was_confirmed_is_known_to_the_next_scan(weak):
    weak.scan()
    let_a_day_pass()
    held = weak.scan(page("The new shop", '<div id="app"></div><script src="/b/3f9.js"></script>', FIXED))
    assert known_page.confirm(held, by="ada", now=timezone.now())
    assert not known_page.confirm(held, by="ada", now=timezone.now())
    let_a_day_pass()
    job = weak.scan()
    assert (job.outcome, weak.open()) == ("complete", set())
    assert not known_page.confirm(job, by="ada", now=timezone.now())


def test_without_an_earlier_page_nothing_is_fixed_and_the_next_scan_can(weak):
    weak.scan()
    ScanJob.objects.all().delete()
    found = weak.open()
    finding = Finding.objects.get(rule="csp-missing")
    weak.shown = FIXED_WEBSITE
    again = weak.retest(finding)
    assert (again.outcome, again.reason) == ("inconclusive", "first_look")
    ScanJob.objects.all().delete()
    job = weak.scan()
    assert (job.outcome, job.reason) == ("partial", "first_look")
    assert weak.open() == found
    let_a_day_pass()
    assert (weak.scan().outcome, weak.open()) == ("complete", set())


def test_without_an_earlier_page_a_placeholder_does_not_become_the_known_one(weak):
    weak.scan()
    ScanJob.objects.all().delete()
    found = weak.open()
    for _ in range(3):
        assert weak.scan(PLACEHOLDERS["suspended"]).outcome == "different"
        let_a_day_pass()
    assert weak.open() == found
    assert weak.scan(WEBSITE).outcome == "partial"


def test_findings_of_a_scanner_that_does_not_run_now_are_protected_as_well(weak):
    weak.scan()
    ScanJob.objects.update(page=None)
    weak.scanners = lambda: [engine("raise SystemExit('it ran')", name="another")]
    let_a_day_pass()
    assert weak.scan(PLACEHOLDERS["suspended"]).outcome == "different"


def test_findings_of_reports_that_a_customer_sent_do_not_hold_a_first_scan(weak):
    factories.make_finding(weak.row, source=factories.make_source("zap"))
    assert weak.scan(PLACEHOLDERS["script only"]).outcome == "complete"


def test_a_page_that_changes_while_a_scanner_runs_leaves_its_report_out(weak, monkeypatch):
    weak.scan()
    found = weak.open()
    let_a_day_pass()
    run = worker.run_engine

    def run_and_change(*values, **named):
        weak.shown = PLACEHOLDERS["captcha"]
        return run(*values, **named)

    monkeypatch.setattr(worker, "run_engine", run_and_change)
    job = weak.scan()
    assert (job.outcome, job.page["title"]) == ("different", "Are you a human?")
    assert weak.open() == found


def test_a_website_without_findings_that_looks_different_is_accepted_if_it_has_content(weak):
    weak.scan()
    Finding.objects.update(status="fixed", fixed_at=timezone.now())
    let_a_day_pass()
    assert weak.scan(PLACEHOLDERS["parked"]).outcome == "different"
    assert not weak.open()
    let_a_day_pass()
    assert weak.scan(REDESIGN).outcome == "complete"


def test_a_cancelled_scan_says_nothing_about_the_page(weak, monkeypatch):
    look = worker._Canary.look

    def cancel(canary):
        ScanJob.objects.get(ended_at=None).cancel(by="ada")
        return look(canary)

    monkeypatch.setattr(worker._Canary, "look", cancel)
    job = weak.scan()
    assert (job.state, job.page) == ("cancelled", None)
