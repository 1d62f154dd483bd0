"""The cache in the database: all processes count together, without Redis."""

import time

import pytest
from django.core.cache import caches
from django.test import Client

from config.models import CacheEntry
from config.operations.databases import caches as configured
from tests.config.identity.test_sign_in import fail, sign_in
from tests.factories import make_user
from tests.racing import race

pytestmark = pytest.mark.django_db


@pytest.fixture
def cache(settings):
    settings.CACHES = configured("")
    return caches["default"]


def test_a_value_comes_back_until_it_expires_or_is_deleted(cache, monkeypatch):
    cache.set("times", [1.5, 2.5], 60)
    cache.set("always", {"a": None}, None)
    assert cache.get("times") == [1.5, 2.5]
    assert (cache.touch("times", 90), cache.touch("unknown", 90)) == (True, False)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 100)
    assert (cache.get("times"), cache.get("times", "none"), cache.get("always")) == (
        None,
        "none",
        {"a": None},
    )
    assert (cache.delete("always"), cache.delete("always")) == (True, False)
    cache.set("another", 1)
    assert CacheEntry.objects.count() == 1


def test_a_value_is_added_only_where_there_is_none_or_an_expired_one(cache, monkeypatch):
    assert [cache.add("code", 1, 60), cache.add("code", 2, 60)] == [True, False]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    assert cache.add("code", 3, 60)
    assert cache.get("code") == 3


@pytest.mark.django_db(transaction=True)
def test_exactly_one_of_many_adds_a_value_at_the_same_moment(cache):
    added = race(lambda number: caches["default"].add("spent-code:1:123456", number, 90), times=8)
    assert sorted(added) == [False] * 7 + [True]


@pytest.mark.django_db(transaction=True)
def test_of_many_sign_ins_at_the_same_moment_no_more_pass_and_another_address_is_free(cache):
    make_user()
    attempts = race(lambda _: fail(Client(), 1)[0], times=8)
    assert set(attempts) <= {200, 429}
    assert attempts.count(200) <= 5
    assert fail(Client(), 6)[-1] == 429
    assert sign_in(Client(), REMOTE_ADDR="192.0.2.7").status_code == 302


def test_no_name_or_address_is_stored_in_clear(cache):
    fail(Client(), 1, name="owner@example.com", REMOTE_ADDR="192.0.2.7")
    stored = str(list(CacheEntry.objects.values_list("key", "value")))
    assert CacheEntry.objects.count() >= 2
    assert not any(text in stored for text in ("owner", "192.0.2.7", "login_failed"))
