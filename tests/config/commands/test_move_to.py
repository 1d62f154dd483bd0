import os
import secrets

import psycopg
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.once]  # each moves from SQLite to PostgreSQL

SERVER = os.environ.get("CI_DATABASE_URL", "postgres://postgres@127.0.0.1/postgres")


@pytest.fixture(scope="module")
def new_database():
    """The address of an empty PostgreSQL database; REQUIRE_POSTGRES=1 fails instead of skipping."""
    name = f"move_to_{secrets.token_hex(4)}"
    try:
        server = psycopg.connect(SERVER, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError:
        without = pytest.fail if os.environ.get("REQUIRE_POSTGRES") == "1" else pytest.skip
        without("no PostgreSQL server answers here (CI_DATABASE_URL names one)")
    with server:
        server.execute(f"CREATE DATABASE {name}")
        yield SERVER.rpartition("/")[0] + f"/{name}"
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def demo(demo_run, tmp_path_factory):
    demo = demo_run[0].copy(tmp_path_factory.mktemp("demo"))
    make_session = "from django.contrib.sessions.backends.db import SessionStore; SessionStore().create()"
    assert demo.manage("shell", "-c", make_session).returncode == 0
    assert demo.manage("shell", "-c", DELETE_THE_NEWEST_ACCOUNT).returncode == 0
    return demo


DELETE_THE_NEWEST_ACCOUNT = """
from dashboard_api.models import Account
Account.objects.create(pk=5_000, ref="acct_deleted").delete()
"""


def only(connection, statement):
    return connection.execute(statement).fetchone()[0]


RECORDS = [
    "auth",
    "contenttypes",
    "mfa",
    *(f"dashboard_api.{name}" for name in ("account", "secret", "entitlement", "website", "sitelink")),
    *(f"dashboard_api.{name}" for name in ("source", "finding", "occurrence", "findingevent", "coverage")),
    *(f"dashboard_api.{name}" for name in ("importrun", "analystnote")),
    *(f"portal.{name}" for name in ("account", "website", "membership", "subscription")),
]
SHORT_LIVED = ["sessions", "dashboard_api.nonce", "dashboard_api.secretuse"]


def dumped(demo, *options, **environ):
    done = demo.manage("dumpdata", *options, **environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_is_moved_as_it_was_and_new_rows_follow(demo, new_database):
    """One test for what is moved once: every part of it needs the same demo."""
    moved = demo.manage("move_to", new_database)
    assert (moved.returncode, moved.stderr) == (0, "")
    assert "dashboard_api.Finding" in moved.stdout
    assert dumped(demo, *RECORDS, DATABASE_URL=new_database) == dumped(demo, *RECORDS)

    kept = dumped(demo, "--database", "short_lived", *SHORT_LIVED)
    assert "sessions.session" in kept
    assert dumped(demo, *SHORT_LIVED, DATABASE_URL=new_database) == kept

    made = demo.manage("onboard", "acct_new", DATABASE_URL=new_database)
    assert (made.returncode, made.stderr) == (0, "")
    with psycopg.connect(new_database) as connection:
        assert only(connection, "SELECT MAX(id) FROM dashboard_api_account") > 5_000, "no id is given twice"

    again = demo.manage("move_to", new_database)
    assert again.returncode == 1
    assert "already holds" in again.stderr
    assert "Traceback" not in again.stderr


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("sqlite:///other.sqlite3", "must look like postgres://"),
        ("postgres://postgres@127.0.0.1:1/nothing", "cannot be reached"),
        ("postgres://postgres@127.0.0.1", "must look like postgres://"),
        ("postgres://postgres@127.0.0.1:port/name", "must look like postgres://"),
    ],
)
def test_an_address_without_a_database_is_refused(demo, url, refusal):
    refused = demo.manage("move_to", url)
    assert refused.returncode != 0
    assert refusal in refused.stderr
    assert "Traceback" not in refused.stderr
