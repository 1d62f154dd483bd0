from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api.models import Nonce, SecretUse
from tests.racing import race

pytestmark = pytest.mark.django_db

NOW = timezone.now()
LATER = NOW + timedelta(minutes=6)


def claim(account_id=1, nonce="nonce-0001", expires_at=LATER):
    return Nonce.objects.claim(account_id, nonce, expires_at=expires_at)


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


def test_prune_forgets_the_oldest_first_and_no_more_than_a_batch():
    for age in (3, 1, 2):
        claim(nonce=f"expired-{age}", expires_at=NOW - timedelta(hours=age))

    assert Nonce.objects.prune(now=NOW, batch=2) == 2
    assert Nonce.objects.get().nonce == "expired-1"


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
    SecretUse.record(7, NOW)
    SecretUse.record(7, NOW + timedelta(seconds=59))
    assert SecretUse.objects.get(secret_id=7).last_used_at == NOW

    SecretUse.record(7, NOW + timedelta(seconds=61))
    assert SecretUse.objects.get(secret_id=7).last_used_at == NOW + timedelta(seconds=61)
