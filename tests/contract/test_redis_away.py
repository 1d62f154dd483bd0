"""Sign-in, pages and signed calls work without Redis."""

import pytest
from django.core.cache import caches as used_caches
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client
from django.urls import reverse

from config.operations.databases import caches
from tests.dashboard_api.calls import ask, error_of, fields_for
from tests.factories import make_account, make_link, make_membership, make_portal_account, make_user
from tests.redis_server import RedisServer

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"


@pytest.fixture
def with_redis(redis_server, settings):
    """The product with a Redis that the test can stop."""
    settings.CACHES = caches(redis_server.url)
    yield redis_server
    used_caches["default"].local.clear()


def sign_in(client, password=PASSWORD):
    return client.post(reverse("account_login"), {"login": "owner", "password": password})


def clients(server):
    """Return the number of other connections to Redis."""
    return server.ask("INFO", "clients")["connected_clients"] - 1


@pytest.mark.parametrize("go_away", [RedisServer.kill, RedisServer.hang])
def test_people_sign_in_and_out_while_redis_is_away(client, with_redis, go_away):
    make_user()
    go_away(with_redis)
    assert sign_in(client).status_code == 302
    assert client.get(reverse("portal:sites")).status_code == 200
    assert client.post(reverse("account_logout")).status_code == 302


@pytest.mark.parametrize("away", [False, True])
def test_guessing_is_refused_with_redis_and_while_it_is_away(client, with_redis, away):
    make_user()
    if away:
        with_redis.kill()
    assert [sign_in(client, "wrong").status_code for _ in range(6)] == [200] * 5 + [429]
    assert sign_in(client).status_code == 429


def test_pages_are_shown_while_redis_is_away(owner, with_redis):
    with_redis.kill()
    assert "Café login" in owner.get("/sites/shop.example.com/").content.decode()


def test_signed_calls_never_ask_redis(client, with_redis):
    link = make_link(make_account())
    assert ask(client, fields_for(link)).status_code == 200
    assert clients(with_redis) == 0
    sign_in(client)
    assert clients(with_redis) == 1


def test_signed_calls_are_answered_once_while_redis_is_away(client, with_redis):
    link = make_link(make_account())
    with_redis.kill()
    assert ask(client, fields_for(link), nonce="a-nonce-of-one-call").status_code == 200
    again = ask(client, fields_for(link), nonce="a-nonce-of-one-call")
    assert (again.status_code, error_of(again)["code"]) == (401, "replayed_nonce")


def statuses(client, link):
    """Return the statuses of a signed call, a page of a member, the sign-in and both probes."""
    pages = [client.get(path).status_code for path in ("/", "/accounts/login/", "/livez", "/readyz")]
    return [ask(client, fields_for(link)).status_code, *pages]


def test_without_the_database_and_redis_calls_and_pages_are_503_until_the_database_is_back(
    with_redis, monkeypatch
):
    def away(*_):
        raise OperationalError("away")

    owner, link, client = make_user(), make_link(), Client(raise_request_exception=False)
    make_membership(owner, make_portal_account())
    client.force_login(owner)
    monkeypatch.setattr("foundation.operations.health.REMEMBERED_SECONDS", 0)
    assert statuses(client, link) == [200, 200, 302, 200, 200]
    with_redis.kill()
    with monkeypatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "cursor", away)
        assert statuses(client, link) == [503, 503, 503, 200, 503]
    assert statuses(client, link) == [200, 200, 302, 200, 200]
