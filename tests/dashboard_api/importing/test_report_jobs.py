"""Jobs of reports: imported by one process, once and as a whole, also after a process was killed."""

import os
import subprocess
import sys
import threading
import time
import uuid
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.api import report_views
from dashboard_api.importing import report_files, report_jobs, service
from dashboard_api.models import Finding, ImportRun, Nonce, ReportJob, ReportToken
from dashboard_api.ownership import claims
from foundation.operations.places import Places
from tests.commands import run, run_json
from tests.dashboard_api.api.reports import fetch, make_token, never_run, run_here, send
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.databases import url_of
from tests.factories import make_finding, make_link, make_source
from tests.racing import race

REPORT = json_lines(make_row())
KEY = {"Idempotency-Key": "run-1"}


@pytest.fixture(autouse=True)
def folder(tmp_path, settings):
    settings.REPORTS_FOLDER = tmp_path / "reports"
    return settings.REPORTS_FOLDER


@pytest.fixture
def token(transactional_db):
    return make_token(make_link())[1]


def waiting(monkeypatch, token, *, body=REPORT, **parameters):
    """Send a report whose import does not begin."""
    with monkeypatch.context() as patch:
        never_run(patch)
        response = send(Client(), token, body, **parameters)
    assert response.status_code == 202
    return response.json()["id"]


@pytest.mark.django_db(transaction=True)
def test_a_report_is_imported_in_a_thread_while_the_request_waits(client, token):
    assert send(client, token, REPORT).status_code == 200
    assert Finding.objects.count() == 1
    assert report_jobs._running == {}


@pytest.mark.django_db(transaction=True)
def test_an_import_that_takes_longer_than_the_request_waits_goes_on(client, token, monkeypatch):
    may_go_on = threading.Event()
    import_file = report_jobs.import_file

    def slow(*arguments, **options):
        assert may_go_on.wait(30)
        return import_file(*arguments, **options)

    monkeypatch.setattr(report_jobs, "import_file", slow)
    monkeypatch.setattr(limits, "REPORT_WAIT_SECONDS", 0)
    response = send(client, token, REPORT)
    assert response.status_code == 202
    sent = response.json()["id"]
    assert fetch(client, token, sent).status_code == 202  # which starts no second import
    may_go_on.set()
    for future in list(report_jobs._running.values()):
        future.result(30)
    assert fetch(client, token, sent).json()["reports"][0]["new"] == 1
    assert ImportRun.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_once_with_one_key_import_once(token, folder, monkeypatch):
    monkeypatch.setattr(report_views, "_places", Places(3))  # as if each came to a process of its own
    responses = race(lambda _: send(Client(), token, REPORT, headers=KEY), times=2)
    assert {response.status_code for response in responses} <= {200, 202}
    assert len({response.json()["id"] for response in responses}) == 1
    for future in list(report_jobs._running.values()):
        future.result(30)
    assert (ImportRun.objects.count(), ReportJob.objects.count()) == (1, 1)
    assert list(folder.iterdir()) == []


@pytest.mark.django_db(transaction=True)
def test_a_process_killed_in_the_middle_stores_nothing_half_and_the_next_imports_once(
    client, token, folder, monkeypatch
):
    rows = json_lines(*(make_row(template_id=f"rule-{number}") for number in range(1_500)))
    sent = waiting(monkeypatch, token, body=rows)
    importing = subprocess.Popen(
        [sys.executable, "-m", "tests.dashboard_api.importing.crash_of_a_report", sent],
        env=os.environ
        | {
            "DATABASE_URL": url_of(connection),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "REPORTS_OF_TESTS": str(folder),
        },
        cwd=django_settings.BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert importing.stdout.readline() == "in the middle\n"
        assert fetch(client, token, sent).status_code == 202  # another process has it
        assert report_jobs.run(uuid.UUID(sent)) is False
    finally:
        importing.kill()
        importing.communicate()
    assert not Finding.objects.exists()
    assert not ImportRun.objects.exists()
    assert ReportJob.objects.get().finished_at is None
    done = fetch_until_done(client, token, sent)
    assert done.json()["reports"][0]["new"] == 1_500
    assert (Finding.objects.count(), ImportRun.objects.count()) == (1_500, 1)
    assert ReportJob.objects.get().attempts == 2
    assert list(folder.iterdir()) == []


def fetch_until_done(client, token, sent):
    """Fetch the report, which resumes its import, and then its outcome."""
    fetch(client, token, sent)
    for future in list(report_jobs._running.values()):
        future.result(60)
    return fetch(client, token, sent)


@pytest.mark.django_db(transaction=True)
def test_a_crash_after_the_commit_repeats_nothing(client, token, folder, monkeypatch):
    sent = waiting(monkeypatch, token)
    with monkeypatch.context() as patch:
        patch.setattr(report_files, "delete", lambda _: None)
        assert report_jobs.run(uuid.UUID(sent))
    assert len(list(folder.iterdir())) == 1
    assert fetch(client, token, sent).status_code == 200
    assert report_jobs.run(uuid.UUID(sent))
    assert ImportRun.objects.count() == 1
    assert list(folder.iterdir()) == []


@pytest.mark.django_db(transaction=True)
def test_the_command_resumes_every_report_that_waits(token, folder, monkeypatch):
    first = waiting(monkeypatch, token)
    waiting(monkeypatch, token, body=b"hello")
    rows = run_json("resume_reports")["reports"]
    assert [(row["id"] == first, row["status"]) for row in rows] == [(True, 200), (False, 422)]
    assert list(folder.iterdir()) == []
    assert run("resume_reports") == "No reports are waiting.\n"


@pytest.mark.django_db(transaction=True)
def test_an_import_that_fails_again_and_again_is_given_up(client, token, folder, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(report_jobs, "import_file", broken)
    sent = send(client, token, REPORT).json()["id"]
    for _ in range(limits.MAX_REPORT_ATTEMPTS):
        fetch_until_done(client, token, sent)
    response = fetch(client, token, sent)
    assert (response.status_code, response.json()["error"]["code"]) == (500, "lost_report")
    assert list(folder.iterdir()) == []


@pytest.mark.django_db
def test_a_report_whose_token_is_revoked_while_it_waits_is_not_imported(monkeypatch, client):
    token, clear = make_token(make_link())
    sent = waiting(monkeypatch, clear)
    token.revoke(now=timezone.now())
    report_jobs.run(uuid.UUID(sent))
    assert ReportJob.objects.get().status == 401
    assert not Finding.objects.exists()


@pytest.mark.django_db
def test_a_report_whose_website_is_taken_from_the_account_while_its_bytes_come_is_not_imported(monkeypatch):
    link = make_link()
    sent = waiting(monkeypatch, make_token(link)[1])
    link.revoke(by="ada", reason="sold", now=timezone.now())
    report_jobs.run(uuid.UUID(sent))
    assert ReportJob.objects.get().status == 401
    assert not Finding.objects.exists()


SOLD = {"by": "ada", "reason": "sold"}


def withdraw(link, now):
    claims.withdraw(claims.add(link.account, link.website.host, by="ada", now=now), **SOLD, now=now)


REVOCATIONS = {
    "token": lambda link, now: link.account.report_tokens.get().revoke(now=now),
    "link": lambda link, now: link.revoke(**SOLD, now=now),
    "verification": lambda link, now: link.website.unverify(**SOLD, now=now),
    "claim": withdraw,
}


@pytest.mark.django_db
@pytest.mark.parametrize("revoke", REVOCATIONS.values(), ids=REVOCATIONS)
@pytest.mark.parametrize("dry_run", ["false", "true"])
def test_a_report_whose_sender_loses_the_right_while_it_is_read_changes_nothing(monkeypatch, revoke, dry_run):
    link = make_link()
    clear = make_token(link)[1]
    of_others = make_finding(link.website, source=make_source("nuclei"))
    sent = waiting(monkeypatch, clear, complete="true", dry_run=dry_run)
    read = service.read

    def slow(*arguments):
        revoke(link, timezone.now())
        return read(*arguments)

    monkeypatch.setattr(service, "read", slow)
    report_jobs.run(uuid.UUID(sent))
    job = ReportJob.objects.get()
    assert (job.status, job.outcome["code"]) == (401, "invalid_token")
    assert job.outcome["message"].endswith(" was revoked.")
    assert [(each.pk, each.status) for each in Finding.objects.all()] == [(of_others.pk, "open")]
    assert not ImportRun.objects.exists()
    assert not report_files.stored_jobs()


@pytest.mark.django_db
def test_prune_deletes_finished_jobs_and_what_crashes_left(client, monkeypatch, folder):
    run_here(monkeypatch)
    clear = make_token(make_link())[1]
    old = send(client, clear, REPORT, headers=KEY).json()["id"]
    new = send(client, clear, REPORT).json()["id"]
    lost = waiting(monkeypatch, clear)
    (folder / lost).unlink()
    old_time = timezone.now() - limits.REPORT_JOB_LIFETIME - timedelta(minutes=1)
    ReportJob.objects.filter(pk=old).update(finished_at=old_time)
    ReportJob.objects.filter(pk=lost).update(created_at=old_time)
    for name in (str(uuid.uuid4()), f"{uuid.uuid4()}.part", "young.part"):
        (folder / name).write_bytes(b"x")
        if name != "young.part":
            os.utime(folder / name, (time.time() - 90_000,) * 2)
    assert run_json("prune")["reports"] == 1
    assert [path.name for path in folder.iterdir()] == ["young.part"]
    assert set(ReportJob.objects.values_list("pk", "status")) == {
        (uuid.UUID(new), 200),
        (uuid.UUID(lost), 500),
    }
    assert Nonce.objects.count() == 0
    assert ReportToken.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_findings_are_never_stored_without_the_outcome(client, token, monkeypatch):
    sent = waiting(monkeypatch, token)
    with monkeypatch.context() as patch:
        patch.setattr(ReportJob, "finish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            report_jobs.run(uuid.UUID(sent))
    assert not Finding.objects.exists()
    assert not ImportRun.objects.exists()
    assert fetch_until_done(client, token, sent).json()["reports"][0]["new"] == 1
