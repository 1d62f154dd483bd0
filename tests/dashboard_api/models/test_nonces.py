from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections, router
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

import es1
from dashboard_api import limits
from dashboard_api.models import CallRecord, Nonce, NonceClaim, SecretUse
from dashboard_api.models.nonces import NONCE_LIFETIME
from tests.factories import make_nonce
from tests.racing import race

pytestmark = pytest.mark.django_db

NOW = timezone.now()
LATER = NOW + timedelta(minutes=6)


def claim(account_id=1, nonce="nonce-0001", expires_at=LATER):
    return make_nonce(nonce, account_id=account_id, expires_at=expires_at) is NonceClaim.ACCEPTED


def test_nonce_is_claimed_once():
    assert [claim(), claim()] == [True, False]


def test_nonce_is_each_accounts_own():
    assert [claim(account_id=1), claim(account_id=2)] == [True, True]


def test_nonce_compares_every_character_as_it_is():
    assert [claim(nonce="nonce-abcd"), claim(nonce="nonce-ABCD")] == [True, True]


@pytest.mark.django_db(transaction=True)
def test_nonce_is_won_by_exactly_one_of_many_at_once():
    assert sorted(race(lambda _: claim(), times=16)) == [False] * 15 + [True]


def test_prune_forgets_expired_nonces_only():
    claim(nonce="expired-1", expires_at=NOW - timedelta(seconds=1))
    claim(nonce="at-the-very-second", expires_at=NOW)
    claim(nonce="still-needed")

    assert Nonce.objects.prune(now=NOW, batch=10) == 1
    assert set(Nonce.objects.values_list("nonce", flat=True)) == {"at-the-very-second", "still-needed"}


def accepted(timestamp, now):
    try:
        es1.check_window(timestamp, now=now, window=limits.TIMESTAMP_WINDOW_SECONDS)
    except es1.StaleTimestamp:
        return False
    return True


@example(skew=limits.TIMESTAMP_WINDOW_SECONDS, later=2 * limits.TIMESTAMP_WINDOW_SECONDS)
@example(skew=-limits.TIMESTAMP_WINDOW_SECONDS, later=0)
@given(
    skew=st.integers(-limits.TIMESTAMP_WINDOW_SECONDS, limits.TIMESTAMP_WINDOW_SECONDS),
    later=st.integers(0, 900),
)
def test_prune_never_forgets_a_nonce_whose_call_may_still_be_accepted(skew, later):
    came, pruned = int(NOW.timestamp()), int(NOW.timestamp()) + later
    signed = datetime.fromtimestamp(came + skew, tz=UTC)
    claim(nonce=(nonce := f"nonce-{skew}-{later}"), expires_at=signed + NONCE_LIFETIME)
    Nonce.objects.prune(now=datetime.fromtimestamp(pruned, tz=UTC), batch=1_000)
    kept = Nonce.objects.filter(nonce=nonce).exists()
    assert kept or not accepted(came + skew, pruned)


def test_prune_forgets_the_oldest_first_and_no_more_than_a_batch():
    for age in (3, 1, 2):
        claim(nonce=f"expired-{age}", expires_at=NOW - timedelta(hours=age))

    assert Nonce.objects.prune(now=NOW, batch=2) == 2
    assert Nonce.objects.get().nonce == "expired-1"


def test_prune_finds_what_has_expired_without_looking_through_the_others():
    connection = connections[router.db_for_write(Nonce)]
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL rightly looks through a table that is as good as empty.")
    with CaptureQueriesContext(connection) as statements:
        Nonce.objects.prune(now=NOW, batch=10)
    changing = [each["sql"] for each in statements if "nonce" in each["sql"]]
    assert len(changing) == 3
    for statement in changing:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
            steps = {step for *_, step in cursor.fetchall()}
        assert "SEARCH dashboard_api_nonce USING INTEGER PRIMARY KEY (rowid=?)" in steps
        assert (
            "SEARCH dashboard_api_nonce USING COVERING INDEX dashboard_api_nonce_expiry (expires_at<?)"
            in steps
        )
        assert not any(step.startswith("SCAN") for step in steps), steps


def test_prune_leaves_the_same_nonce_of_another_account():
    claim(account_id=1, expires_at=NOW - timedelta(hours=1))
    claim(account_id=2)

    assert Nonce.objects.prune(now=NOW, batch=10) == 1
    assert Nonce.objects.get().account_id == 2


def test_prune_takes_batches_of_any_size():
    expired = int(NOW.timestamp()) - 60
    Nonce.objects.bulk_create(
        [Nonce(account_id=1, nonce=f"expired-{number}", expires_at=expired) for number in range(3000)]
    )
    assert Nonce.objects.prune(now=NOW, batch=100_000) == 3000


def test_secret_use_is_noted_at_most_once_a_minute():
    SecretUse.note(7, NOW)
    SecretUse.note(7, NOW + timedelta(seconds=59))
    assert SecretUse.objects.get(secret_id=7).last_used_at == NOW

    SecretUse.note(7, NOW + timedelta(seconds=61))
    assert SecretUse.objects.get(secret_id=7).last_used_at == NOW + timedelta(seconds=61)


def test_a_fence_refuses_what_may_have_been_accepted_before_it():
    last = Nonce.objects.raise_fence(NOW)
    assert last == NOW + timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS)
    assert make_nonce("signed-with-a-fast-clock", expires_at=last + NONCE_LIFETIME) is NonceClaim.REPLAYED
    later = last + NONCE_LIFETIME + timedelta(seconds=1)
    assert make_nonce("signed-later", expires_at=later) is NonceClaim.ACCEPTED


def test_a_second_fence_moves_the_first_and_prune_deletes_it_with_the_nonces_of_its_time():
    now = timezone.now()
    Nonce.objects.raise_fence(now - timedelta(hours=1))
    assert Nonce.objects.raise_fence(now) > now
    Nonce.objects.prune(now=now + timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS), batch=10)
    assert make_nonce() is NonceClaim.REPLAYED
    Nonce.objects.prune(now=now + timedelta(hours=1), batch=10)
    assert make_nonce() is NonceClaim.ACCEPTED
    assert CallRecord.objects.count() == 0
