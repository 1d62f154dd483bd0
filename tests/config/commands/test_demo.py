import re
import socket
import sqlite3
from contextlib import closing
from queue import Queue

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from config.management.commands import demo as demo_command
from dashboard_api.crawler import wall

pytestmark = pytest.mark.once  # the demo has its own SQLite files
DATA = ("var", "demo")
REFUSED = (
    "The database was created before the first release and cannot be migrated: begin with an empty one "
    "('make demo ARGS=--reset' for a demo)."
)


@pytest.fixture
def first_run(demo_run):
    return demo_run[1]


@pytest.fixture
def demo(demo_run, tmp_path):
    return demo_run[0].copy(tmp_path)


def link_ids(demo):
    with closing(sqlite3.connect(demo.folder.joinpath(*DATA, "records.sqlite3"))) as database:
        return database.execute("SELECT link_id FROM dashboard_api_sitelink ORDER BY id").fetchall()


def password_in(done):
    return re.search(r"with the password (\S+)", done.stdout)[1]


@pytest.mark.slow
def test_one_command_prepares_everything_and_says_how_to_get_in(demo, first_run):
    assert (first_run.returncode, bool(first_run.stderr)) == (0, bool(wall.problem_here()))
    for text in (
        "http://127.0.0.1:8123/admin/",
        "/v1/site/dashboard",
        "signed_request",
        "owner",
        "demo-shop.localhost",
    ):
        assert text in first_run.stdout
    assert len(password_in(first_run)) >= 16
    assert demo.folder.joinpath("var", "static", "staticfiles.json").exists()
    assert {path.name for path in demo.folder.joinpath(*DATA).iterdir()} == {
        "records.sqlite3",
        "records.short-lived.sqlite3",
        "website",
    }


def test_a_demo_warns_if_its_scanners_run_without_a_wall(settings, monkeypatch):
    monkeypatch.setattr(wall, "problem_here", lambda: "it is not installed")
    settings.CRAWLER_WALL = False
    assert "does not work here (it is not installed)" in demo_command.wall_warning()
    settings.CRAWLER_WALL = True
    assert demo_command.wall_warning() == ""


def test_the_demo_prints_what_an_integrator_needs(demo, first_run):
    secret = re.search(r"export SITE_API_SECRET=(es1_live_\S+)\n", first_run.stdout)[1]
    account, link_id = re.search(
        r"export PORTAL_ACCOUNT_REF=(\S+) LINK_ID=(\S+)\n", first_run.stdout
    ).groups()
    exported = {"SITE_API_SECRET": secret, "PORTAL_ACCOUNT_REF": account, "LINK_ID": link_id}
    asked = demo.manage("signed_request", "--host", "shop.example.com", "--curl", **exported)
    assert (link_id,) in link_ids(demo)
    assert f'"link_id":"{link_id}","portal_account_ref":"{account}"' in asked.stdout
    assert secret not in asked.stdout


def printed_test_secret(run):
    return re.search(r"export SITE_API_SECRET=(es1_test_\S+)\n", run.stdout)[1]


@pytest.mark.slow
def test_a_second_run_keeps_data_password_and_test_secret(demo, first_run):
    before = link_ids(demo)
    second = demo.manage("demo", "--no-serve")
    assert (second.returncode, second.stderr) == (0, "")
    assert password_in(second) == password_in(first_run)
    assert printed_test_secret(second) == printed_test_secret(first_run)
    assert link_ids(demo) == before


@pytest.mark.slow
def test_a_database_from_before_the_first_release_is_refused_until_it_is_reset(demo):
    """A reset makes a new demo, and deletes nothing else."""
    before = link_ids(demo)
    with closing(sqlite3.connect(demo.folder.joinpath(*DATA, "records.sqlite3"))) as database, database:
        earlier = ("dashboard_api", "0002_search", "2026-11-01")
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES (?, ?, ?)", earlier)
    for arguments in ("demo", "--no-serve"), ("migrate",):
        done = demo.manage(*arguments)
        assert (done.returncode, REFUSED in done.stderr) == (1, True)
    assert REFUSED in demo.manage("doctor").stderr
    done = demo.python("-c", "import config.wsgi")
    assert (done.returncode, done.stderr) == (3, f"{REFUSED} (config.E009)\n")

    others = [demo.folder / "var" / "records.sqlite3", demo.folder.joinpath(*DATA, "mine.sqlite3")]
    for other in others:
        other.touch()
    assert demo.manage("demo", "--no-serve", "--reset").returncode == 0
    assert link_ids(demo) != before
    for other in others:
        other.unlink()


@pytest.mark.slow
def test_data_of_another_env_file_are_kept_with_advice(demo):
    before = link_ids(demo)
    env = demo.folder / ".env"
    mine = env.rename(demo.folder / "env.mine")
    done = demo.manage("demo", "--no-serve")
    mine.replace(env)
    assert done.returncode == 1
    assert "manage.py demo --reset" in done.stderr
    assert "password" not in done.stdout
    assert link_ids(demo) == before


def test_a_port_in_use_is_named_before_anything_is_made(fresh_checkout):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        done = fresh_checkout.manage("demo", "--port", str(port))
    assert done.returncode == 1
    assert f"Port {port} cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
    assert not fresh_checkout.folder.joinpath("var").exists()


def test_a_foreign_env_file_is_kept_without_a_traceback(fresh_checkout):
    env = fresh_checkout.folder / ".env"
    env.write_text("SECRET_KEY=mine\n")
    done = fresh_checkout.manage("demo", "--no-serve")
    assert done.returncode == 1
    assert "Move that file away" in done.stderr
    assert "Traceback" not in done.stderr
    assert env.read_text() == "SECRET_KEY=mine\n"
    assert not fresh_checkout.folder.joinpath("var").exists()


def test_a_database_elsewhere_is_refused_without_a_traceback(fresh_checkout):
    done = fresh_checkout.manage("demo", "--no-serve", DATABASE_URL="postgres://shop@127.0.0.1/shop")
    assert done.returncode == 1
    assert "unset DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr
    assert not fresh_checkout.folder.joinpath(".env").exists()


@pytest.mark.parametrize("option", ["--no-serve", "--reset"])
def test_other_databases_than_the_demos_are_refused(settings, monkeypatch, option):
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", "records.sqlite3")
    with pytest.raises(CommandError, match="only its own data"):
        call_command("demo", option)


def test_the_demo_checks_claims_again_and_again_also_after_a_failure(monkeypatch):
    rounds = Queue()

    def run(name, **_):
        rounds.put(name)
        raise DatabaseError("locked")

    monkeypatch.setattr(demo_command, "call_command", run)
    with demo_command.checking_claims(pause=0.001):
        assert [rounds.get(timeout=20), rounds.get(timeout=20)] == ["check_claims"] * 2
