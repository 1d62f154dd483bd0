"""Audit events cannot be changed, and their seals show what was changed all the same."""

import json
from contextlib import suppress
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, OperationalError, connection, transaction
from django.utils import timezone

from audit import seals
from audit.models import AuditActor, AuditEvent, AuditOrigin, AuditSeal
from audit.recording import Acting, Person, Subject, acting, record
from tests.audit import triggers
from tests.racing import race

pytestmark = pytest.mark.django_db

EVENTS = AuditEvent._meta.db_table


@pytest.fixture
def with_triggers():
    """The triggers of the product, until the transaction of the test ends."""
    triggers.install(connection)


def add_events(count, *, at=None):
    """Record events; ``at`` is their time."""
    for number in range(count):
        record("link.revoked", host=f"shop{number}.example.com", after={"number": number})
    if at:
        AuditEvent.objects.filter(pk__in=[each.pk for each in AuditEvent.objects.all()[:count]]).update(at=at)


def run(sql):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        f"UPDATE {EVENTS} SET action = 'x'",
        f"UPDATE {EVENTS} SET at = '2020-01-01 00:00:00+00'",
        f"DELETE FROM {EVENTS}",
        "UPDATE audit_auditseal SET digest = 'x'",
        "DELETE FROM audit_auditseal",
    ],
)
def test_the_database_refuses_a_change_and_a_deletion(with_triggers, sql):
    add_events(1)
    seals.seal(timezone.now())
    with pytest.raises(DatabaseError, match="audit"):
        run(sql)


@pytest.mark.parametrize(
    "sql",
    [
        f"UPDATE {EVENTS} SET action = 'x'",
        f"DELETE FROM {EVENTS}",
        f"TRUNCATE {EVENTS}",
        "DELETE FROM audit_auditseal",
        "TRUNCATE audit_auditseal",
    ],
)
def test_postgresql_refuses_it_also_where_rows_are_replicated(with_triggers, sql):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no replication")
    add_events(1)
    seals.seal(timezone.now())
    run("SET LOCAL session_replication_role = replica")
    with pytest.raises(DatabaseError, match="audit"):
        run(sql)


@pytest.mark.parametrize("table", triggers.TABLES)
def test_postgresql_refuses_to_truncate(with_triggers, table):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no TRUNCATE")
    with pytest.raises(DatabaseError, match="audit"):
        run(f"TRUNCATE {table}")


def test_only_sealed_events_older_than_the_retention_are_deleted_and_the_seals_still_fit():
    now = timezone.now()
    add_events(2, at=now - timedelta(days=401))
    seals.seal(now - timedelta(days=401))
    add_events(1, at=now - timedelta(days=399))
    seals.seal(now - timedelta(days=399))
    triggers.install(connection)
    assert seals.prune(now) == 2
    assert AuditEvent.objects.exclude(action="audit.pruned").count() == 1
    assert seals.first_difference() is None


def test_a_prune_is_an_event_that_the_next_seal_covers():
    now = timezone.now()
    add_events(2, at=now - timedelta(days=401))
    last = seals.seal(now - timedelta(days=401))
    seals.prune(now)
    pruned = AuditEvent.objects.get(action="audit.pruned")
    assert (pruned.object_id, pruned.after) == (str(last.last_id), {"events": 2})
    assert seals.seal(now).last_id == pruned.pk
    assert seals.first_difference() is None


def test_old_events_that_no_prune_deleted_are_missed():
    now = timezone.now()
    add_events(2, at=now - timedelta(days=401))
    seals.seal(now - timedelta(days=401))
    AuditEvent.objects.all().delete()
    assert seals.first_difference() == AuditSeal.objects.get()


@pytest.mark.parametrize("says_pruned", [False, True])
def test_deleted_events_are_missed_after_the_time_of_their_seal_was_set_back(says_pruned):
    add_events(2)
    seal = seals.seal(timezone.now())
    AuditEvent.objects.all().delete()
    if says_pruned:
        record("audit.pruned", Subject("audit events", str(seal.last_id)))
    AuditSeal.objects.update(newest_at=timezone.now() - timedelta(days=401))
    assert seals.first_difference() == seal


@pytest.mark.parametrize(
    "change",
    [
        {"last_id": 10**9},
        {"after_id": -1},
        {"newest_at": timezone.now() - timedelta(days=9)},
        {"events_digest": "0" * 64},
        {"events_digest": None},
    ],
)
def test_every_fact_of_a_seal_is_under_its_digest(change):
    add_events(2)
    seal = seals.seal(timezone.now())
    AuditSeal.objects.update(**change)
    assert seals.first_difference() == seal


def test_a_seal_and_its_line_in_the_log_have_the_same_facts(caplog):
    add_events(2)
    with caplog.at_level("INFO", logger="audit"):
        seal = seals.seal(timezone.now())
    line = json.loads(caplog.messages[-1])
    assert line == {"seal": seal.pk, **seals.facts_of(AuditSeal.objects.get()), "digest": seal.digest}
    assert {"after_id", "last_id", "newest_at", "previous", "events_digest"} < line.keys()


def test_a_seal_of_an_earlier_version_is_refused_with_a_reason():
    add_events(1)
    seals.seal(timezone.now())
    AuditSeal.objects.update(events_digest=None)
    with pytest.raises(CommandError, match="made by an earlier version"):
        call_command("verify_audit")


@pytest.mark.parametrize("removed", ["the last seal", "all seals"])
def test_a_record_without_its_end_misses_the_digest_of_the_log(removed, capsys):
    for hour in (2, 1):
        add_events(1)
        seal = seals.seal(timezone.now() - timedelta(hours=hour))
    call_command("verify_audit", "--digest", seal.digest)
    assert "All 2 seals fit." in capsys.readouterr().out
    after_id = seal.after_id if removed == "the last seal" else 0
    AuditSeal.objects.filter(after_id__gte=after_id).delete()
    AuditEvent.objects.filter(pk__gt=after_id).delete()
    call_command("verify_audit")  # what is left fits
    with pytest.raises(CommandError, match=f"No seal has the digest {seal.digest}"):
        call_command("verify_audit", "--digest", seal.digest)


def test_events_that_were_never_sealed_are_kept():
    add_events(1, at=timezone.now() - timedelta(days=500))
    assert seals.prune(timezone.now()) == 0


@pytest.mark.parametrize("forgery", ["change", "remove", "add", "rewrite a seal", "remove a seal"])
def test_the_first_seal_that_differs_is_found(forgery):
    hours = [timezone.now() - timedelta(hours=hour) for hour in (3, 2, 1)]
    for hour in hours:
        add_events(2)
        seals.seal(hour)
    assert seals.first_difference() is None
    second = AuditSeal.objects.all()[1]
    event = AuditEvent.objects.get(pk=second.last_id)
    match forgery:
        case "change":
            AuditEvent.objects.filter(pk=event.pk).update(host="other.example.com")
        case "remove":
            event.delete()
        case "add":
            event.pk = -1
            AuditEvent.objects.filter(pk=second.after_id + 1).delete()
            event.pk = second.after_id + 1
            event.save(force_insert=True)
        case "rewrite a seal":
            AuditSeal.objects.filter(pk=second.pk).update(digest="0" * 64)
        case "remove a seal":
            second.delete()
    differing = seals.first_difference()
    assert differing.at == (hours[2] if forgery == "remove a seal" else hours[1])


def test_nothing_new_is_not_sealed():
    assert seals.seal(timezone.now()) is None
    add_events(1)
    assert seals.seal(timezone.now()).previous == ""
    assert seals.seal(timezone.now()) is None
    assert seals.unsealed() == 0


def test_a_forgotten_name_and_an_old_address_leave_the_seals_as_they_are():
    ada = Person(None, "ada@example.com")
    with acting(Acting(person=lambda: ada, address="192.0.2.7", browser="Firefox")):
        record("member.invited", Person(None, "bob@example.com"))
    seals.seal(timezone.now())
    assert AuditOrigin.objects.get().address == "192.0.2.7"
    AuditActor.objects.update(name="")
    AuditOrigin.objects.update(at=timezone.now() - timedelta(days=91))
    seals.prune(timezone.now())
    assert not AuditOrigin.objects.exists()
    assert seals.first_difference() is None


@pytest.mark.django_db(transaction=True)
def test_events_that_are_written_while_others_are_sealed_are_all_sealed():
    def write_or_seal(number):
        for _ in range(6):
            if number == 0:
                with suppress(OperationalError):  # the next run seals
                    seals.seal(timezone.now())
            else:
                with transaction.atomic():
                    add_events(1)
                    add_events(1)

    race(write_or_seal, times=5)
    seals.seal(timezone.now())
    assert AuditEvent.objects.count() == 4 * 6 * 2
    assert seals.unsealed() == 0
    assert seals.first_difference() is None
