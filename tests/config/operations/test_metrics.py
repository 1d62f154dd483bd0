"""Metrics: who may read them, what they count, and alert rules that fire and clear."""

import itertools
import os
import re
import subprocess
import sys
from datetime import timedelta

import pytest
import yaml
from django.conf import settings as deployment
from django.db.models import Model
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from config.models import Run
from config.operations import health, metrics
from dashboard_api.models import CallbackEvent, Coverage, Nonce, ReportJob
from foundation.operations import metrics as counters
from foundation.operations.health import Readiness
from portal.gateway.health import MAX_FAILURES, Health
from portal.models import PendingNotification
from tests.dashboard_api.api.reports import make_token
from tests.dashboard_api.disputes import ask
from tests.factories import (
    make_finding,
    make_import_run,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db
TOKEN = "0123456789abcdefghijklmnopqrstuv"
RULES = yaml.safe_load((deployment.BASE_DIR / "deploy/alerts.yml").read_text())["groups"][0]["rules"]
RULES = [rule for rule in RULES if "up{" not in rule["expr"]]  # tests/deploy/test_alerts.py has these
# An expression of deploy/alerts.yml: a gauge, or the increase of a counter.
EXPRESSION = re.compile(r"(increase\()?(\w+)(?:\{(\w+)(=~?)\"(.*)\"\})?(?:\[\w+\]\))? (==|>) ([\d.]+)")


@pytest.fixture(autouse=True)
def _token(settings, monkeypatch):
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(health, "READINESS", Readiness({"database": lambda: None}))


@pytest.fixture
def scrape(client):
    counters.note_breaker(is_open=False)  # of an earlier test

    def read():
        metrics._database_gauges.cache_clear()
        response = client.get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")
        assert response.status_code == 200
        return [
            sample for family in text_string_to_metric_families(response.text) for sample in family.samples
        ]

    return read


def fires(rule, before, after):
    """Return whether the rule holds for any series, between two scrapes."""
    increase, name, label, operator, wanted, comparison, bound = EXPRESSION.fullmatch(rule["expr"]).groups()
    earlier = {(sample.name, *sample.labels.items()): sample.value for sample in before}
    for sample in after:
        pattern = wanted if operator == "=~" else re.escape(wanted or "")
        if sample.name != name or (label and not re.fullmatch(pattern, sample.labels[label])):
            continue
        value = sample.value - (earlier.get((name, *sample.labels.items()), 0) if increase else 0)
        if value == float(bound) if comparison == "==" else value > float(bound):
            return True
    return False


@pytest.mark.parametrize("header", ["", "Bearer ", f"Bearer {TOKEN}x", f"bearer {TOKEN}", "Bearer ü"])
def test_metrics_need_the_token(client, header):
    response = client.get("/metrics", HTTP_AUTHORIZATION=header)
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    assert "threat_dashboard" not in response.text


def test_without_a_token_in_the_settings_there_are_none(client, settings):
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer ").status_code == 404


def test_requests_are_counted_by_route_and_status_alone(client, scrape):
    def counted():
        return {tuple(s.labels.values()): s.value for s in scrape() if s.name.endswith("_requests_total")}

    before = counted()
    client.get("/v1/nothing-of-acct_0001")
    client.get("/sites/shop.example.com/")
    client.get("/no-such-page")
    after = counted()
    added = {labels for labels, value in after.items() if value > before.get(labels, 0)}
    assert added >= {("/v1/", "404"), ("pages", "302"), ("other", "404")}
    assert not any("shop" in label or "acct" in label for labels in after for label in labels)


def test_depths_are_remembered_between_scrapes(client, scrape, django_assert_num_queries):
    scrape()
    with django_assert_num_queries(0):
        client.get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")


def test_a_database_that_is_away_leaves_the_other_metrics(client, monkeypatch):
    def fail():
        raise OSError

    monkeypatch.setattr(health, "READINESS", Readiness({"database": fail}))
    text = client.get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}").text
    assert 'threat_dashboard_ready{check="database"} 0.0' in text
    assert "threat_dashboard_nonces" not in text


def test_the_counts_of_all_workers_are_added_and_outlive_them(tmp_path):
    count = (
        "from foundation.operations import metrics as m; m.count_refusal('x'); m.note_breaker(is_open=True)"
    )
    read = (
        "from prometheus_client import generate_latest; from foundation.operations.metrics import registry; "
    )
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    outputs = [
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True).stdout
        for code in (count, count, f"{read} print(generate_latest(registry()).decode())")
    ]
    assert 'threat_dashboard_refusals_total{code="x"} 2.0' in outputs[-1].decode()
    assert "threat_dashboard_breakers_open 2.0" in outputs[-1].decode()
    for file in tmp_path.glob("gauge_live*"):
        file.unlink()  # as gunicorn.conf.py does when a worker ends
    read += "print(generate_latest(registry()).decode())"
    rest = subprocess.run([sys.executable, "-c", read], env=environment, check=True, capture_output=True)
    assert "threat_dashboard_breakers_open 2.0" not in rest.stdout.decode()


# A server whose workers end again and again, with the hooks of gunicorn.conf.py; prints files and metrics.
RESTARTING = """
import os, runpy, sys
from types import SimpleNamespace
hooks = runpy.run_path("gunicorn.conf.py")
from foundation.operations import metrics
server = SimpleNamespace(WORKERS={})

def start():
    worker = SimpleNamespace()
    hooks["pre_fork"](server, worker)
    pid = os.fork()
    if not pid:
        hooks["post_fork"](server, worker)
        metrics.count_refusal("x")
        metrics.count_request("/", 200, 0.1)
        metrics.note_breaker(is_open=True)
        os._exit(0)
    server.WORKERS[pid] = worker

start()
start()
for _ in range(int(sys.argv[1])):
    pid, _ = os.wait()
    hooks["child_exit"](server, server.WORKERS.pop(pid))
    start()
for pid in server.WORKERS:
    os.waitpid(pid, 0)
folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
print(sorted(os.listdir(folder)))
from prometheus_client import generate_latest
print(generate_latest(metrics.registry()).decode())
import shutil
shutil.rmtree(folder)
"""


def restarted(times):
    """Return the number of files and the metrics after so many restarts of workers."""
    command = [sys.executable, "-c", RESTARTING, str(times)]
    done = subprocess.run(command, cwd=deployment.BASE_DIR, check=True, capture_output=True, text=True)
    files, _, text = done.stdout.partition("\n")
    return len(files.split(",")), text


@pytest.mark.once
def test_a_hundred_restarts_leave_no_more_files_than_one_and_lose_no_count():
    files, _ = restarted(2)
    again, text = restarted(100)
    assert again == files
    assert 'threat_dashboard_refusals_total{code="x"} 102.0' in text
    assert "threat_dashboard_breakers_open 2.0" in text  # of the two that gunicorn has not seen end


# What makes each rule fire; counters clear by themselves, the others undo what they did.


def requests_fail(_):
    for _ in range(6):
        counters.count_request("/v1/site/dashboard", 503, 0.1)


def refused(code, times):
    return lambda _: [counters.count_refusal(code) for _ in range(times)]


def upstream_fails(_):
    for _ in range(6):
        counters.count_service_call("TimedOut")


def last_answer_shown(_):
    counters.count_last_answer()


def breaker_opens(_):
    health = Health()
    for _ in range(MAX_FAILURES):
        health.record(failed=True)
    return health


def not_ready(monkeypatch):
    def fail():
        raise OSError

    monkeypatch.setattr(health, "READINESS", Readiness({"database": fail}))


def command_late(_):
    ended = timezone.now() - timedelta(hours=3)
    return Run.objects.create(command="prune", interval=timedelta(hours=1), began=ended, ended=ended, ok=True)


def database_slow(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(metrics.time, "perf_counter", lambda: next(ticks))


def nonces_pile_up(monkeypatch):
    monkeypatch.setattr(Nonce.objects, "count", lambda: 1_000_001)


def import_fails(_):
    return make_import_run(make_website(), state=Coverage.State.FAILED)


def report_waits(_):
    token, _ = make_token(link := make_link())
    created = timezone.now() - timedelta(hours=2)
    return ReportJob.objects.create(
        token=token, website=link.website, digest="", options={}, created_at=created
    )


def promise_overdue(_):
    return ask(link := make_link(), make_finding(link.website), now=timezone.now() - timedelta(days=30))


def callback_dead(_):
    return CallbackEvent.objects.create(provider="standard", event_id="msg_1", state="dead")


def entitlement_differs(_):
    now = timezone.now()
    fields = {"interval": timedelta(days=1), "began": now, "ended": now, "ok": True}
    return Run.objects.create(command="reconcile_billing", found=1, **fields)


def callbacks_refused(_):
    for _ in range(21):
        counters.count_callback("standard", "refused")


def notification_waits(_):
    website = make_portal_website(make_portal_account())
    created = timezone.now() - timedelta(days=2, hours=1)
    membership = make_membership(make_user(), website.account)
    return PendingNotification.objects.create(
        membership=membership, website=website, digest="{}", created_at=created
    )


FIRING = {
    "NotReady": not_ready,
    "CommandLate": command_late,
    "ServerErrors": requests_fail,
    "InvalidSignatures": refused("invalid_signature", 101),
    "StaleTimestamps": refused("stale_timestamp", 21),
    "ReplayedNonces": refused("replayed_nonce", 21),
    "RateLimited": refused("rate_limited", 101),
    "UpstreamFails": upstream_fails,
    "LastAnswersShown": last_answer_shown,
    "BreakerOpen": breaker_opens,
    "SlowDatabase": database_slow,
    "NoncesPileUp": nonces_pile_up,
    "ImportsFail": import_fails,
    "ReportsWait": report_waits,
    "CallbacksUndelivered": callback_dead,
    "BillingDrift": entitlement_differs,
    "CallbacksRefused": callbacks_refused,
    "PromiseOverdue": promise_overdue,
    "NotificationsWait": notification_waits,
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_rule_fires_and_clears(rule, scrape, monkeypatch):
    before = scrape()
    assert not fires(rule, before, before)
    with monkeypatch.context() as patch:
        row = FIRING[rule["alert"]](patch)
        broken = scrape()
        assert fires(rule, before, broken)
    if isinstance(row, Model):
        row.delete()
    if isinstance(row, Health):
        row.record(failed=False)
    assert not fires(rule, broken, scrape())
