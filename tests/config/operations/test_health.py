"""The probes: answered before hosts and https are checked, by what a process needs to serve."""

import itertools
import shutil
from collections import namedtuple
from types import SimpleNamespace

import pytest
from cryptography.fernet import Fernet
from django.db import OperationalError, connections

from config.operations import health
from foundation.operations.health import Readiness
from tests.factories import make_account

pytestmark = pytest.mark.django_db
ANOTHER_KEY = Fernet.generate_key().decode()


def checks(**replaced):
    return {name: replaced.get(name, lambda: None) for name in health.READINESS._checks}


@pytest.fixture
def ready(monkeypatch):
    """Replace the checks by others."""

    def replace(**replaced):
        monkeypatch.setattr(health, "READINESS", Readiness(checks(**replaced)))

    return replace


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_a_probe_by_any_host_over_http_is_answered_in_plain_text_and_never_cached(
    client, ready, settings, path
):
    ready()
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["shop.example.com"]
    response = client.get(path, headers={"host": "10.0.0.7:8000"})
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response["Content-Type"] == "text/plain"
    assert response["Cache-Control"] == "no-store"
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "default-src 'none'" in response["Content-Security-Policy"]


def test_a_process_that_cannot_serve_lives_and_names_the_failed_checks(client, ready, caplog):
    def fail():
        raise OperationalError("postgres://user:word@host is away")

    ready(database=fail)
    response = client.get("/readyz")
    assert (response.status_code, response.content) == (503, b"failed: database\n")
    assert client.get("/livez").status_code == 200
    assert [record.name for record in caplog.records] == ["foundation.operations.health"]


def test_a_thousand_probes_check_once_in_two_seconds(client, ready, monkeypatch):
    checked, ticks = [], itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) / 100, perf_counter=lambda: 0)
    monkeypatch.setattr("foundation.operations.health.time", clock)
    ready(database=lambda: checked.append(1))
    for _ in range(1_000):
        assert client.get("/livez").status_code == client.get("/readyz").status_code == 200
    assert len(checked) == 5


TOKEN = "0123456789abcdefghijklmnopqrstuv"
PROXIED = {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "192.0.2.1"}


@pytest.mark.parametrize(
    ("request_of", "is_verbose"),
    [
        ({"REMOTE_ADDR": "127.0.0.1"}, True),
        ({"REMOTE_ADDR": "::1"}, True),
        (PROXIED, False),
        ({"REMOTE_ADDR": "192.0.2.1"}, False),
        (PROXIED | {"HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}, True),
        (PROXIED | {"HTTP_AUTHORIZATION": f"Bearer {TOKEN}x"}, False),
        (PROXIED | {"HTTP_AUTHORIZATION": "Bearer "}, False),
        (PROXIED | {"HTTP_AUTHORIZATION": "Bearer ü"}, False),
    ],
)
def test_operators_alone_see_reasons_and_times(client, ready, settings, request_of, is_verbose):
    def fail():
        raise OperationalError("no such host")

    settings.METRICS_TOKEN = TOKEN
    ready(database=fail)
    text = client.get("/readyz?verbose", **request_of).text
    assert ("database: OperationalError: no such host (" in text) == is_verbose
    assert ("disk: ok (" in text) == is_verbose


def test_an_empty_token_opens_nothing(client, ready):
    ready()
    assert client.get("/readyz?verbose", **PROXIED, HTTP_AUTHORIZATION="Bearer ").text == "ok\n"


@pytest.mark.parametrize("name", list(health.READINESS._checks))
def test_each_check_passes_where_all_is_well(name):
    make_account()
    health._check_migrations.cache_clear()
    health.READINESS._checks[name]()


def test_missing_migrations_fail_until_they_are_there(monkeypatch):
    health._check_migrations.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(health, "missing_migrations", lambda: iter(["run migrate"]))
        for _ in range(2):
            with pytest.raises(health.NotReady, match="run migrate"):
                health._check_migrations()
    health._check_migrations()


def test_a_lost_key_fails(settings):
    make_account()
    settings.MASTER_KEYS = [ANOTHER_KEY]
    with pytest.raises(health.NotReady, match="MASTER_KEYS holds no key that opens"):
        health._check_keys()


def test_a_full_disk_fails(monkeypatch):
    Usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100, 96, 4))
    with pytest.raises(health.NotReady, match="less than 5% of the disk of"):
        health.check_disk()


def test_another_clock_than_that_of_the_database_fails(monkeypatch):
    if connections["default"].vendor != "postgresql":
        pytest.skip("SQLite has no clock of its own")
    now = health.time.time()
    monkeypatch.setattr(health.time, "time", lambda: now + 60)
    with pytest.raises(health.NotReady, match="differ by 60 seconds"):
        health.check_clock()


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_a_database_that_cannot_be_written_fails():
    connection = connections["default"]
    if connection.vendor != "postgresql":
        pytest.skip("a read-only standby is a state of PostgreSQL")
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        with pytest.raises(health.NotReady, match="read-only"):
            health._check_database()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")
