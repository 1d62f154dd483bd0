"""Calls on record, and the limit of each account."""

import multiprocessing
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connections, transaction
from django.utils import timezone

from dashboard_api.models import CallLimit, CallOutcome, CallRecord, Nonce, NonceClaim, Usage, nonces
from dashboard_api.queries.account_calls import latest_calls
from tests.audit import triggers
from tests.commands import run_json
from tests.factories import make_call_record, make_nonce

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LIMIT = CallLimit(per_second=10, burst=40)


def call(number, *, at=NOON, account_id=1, limit=LIMIT):
    return make_nonce(f"nonce-{number:04}", at=at, account_id=account_id, limit=limit)


def calls(count, *, start=0, **fields):
    return [call(number, **fields) for number in range(start, start + count)]


def test_an_account_may_call_as_often_at_once_as_its_burst():
    assert calls(42) == [NonceClaim.ACCEPTED] * 40 + [NonceClaim.LIMITED] * 2
    assert Usage.objects.get().calls == 40


def test_calls_within_the_rate_are_never_limited():
    moments = [NOON + timedelta(milliseconds=100 * number) for number in range(100)]
    assert {call(number, at=at) for number, at in enumerate(moments)} == {NonceClaim.ACCEPTED}


def test_a_limited_call_may_come_again_after_the_seconds_of_its_refusal_and_not_much_earlier():
    limit = CallLimit(per_second=1, burst=3)
    calls(3, limit=limit)
    assert call(3, limit=limit) is NonceClaim.LIMITED
    wait = limit.pause(1, NOON).seconds
    assert wait == 1
    assert call(4, limit=limit, at=NOON + timedelta(seconds=wait - 0.1)) is NonceClaim.LIMITED
    assert call(5, limit=limit, at=NOON + timedelta(seconds=wait)) is NonceClaim.ACCEPTED


def test_an_account_makes_exactly_the_calls_of_its_day_and_the_next_ones_after_midnight():
    limit = LIMIT._replace(allowance=3)
    assert calls(4, limit=limit) == [NonceClaim.ACCEPTED] * 3 + [NonceClaim.LIMITED]
    later = NOON + timedelta(hours=6, seconds=0.5)
    assert limit.pause(1, later) == (6 * 3600, 3)
    assert [limit.refuses(1, later), LIMIT.refuses(1, later)] == [True, False]
    assert call(5, limit=limit, at=later) is NonceClaim.LIMITED
    assert call(6, limit=LIMIT._replace(is_counted=False), at=later) is NonceClaim.ACCEPTED, "costs nothing"
    assert call(7, limit=limit, at=later + timedelta(hours=6)) is NonceClaim.ACCEPTED
    assert list(Usage.objects.values_list("day__day", "calls")) == [(2, 3), (3, 1)]


def test_accounts_do_not_share_a_limit():
    limit = CallLimit(per_second=1, burst=1)
    assert [call(1, account_id=number, limit=limit) for number in (1, 2, 1)] == [
        NonceClaim.ACCEPTED,
        NonceClaim.ACCEPTED,
        NonceClaim.REPLAYED,
    ]


def test_a_replay_is_neither_counted_nor_limited():
    assert [call(1), call(1)] == [NonceClaim.ACCEPTED, NonceClaim.REPLAYED]
    assert Usage.objects.get().calls == 1


def test_test_calls_are_limited_but_not_counted():
    limit = LIMIT._replace(burst=2, is_counted=False)
    assert calls(3, limit=limit) == [NonceClaim.ACCEPTED, NonceClaim.ACCEPTED, NonceClaim.LIMITED]
    assert Usage.objects.get().calls == 0


def test_calls_without_a_limit_are_not_counted():
    assert call(1, limit=None) is NonceClaim.ACCEPTED
    assert not Usage.objects.exists()


def test_each_day_has_its_own_count():
    calls(2)
    call(3, at=NOON + timedelta(days=1))
    assert list(Usage.objects.values_list("day__day", "calls")) == [(2, 2), (3, 1)]


@pytest.mark.django_db(transaction=True)
def test_a_call_that_cannot_be_counted_spends_no_nonce(monkeypatch):
    parameters = LIMIT.parameters(NOON) | {"counted": None}  # refused by the database
    monkeypatch.setattr(CallLimit, "parameters", lambda *_: parameters)
    with pytest.raises(DatabaseError):
        call(1)
    assert not Nonce.objects.exists()


PROCESSES = 16


def _share_of_a_hundred_calls(worker):
    _together.wait(60)
    return [call(number) for number in range(worker, 100, PROCESSES)]


def _join(together):
    global _together  # of each process
    _together = together


@pytest.mark.django_db(transaction=True)
def test_processes_together_get_exactly_the_burst_at_one_moment():
    connections.close_all()
    processes = multiprocessing.get_context("fork")
    with processes.Pool(PROCESSES, _join, [processes.Barrier(PROCESSES)]) as pool:
        shares = pool.map(_share_of_a_hundred_calls, range(PROCESSES), chunksize=1)
    claims = [claim for share in shares for claim in share]
    assert (claims.count(NonceClaim.ACCEPTED), claims.count(NonceClaim.LIMITED)) == (40, 60)
    assert Usage.objects.get().calls == 40
    assert Nonce.objects.count() == 100


@pytest.fixture
def expired():
    """Two calls whose nonces have expired, the second one refused, and a recent one."""
    past = timezone.now() - timedelta(minutes=1)
    make_nonce("nonce-0001", at=NOON, expires_at=past, secret_id=3, link_id=5, request_id="first")
    make_nonce("nonce-0002", at=NOON + timedelta(seconds=1), expires_at=past, request_id="second")
    CallOutcome.note(1, "nonce-0002", status=404, code="unknown_link")
    make_nonce("nonce-0003", at=NOON + timedelta(seconds=2), request_id="third")
    CallOutcome.note(1, "nonce-0003", status=403, code="revoked_link")


def latest(count=9):
    return [(row.request_id, row.status, row.code) for row in latest_calls(1, count=count)]


def test_an_expired_nonce_becomes_a_record_with_its_facts_and_outcome(expired):
    assert Nonce.objects.prune(now=timezone.now(), batch=10) == 2
    second, first = CallRecord.objects.all()
    assert (first.at, first.account_id, first.secret_id, first.link_id) == (NOON, 1, 3, 5)
    assert (first.route, first.request_id, first.address) == ("site/dashboard", "first", "192.0.2.1")
    assert (first.status, first.code) == (200, "")
    assert (second.status, second.code) == (404, "unknown_link")
    assert CallOutcome.objects.get().code == "revoked_link"


def test_the_latest_calls_are_the_same_before_and_after_their_nonces_expire(expired):
    calls_before = latest()
    assert calls_before == [
        ("third", 403, "revoked_link"),
        ("second", 404, "unknown_link"),
        ("first", 200, ""),
    ]
    Nonce.objects.prune(now=timezone.now(), batch=10)
    assert latest() == calls_before
    assert latest(2) == calls_before[:2]


def test_a_nonce_of_an_unknown_call_leaves_no_record(expired):
    Nonce.objects.update(at=None)
    assert Nonce.objects.prune(now=timezone.now(), batch=10) == 2
    assert not CallRecord.objects.exists()


@pytest.fixture
def with_triggers():
    """The triggers of the product, until the transaction of the test ends."""
    triggers.install(connections[CallRecord.objects.db], triggers.OF_CALLS)


def test_of_calls_beyond_the_rate_one_a_second_becomes_a_record(with_triggers):
    limit, past = CallLimit(per_second=1, burst=2), timezone.now() - timedelta(minutes=1)

    def claims(first, last):
        return [
            make_nonce(f"nonce-{number:04}", at=NOON, limit=limit, expires_at=past, request_id=str(number))
            for number in range(first, last)
        ]

    assert claims(0, 6) == [NonceClaim.ACCEPTED] * 2 + [NonceClaim.LIMITED] * 4
    assert make_nonce("nonce-0003", at=NOON, limit=limit, expires_at=past) is NonceClaim.REPLAYED
    nonces._limited.clear()  # a second later
    assert claims(6, 8) == [NonceClaim.LIMITED] * 2
    for number in (2, 3, 4, 5, 6, 7):
        CallOutcome.note(1, f"nonce-{number:04}", status=429, code="rate_limited")
    assert Nonce.objects.prune(now=timezone.now(), batch=99) == 8
    assert {row.request_id for row in CallRecord.objects.all()} == {"0", "1", "2", "6"}
    assert not CallOutcome.objects.exists()
    assert make_nonce("later", at=NOON + timedelta(seconds=1), limit=limit) is NonceClaim.ACCEPTED
    assert Nonce.objects.get().at is not None


def change(sql):
    with (
        transaction.atomic(using=CallRecord.objects.db),
        connections[CallRecord.objects.db].cursor() as cursor,
    ):
        cursor.execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE dashboard_api_callrecord SET address = '192.0.2.99'",
        "DELETE FROM dashboard_api_callrecord",
        "TRUNCATE dashboard_api_callrecord",
        "UPDATE dashboard_api_nonce SET address = '192.0.2.99'",
        "DELETE FROM dashboard_api_nonce",
        "TRUNCATE dashboard_api_nonce",
        "TRUNCATE dashboard_api_calloutcome",
    ],
)
def test_postgresql_refuses_it_also_where_rows_are_replicated(with_triggers, sql):
    """The process that applies replicated rows has no search path."""
    if connections[CallRecord.objects.db].vendor != "postgresql":
        pytest.skip("SQLite has no replication")
    make_call_record(account_id=1, request_id="new")
    make_nonce("new-nonce")
    change("SET LOCAL session_replication_role = replica")
    change("SET LOCAL search_path = pg_catalog")
    with pytest.raises(DatabaseError, match="calls on record"):
        change(re.sub(r"dashboard_api_\w+", r"public.\g<0>", sql))


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE dashboard_api_callrecord SET address = '192.0.2.99'",
        "UPDATE dashboard_api_callrecord SET at = '2020-01-01 00:00:00+00'",
        "DELETE FROM dashboard_api_callrecord",
    ],
)
def test_the_database_refuses_a_change_and_a_deletion(expired, with_triggers, sql):
    assert Nonce.objects.prune(now=timezone.now(), batch=10) == 2
    make_call_record(account_id=1, request_id="new")
    before = list(CallRecord.objects.values())
    with pytest.raises(DatabaseError, match="calls on record"):
        change(sql)
    with (
        pytest.raises(DatabaseError, match="calls on record"),
        transaction.atomic(using=CallRecord.objects.db),
    ):
        CallRecord.objects.all().delete()
    assert list(CallRecord.objects.values()) == before


def test_postgresql_refuses_to_truncate_the_calls(with_triggers):
    if connections[CallRecord.objects.db].vendor != "postgresql":
        pytest.skip("SQLite has no TRUNCATE")
    for table in ("callrecord", "nonce", "calloutcome"):
        with pytest.raises(DatabaseError, match="calls on record"):
            change(f"TRUNCATE dashboard_api_{table}")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE dashboard_api_nonce SET address = '192.0.2.99'",
        "UPDATE dashboard_api_nonce SET at = NULL",
        "DELETE FROM dashboard_api_nonce",
        "DELETE FROM dashboard_api_nonce WHERE nonce = 'nonce-0001'",
        "UPDATE dashboard_api_calloutcome SET status = 200",
        "DELETE FROM dashboard_api_calloutcome WHERE nonce = 'nonce-0003'",
    ],
)
def test_calls_are_as_unchangeable_before_their_nonces_expire(expired, with_triggers, sql):
    with pytest.raises(DatabaseError, match="calls on record"):
        change(sql)
    assert [row[0] for row in latest()] == ["third", "second", "first"]
    assert Nonce.objects.prune(now=timezone.now(), batch=10) == 2
    assert latest() == [("third", 403, "revoked_link"), ("second", 404, "unknown_link"), ("first", 200, "")]


def test_the_fence_can_be_raised_again_and_pruned(with_triggers):
    for minutes in (60, 30):
        Nonce.objects.raise_fence(timezone.now() - timedelta(minutes=minutes))
    assert Nonce.objects.prune(now=timezone.now(), batch=10) == 1


def test_records_of_calls_are_kept_for_180_days(with_triggers):
    for name, days in (("first", 181), ("second", 179)):
        make_call_record(account_id=1, request_id=name, at=timezone.now() - timedelta(days=days))
    assert run_json("prune", "--batch", "1")["calls"] == 1
    assert CallRecord.objects.get().request_id == "second"
