import json
import shutil
from collections import namedtuple
from datetime import timedelta

import msgspec
import pytest
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.models import Run
from config.operations import doctor
from config.operations.resealing import opens, sealed_rows
from dashboard_api.billing.snapshots import LAST_DAY, Snapshot
from dashboard_api.crawler import wall
from dashboard_api.models import CallbackEvent, Nonce, Published, Secret, Subscription
from tests.config.operations.test_environment import NEEDED, TWO
from tests.factories import make_account, make_plan

pytestmark = pytest.mark.django_db


def lines_about(name):
    return [line for line in doctor.problems() if name in line]


def test_a_secret_that_no_master_key_opens_is_named(settings):
    make_account("acct_0001")
    assert lines_about("MASTER_KEYS") == []
    settings.MASTER_KEYS = [TWO]
    [line] = lines_about("MASTER_KEYS")
    assert "of acct_0001" in line
    assert "put back the key" in line


def test_a_worker_of_scans_without_its_wall_is_a_problem(settings, monkeypatch):
    monkeypatch.setattr(wall, "problem_here", lambda: "it is not installed")
    settings.CRAWLER_WALL = True
    assert lines_about("bubblewrap") == []
    settings.CRAWLER_ENABLED = True
    assert ["it is not installed" in line for line in lines_about("bubblewrap")] == [True]


def test_a_lost_secret_that_was_revoked_is_no_problem(settings):
    account = make_account("acct_0001")
    lost = account.secrets.get()
    settings.MASTER_KEYS = [TWO]
    call_command("revoke_secret", "acct_0001", str(lost.pk))
    assert lines_about("MASTER_KEYS") == []
    retired, _ = Secret.objects.issue(account, by="Robin")
    Secret.objects.filter(pk=retired.pk).update(
        sealed="lost", state="retiring", retires_at=timezone.now() - timedelta(seconds=1)
    )
    assert lines_about("MASTER_KEYS") == []


def test_a_start_looks_at_the_newest_secret_that_was_not_revoked(settings):
    account = make_account("acct_0001")
    newest, _ = Secret.objects.issue(account, by="Robin")
    newest.revoke(now=timezone.now())
    settings.MASTER_KEYS = [TWO]
    [row] = sealed_rows(newest_only=True)
    assert not opens(row)


def test_secrets_that_an_older_master_key_sealed_are_counted_until_reseal_has_run(settings):
    make_account("acct_0001")
    settings.MASTER_KEYS = [TWO, *settings.MASTER_KEYS]
    [line] = lines_about("MASTER_KEYS")
    assert "1 secret is sealed with an older one of MASTER_KEYS" in line
    assert "reseal" in line
    call_command("reseal")
    assert lines_about("MASTER_KEYS") == []


@pytest.fixture
def start(monkeypatch):
    monkeypatch.setattr(doctor.connections, "close_all", lambda: None)
    monkeypatch.setattr(doctor.health.READINESS, "failed", lambda: None)  # in another thread
    return doctor.start


def test_a_start_is_refused_for_errors_and_logs_warnings(settings, start, caplog):
    settings.PORTAL_BASE_URL = "https://portal.example.org"
    start()
    assert "ALLOWED_HOSTS lacks portal.example.org" in caplog.text
    settings.SITE_API_SECRET = "half-of-a-pair-of-settings"
    with pytest.raises(ImproperlyConfigured, match=r"^PORTAL_ACCOUNT_REF .* \(config\.E002\)$"):
        start()


def test_errors_stop_the_start_and_so_are_named_alone(settings):
    make_account("acct_0001")
    settings.MASTER_KEYS = [TWO]
    assert len(lines_about("MASTER_KEYS")) == 1
    settings.SITE_API_SECRET = "half-of-a-pair-of-settings"
    [line] = doctor.problems()
    assert line.startswith("PORTAL_ACCOUNT_REF")


def test_a_full_disk_comes_first(monkeypatch, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # another problem
    usage = namedtuple("Usage", "total used free")(100, 96, 4)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    first, *_ = doctor.problems()
    assert first.startswith("Less than 5% of the disk of /")


def test_messages_of_checks_come_in_one_order_the_worst_first(monkeypatch):
    messages = [
        checks.Warning("b", id="a.W1"),
        checks.Error("c", id="a.E1"),
        checks.Warning("a", id="a.W1"),
        checks.Critical("d", id="z"),
    ]
    for found in (messages, messages[::-1]):
        monkeypatch.setattr(doctor, "run_checks", lambda found=found, tags=None, **_: [] if tags else found)
        lines = [
            f"{each} ({number})" for each, number in (("d", "z"), ("c", "a.E1"), ("a", "a.W1"), ("b", "a.W1"))
        ]
        assert doctor.problems() == lines


def test_a_redis_that_does_not_answer_is_named(settings):
    assert lines_about("REDIS_URL") == []
    settings.REDIS_URL = "redis://user:hidden@127.0.0.1:1/0"
    [line] = lines_about("REDIS_URL")
    assert "Connection refused" in line
    assert "Pages and calls work" in line
    assert "hidden" not in line


def test_a_command_that_is_late_is_named():
    ended = timezone.now() - timedelta(hours=3)
    run = {"interval": timedelta(hours=1), "began": ended, "ended": ended, "ok": True}
    Run.objects.create(command="seal_audit", **run)
    [line] = lines_about("Late")
    assert "seal_audit" in line
    assert "journalctl -u dashboard-job@seal_audit" in line


def test_calls_that_are_refused_after_a_restore_are_named():
    assert lines_about("Signed calls") == []
    until = Nonce.objects.raise_fence(timezone.now())
    [line] = lines_about("Signed calls")
    assert line.startswith(
        f"Signed calls are refused until {until:%H:%M:%S} UTC, because a backup was restored"
    )
    Nonce.objects.raise_fence(timezone.now() - timedelta(minutes=6))
    assert lines_about("Signed calls") == []


def test_old_public_documents_are_named(settings):
    made_at = timezone.now() - timedelta(hours=27)
    Published.objects.create(kind="feed", made_at=made_at, body="{}")
    line = f"Public telemetry was made on {made_at:%Y-%m-%d}: run 'manage.py publish_telemetry' every hour."
    assert lines_about("Public telemetry") == [line]
    settings.PUBLIC_TELEMETRY = False
    assert lines_about("Public telemetry") == []


def test_what_djangos_checks_find_fails_the_command(settings):
    settings.PORTAL_BASE_URL = "https://portal.example.org"
    with pytest.raises(CommandError, match="ALLOWED_HOSTS"):
        call_command("doctor")


def test_scripts_read_the_problems_as_json(settings, capsys, monkeypatch):
    settings.PORTAL_BASE_URL = "https://portal.example.org"
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert ended.value.code == 1
    assert any("ALLOWED_HOSTS" in problem for problem in printed["problems"])
    monkeypatch.setattr(doctor, "problems", list)
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json")
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["problems"] == []


def test_what_the_settings_silence_is_no_problem(settings):
    settings.HTTPS, settings.SECURE_HSTS_SECONDS, settings.PORTAL_BASE_URL = True, 3600, "http://localhost"
    settings.DASHBOARD_BASE_URL = ""
    assert lines_about("SECURE_HSTS_PRELOAD") == []
    settings.SILENCED_SYSTEM_CHECKS = []
    assert len(lines_about("SECURE_HSTS_PRELOAD")) == 1


def test_a_database_without_tables_lacks_migrations(checkout, tmp_path):
    done = checkout.manage("doctor", **NEEDED, DATABASE_URL=f"sqlite:///{tmp_path}/records.sqlite3")
    assert done.returncode == 1
    assert "run 'manage.py migrate'." in done.stderr
    assert "run 'manage.py migrate --database short_lived'." in done.stderr
    assert "cannot be used" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_is_away_is_one_line(checkout):
    done = checkout.manage("doctor", **NEEDED, DATABASE_URL="postgres://postgres@127.0.0.1:1/nothing")
    assert done.returncode == 1
    assert "DATABASE_URL names a database that cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_payment_callbacks_that_need_a_person_are_named():
    assert lines_about("Payment callbacks") == []
    late = timezone.now() - timedelta(minutes=16)
    CallbackEvent.objects.create(provider="standard", event_id="msg_1", state="dead")
    CallbackEvent.objects.create(provider="standard", event_id="msg_2", state="failed", next_at=late)
    for provider, minutes in (("standard", 61), ("stripe", 59)):
        received = timezone.now() - timedelta(minutes=minutes)
        CallbackEvent.objects.create(provider=provider, event_id="a", state="waiting", received_at=received)
    dead, overdue, waiting = lines_about("Payment callbacks")
    assert "more than an hour: 1. Correct the reference for payments" in waiting
    assert "given up: 1." in dead
    assert "tried again: 1. Run 'manage.py process_callbacks'" in overdue


def test_payment_callbacks_that_contradict_each_other_are_named():
    assert lines_about("contradict") == []
    account = make_account()
    for number, until in enumerate((None, timezone.now())):
        Subscription.objects.create(account=account, object_id=f"sub_{number}", unclear_until=until)
    [line] = lines_about("contradict")
    assert "contradict each other: 1. With STRIPE_API_KEY" in line


def test_entitlements_that_differ_from_what_was_paid_are_named():
    account = make_account()
    make_plan()
    assert lines_about("differ from what was paid") == []
    call_command("reconcile_billing", verbosity=0)
    assert lines_about("differ from what was paid") == []
    held = Snapshot(object_id="sub_1", order=(1, 1), status="active", ends_on=LAST_DAY, plan="team")
    Subscription.objects.create(
        provider="standard", account=account, object_id="sub_1", held=[msgspec.to_builtins(held)]
    )
    call_command("reconcile_billing", verbosity=0)
    [line] = lines_about("differ from what was paid")
    assert "paid: 1. 'manage.py reconcile_billing' lists" in line
    call_command("reconcile_billing", repair=True, by="ada", verbosity=0)
    assert lines_about("differ from what was paid") == []


def test_a_pause_of_judging_proofs_is_a_problem(monkeypatch):
    assert lines_about("proofs of ownership") == []
    monkeypatch.setattr("dashboard_api.ownership.claims.unasked_share", lambda _: (0.3, 9))
    [line] = lines_about("proofs of ownership")
    assert "Of 9" in line
    assert "30% could not be asked for" in line
