import pytest
from django.core.cache import cache
from django.core.cache import caches as used_caches
from django.db import connection, connections

from config.models import Session
from config.operations.databases import SHORT_LIVED, ShortLivedRouter, caches, databases
from config.operations.shared_cache import SharedCache
from dashboard_api.models import Finding, Nonce


def test_sqlite_keeps_records_and_what_is_short_lived_in_two_files(tmp_path):
    made = databases("sqlite:///var/records.sqlite3", tmp_path)
    assert made.keys() == {"default", SHORT_LIVED}
    assert made["default"]["NAME"] == str(tmp_path / "var" / "records.sqlite3")
    assert made[SHORT_LIVED]["NAME"] == str(tmp_path / "var" / "records.short-lived.sqlite3")
    assert "synchronous=FULL" in made["default"]["OPTIONS"]["init_command"]
    assert "synchronous=NORMAL" in made[SHORT_LIVED]["OPTIONS"]["init_command"]
    made = databases("sqlite:///var/records.sqlite3", tmp_path, short_lived_synchronous="FULL")
    assert "synchronous=FULL" in made[SHORT_LIVED]["OPTIONS"]["init_command"]
    made = databases(f"sqlite:///{tmp_path}/elsewhere/records.sqlite3", tmp_path / "project")
    assert made["default"]["NAME"] == str(tmp_path / "elsewhere" / "records.sqlite3")
    assert (tmp_path / "elsewhere").is_dir()


@pytest.mark.parametrize("alias", ["default", SHORT_LIVED])
def test_sqlite_begins_immediate_on_connections_that_stay_and_has_room_for_an_import(tmp_path, alias):
    made = databases("sqlite:///records.sqlite3", tmp_path)[alias]
    assert made["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert made["CONN_MAX_AGE"] is None
    for pragma in ("temp_store=MEMORY", "cache_size=-32768", "wal_autocheckpoint=8192"):
        assert f"PRAGMA {pragma};" in made["OPTIONS"]["init_command"]


def test_postgresql_starts_no_workers_and_gives_a_host_that_is_gone_up_soon_by_default(tmp_path):
    options = databases("postgres://shop@db.example.com/dashboard", tmp_path)["default"]["OPTIONS"]
    assert "-c max_parallel_workers_per_gather=0 -c jit=off" in options["options"]
    assert options["connect_timeout"] == 5
    assert options["keepalives_idle"] + options["keepalives_interval"] * options["keepalives_count"] == 15
    assert options["tcp_user_timeout"] == 10_000
    url = "postgres://shop@db.example.com/dashboard?options=-c%20jit%3Don&connect_timeout=2"
    setting = databases(url, tmp_path)["default"]["OPTIONS"]
    assert (setting["options"], setting["connect_timeout"]) == ("-c jit=on", 2)


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_postgresql_has_ended_is_replaced_before_the_next_request():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's connections are files.")
    kept = connection.copy()
    try:
        with kept.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (backend,) = cursor.fetchone()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
        kept.close_if_unusable_or_obsolete()  # Django does so as a request begins
        with kept.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchone() == (1,)
    finally:
        kept.close()


def test_no_request_waits_longer_than_five_seconds_for_a_writer(tmp_path):
    on_sqlite = databases("sqlite:///records.sqlite3", tmp_path)
    assert [made["OPTIONS"]["timeout"] for made in on_sqlite.values()] == [5, 5]
    on_postgresql = databases("postgres://shop@db.example.com/dashboard", tmp_path)["default"]
    assert "-c lock_timeout=5000" in on_postgresql["OPTIONS"]["options"]


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only")
def test_postgresql_has_the_lock_timeout():
    with connection.cursor() as cursor:
        cursor.execute("SELECT reset_val FROM pg_settings WHERE name = 'lock_timeout'")
        assert cursor.fetchone() == ("5000",)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_keeps_everything_in_one_database(tmp_path, scheme):
    made = databases(f"{scheme}://shop:pw@db.example.com:5433/dashboard", tmp_path)
    assert made.keys() == {"default"}
    default = made["default"]
    assert (default["HOST"], default["PORT"], default["NAME"]) == ("db.example.com", 5433, "dashboard")
    assert default["CONN_MAX_AGE"] is None
    assert default["CONN_HEALTH_CHECKS"]


@pytest.fixture
def two_files(settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES, SHORT_LIVED, settings.DATABASES["default"])


def test_the_router_keeps_nonces_and_sessions_in_their_own_file(two_files):
    router = ShortLivedRouter()
    assert router.db_for_write(Nonce) == router.db_for_read(Session) == SHORT_LIVED
    assert router.db_for_write(Finding) == "default"
    assert router.allow_migrate(SHORT_LIVED, "sessions", "session")
    assert not router.allow_migrate("default", "sessions", "session")
    assert router.allow_migrate("default", "dashboard_api", "finding")
    assert not router.allow_migrate(SHORT_LIVED, "dashboard_api", "finding")


def test_the_router_knows_one_database_only_on_postgresql(settings, monkeypatch):
    monkeypatch.delitem(settings.DATABASES, SHORT_LIVED, raising=False)
    router = ShortLivedRouter()
    assert router.db_for_write(Nonce) == "default"
    assert router.allow_migrate("default", "dashboard_api", "nonce")


@pytest.mark.django_db
def test_every_table_exists_in_exactly_one_database():
    tables = [
        table
        for alias in connections
        for table in connections[alias].introspection.table_names()
        if table != "django_migrations"
    ]
    assert len(tables) == len(set(tables))
    assert {"dashboard_api_nonce", "django_session", "dashboard_api_finding"} <= set(tables)


@pytest.mark.parametrize(
    "url", ["redis://cache.example.com/1", "rediss://:pw@cache:6380/0", "unix:///run/redis"]
)
def test_redis_is_given_up_soon_when_it_does_not_answer(url):
    made = caches(url)["default"]
    assert made["LOCATION"] == url
    waits = {name: made["OPTIONS"][name] for name in ("socket_connect_timeout", "socket_timeout")}
    assert waits == {"socket_connect_timeout": 0.5, "socket_timeout": 0.5}


def test_without_redis_all_processes_count_in_the_database():
    assert caches("")["default"]["BACKEND"].endswith("DatabaseCache")


def test_the_suite_counts_in_the_redis_that_it_was_given(settings):
    cache.set("attempts", [1.5])
    assert cache.get("attempts") == [1.5]
    assert bool(settings.REDIS_URL) == isinstance(used_caches["default"], SharedCache)
