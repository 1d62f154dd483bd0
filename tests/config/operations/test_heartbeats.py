"""Heartbeats of the commands that cron runs: stored, late in time, shown to staff."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from config.models import Run
from config.operations import heartbeats
from config.operations.heartbeats import last_runs
from foundation.operations.heartbeats import Beat
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def beat(*, ago, ok=True, command="prune", found=None):
    ended = NOW - ago
    fields = {"interval": HOUR, "began": ended, "ended": ended, "summary": "Done.", "found": found}
    heartbeats.store(beat=Beat(command=command, ok=ok, **fields))


def late():
    return [run.command for run in last_runs(NOW) if run.is_late]


def test_a_command_for_cron_leaves_a_run_with_its_result():
    call_command("prune")
    [run] = Run.objects.all()
    assert (run.command, run.interval, run.ok) == ("prune", HOUR, True)
    assert run.summary.startswith("Deleted 0 expired nonces")
    assert run.began <= run.ended


def test_a_run_that_fails_says_why(tmp_path):
    with pytest.raises(CommandError):
        call_command("import_inbox", str(tmp_path / "nowhere"))
    [run] = Run.objects.all()
    assert not run.ok
    assert "is not a folder" in run.summary


def test_other_commands_and_trials_leave_none():
    call_command("verify_audit")
    call_command("notify", "--dry-run")
    assert not Run.objects.exists()


def test_a_run_while_the_clock_was_ahead_hides_no_late_command():
    beat(ago=3 * HOUR)
    beat(ago=-20 * 24 * HOUR)
    assert late() == ["prune"]
    assert last_runs(NOW)[0].succeeded == NOW - 3 * HOUR


def test_a_command_that_lacks_settings_is_not_late_but_one_that_has_run_becomes_so():
    call_command("notify")
    assert not Run.objects.exists()
    beat(ago=3 * HOUR, command="notify")
    call_command("notify")
    assert late() == ["notify"]


def test_a_command_is_late_without_success_for_twice_its_interval():
    beat(ago=2 * HOUR, command="in_time")
    beat(ago=2 * HOUR + timedelta(seconds=1), command="stopped")
    beat(ago=3 * HOUR, command="failing")
    beat(ago=timedelta(0), ok=False, command="failing")
    assert late() == ["failing", "stopped"]
    beat(ago=timedelta(0), command="failing")
    assert late() == ["stopped"]


def test_runs_are_kept_for_thirty_days():
    beat(ago=31 * 24 * HOUR)
    beat(ago=29 * 24 * HOUR)
    beat(ago=timedelta(0))
    assert Run.objects.count() == 2


def test_what_a_command_found_holds_until_a_run_looks_again():
    beat(ago=5 * HOUR, command="reconcile_billing", found=2)
    beat(ago=4 * HOUR, command="reconcile_billing", ok=False)
    beat(ago=HOUR)
    found = {run.command: run.found for run in last_runs(NOW)}
    assert found == {"reconcile_billing": 2, "prune": None}
    beat(ago=HOUR, command="reconcile_billing", found=0)
    assert {run.found for run in last_runs(NOW)} == {0, None}


def test_the_home_of_staff_shows_what_a_command_found_with_the_run(client):
    beat(ago=HOUR, command="reconcile_billing", found=2)
    beat(ago=HOUR)
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    [panel] = [each for each in client.get("/admin/").context["panels"] if each.title == "Scheduled commands"]
    [figure] = [each for each in panel.figures if str(each.label) == "Found by reconcile_billing"]
    assert (figure.number, figure.tone) == ("2", "high")
    assert client.get(figure.url).context["cl"].result_count == 1


def test_a_run_that_cannot_be_stored_does_not_fail_its_command(monkeypatch, caplog):
    def fail(**_):
        raise DatabaseError("disk full")

    monkeypatch.setattr(Run.objects, "create", fail)
    call_command("prune")
    assert "the run of prune is not stored: " in caplog.text
    assert "Traceback" not in caplog.text


def test_the_home_of_staff_names_a_late_command(client):
    Run.objects.create(
        command="prune", interval=HOUR, began=NOW - 900 * HOUR, ended=NOW - 900 * HOUR, ok=True
    )
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    assert "prune is late" in client.get("/admin/").text
    assert "prune" in client.get("/admin/config/run/?command=prune").text
