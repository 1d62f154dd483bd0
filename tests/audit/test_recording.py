"""Audit events hold who did what, and never a secret or a name."""

import json
import logging
import sqlite3

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction

from audit.models import AuditActor, AuditEvent, WaitingEvent
from audit.recording import Acting, Person, acting, deliver_waiting, record
from dashboard_api.models import Secret, SiteLink
from foundation.operations.request_ids import begin_request, restored_request
from tests import factories


@pytest.mark.django_db
def test_an_event_has_its_request_its_object_and_its_account():
    account = factories.make_account()
    ada = factories.make_user("ada")
    with restored_request(), acting(Acting(kind="staff", person=lambda: Person(ada.pk, "ada"))):
        request_id = begin_request().request_id
        link = SiteLink.objects.link(account, factories.make_website(), by="ada")
    event = AuditEvent.objects.get(action="link.linked")
    assert (event.request_id, event.account, event.host) == (request_id, "acct_0001", "shop.example.com")
    assert (event.object_type, event.object_id) == ("dashboard_api.sitelink", str(link.pk))
    assert AuditActor.objects.get(pk=event.actor).user_id == ada.pk


@pytest.mark.django_db
def test_an_event_about_a_finding_has_the_host_of_its_website_which_may_be_above_that_of_the_finding():
    finding = factories.make_finding(factories.make_website(), location="https://api.shop.example.com/")
    assert finding.host == "api.shop.example.com", "which may be a website of another account"
    record("finding.accepted_risk", finding, by="ada")
    assert AuditEvent.objects.get(action="finding.accepted_risk").host == "shop.example.com"


@pytest.mark.django_db
def test_an_action_that_fails_leaves_no_event():
    account = factories.make_account()
    before = AuditEvent.objects.count()
    with pytest.raises(ValidationError):
        SiteLink.objects.link(account, factories.make_website(verified=False), by="ada")
    assert AuditEvent.objects.count() == before


@pytest.mark.django_db
def test_no_event_holds_a_secret_or_the_name_of_a_person():
    secret, clear = Secret.objects.issue(factories.make_account(secrets=()), by="ada@example.com")
    membership = factories.make_membership(
        factories.make_user("bob@example.com"), factories.make_portal_account()
    )
    record("admin.changed", membership, by="ada@example.com")
    stored = str(list(AuditEvent.objects.values()))
    assert secret.hint not in stored
    assert clear not in stored
    assert "ada@" not in stored
    assert "bob@" not in stored


@pytest.mark.django_db
def test_a_long_text_is_stored_as_its_digest():
    record("note.published", reason="x" * 201, after={"text": "y" * 5000})
    event = AuditEvent.objects.get()
    assert event.reason.startswith("sha256:")
    assert event.after["text"].startswith("sha256:")


@pytest.mark.django_db
def test_an_event_is_one_line_of_json_once_it_is_committed(caplog, django_capture_on_commit_callbacks):
    caplog.set_level(logging.INFO, logger="audit")
    with django_capture_on_commit_callbacks(execute=True):
        record("report.sent", reason="two\r\nlines \u2028 and \0 more")
        assert not caplog.records
    (line,) = (each.getMessage() for each in caplog.records)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert json.loads(line)["action"] == "report.sent"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL locks rows")
def test_an_event_that_may_wait_does_not_wait_for_an_import():
    writer = sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        record("sign_in.done", by="ada", may_wait=True)
        assert not AuditEvent.objects.exists()
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone()[0] > 0
    assert deliver_waiting() == 1
    assert not WaitingEvent.objects.exists()
    event = AuditEvent.objects.get(action="sign_in.done")
    assert AuditActor.objects.get(pk=event.actor).name == "ada"


@pytest.mark.django_db
def test_what_is_rolled_back_leaves_no_event():
    with transaction.atomic():
        record("link.revoked")
        transaction.set_rollback(True)
    assert not AuditEvent.objects.exists()
