"""Sign-in and pages while the database is locked, full or unreachable."""

import contextlib
import errno
import json
import os
import socket
import sqlite3
import subprocess
import sys
import time

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, InterfaceError, connection, connections, transaction
from django.test import Client, RequestFactory

from config.operations import doctor
from config.web import errors
from foundation.operations.storage import is_storage_fault
from tests.authenticator import code_of
from tests.config.checkout import BASE_DIR
from tests.dashboard_api.calls import ask, fields_for
from tests.factories import make_link, make_membership, make_portal_account, make_user, make_website

PASSWORD = "correct horse battery"
KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
LOGIN = "/accounts/login/"
NEW = "another horse battery"
NEW_PASSWORD = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}

on_sqlite = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "short_lived" not in settings.DATABASES, reason="of SQLite, where a writer locks a file"
    ),
]


@pytest.fixture
def lock():
    """A lock on a file, like that of another process's import."""
    with contextlib.ExitStack() as locks:

        def hold(alias):
            other = sqlite3.connect(connections[alias].settings_dict["NAME"], isolation_level=None)
            locks.callback(other.close)
            other.execute("BEGIN IMMEDIATE")
            for each in connections.all():
                with each.cursor() as cursor:
                    cursor.execute("PRAGMA busy_timeout = 50")

        yield hold
    connections.close_all()  # the next ones wait as usual


def browser():
    return Client(raise_request_exception=False)


def sign_in(client):
    return client.post(LOGIN, {"login": "owner", "password": PASSWORD})


def is_polite_503(response):
    page = response.content.decode()
    return (response.status_code, response.headers.get("Retry-After")) == (503, "30") and "Please try" in page


class TestLocked:
    pytestmark = on_sqlite

    @pytest.mark.parametrize(("alias", "is_named"), [("short_lived", True), ("default", False)])
    def test_doctor_names_a_file_that_another_process_locks_unless_imports_do(self, lock, alias, is_named):
        lock(alias)
        start = f"{connections[alias].settings_dict['NAME']} cannot be written: database is locked."
        assert [line.startswith(start) for line in doctor.problems() if "locked" in line] == [True] * is_named

    def test_the_start_is_not_refused_for_a_lock(self, lock):
        lock("default")
        doctor.start()

    def test_people_sign_in_and_look_around_during_an_import(self, lock):
        user, client = make_user(), browser()
        make_membership(user, make_portal_account())
        lock("default")
        assert sign_in(client)["Location"] == "/"
        for path in ("/", "/accounts/", "/team/", "/notifications/"):
            assert client.get(path).status_code == 200

    def test_people_sign_in_with_a_code_during_an_import(self, lock):
        TOTP.activate(make_user(), KEY)
        lock("default")
        client = browser()
        sign_in(client)
        response = client.post("/accounts/2fa/authenticate/", {"code": code_of(KEY, at=time.time())})
        assert response["Location"] == "/"

    def test_a_hash_of_an_older_django_waits_for_a_later_sign_in(self, lock):
        user = make_user()
        user.password = make_password(PASSWORD, salt="short")
        user.save()
        lock("default")
        client = browser()
        assert sign_in(client)["Location"] == "/"
        assert client.get("/accounts/").status_code == 200

    def test_a_hash_of_an_older_django_is_replaced_otherwise(self):
        user = make_user()
        user.password = old = make_password(PASSWORD, salt="short")
        user.save()
        client = browser()
        sign_in(client)
        user.refresh_from_db()
        assert user.password != old
        assert client.get("/accounts/").status_code == 200

    def test_what_has_to_be_written_is_503_with_a_time_to_come_back(self, lock):
        make_user()
        client = browser()
        sign_in(client)
        lock("default")
        assert is_polite_503(client.post("/accounts/password/change/", NEW_PASSWORD))

    @pytest.mark.parametrize("path", [LOGIN, "/accounts/2fa/webauthn/login/"])
    def test_a_session_that_cannot_be_kept_is_503_and_no_fault_of_the_visitor(self, lock, path):
        make_user()
        client, by_script = browser(), {"accept": "application/json"}
        client.get("/accounts/2fa/webauthn/login/", headers=by_script)
        lock("short_lived")
        response = sign_in(client) if path == LOGIN else client.get(path, headers=by_script)
        assert is_polite_503(response)

    def test_a_full_disk_is_503_and_what_there_is_can_be_read(self, lock):
        website, client = make_website(), browser()
        client.force_login(make_user(is_staff=True, is_superuser=True))
        with connections["default"].cursor() as cursor:
            (pages,) = cursor.execute("PRAGMA page_count").fetchone()
            (free,) = cursor.execute("PRAGMA freelist_count").fetchone()  # of rows that earlier tests deleted
            (size,) = cursor.execute("PRAGMA page_size").fetchone()
            cursor.execute(f"PRAGMA max_page_count = {pages}")
        path = f"/admin/dashboard_api/website/{website.pk}/import/"
        report = SimpleUploadedFile("report.json", b"x" * (free * size + 1_000_000))
        assert is_polite_503(client.post(path, {"report": report, "format_name": "auto"}))
        assert client.get("/accounts/").status_code == 200


WALK = """
import django, json
django.setup()
from django.test import Client
from tests.routes import every_path
client = Client(raise_request_exception=False)
answers = []
for path in every_path():
    for method in ("GET", "POST"):
        client.cookies["sessionid"] = "a" * 32
        response = client.generic(method, path)
        answers.append([method, path, response.status_code, response.get("Retry-After")])
print(json.dumps(answers))
"""


@pytest.mark.slow
def test_no_page_is_a_500_while_postgresql_is_away():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # so nothing listens there
        url = f"postgres://postgres@127.0.0.1:{closed.getsockname()[1]}/nothing"
        environ = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url}
        done = subprocess.run(
            [sys.executable, "-c", WALK],
            cwd=BASE_DIR,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
    answers = json.loads(done.stdout)
    assert {status for *_, status, _ in answers if status >= 500} == {503}
    found = {(method, path): rest for method, path, *rest in answers}
    for path in ("/", "/sites/shop.example.com/", LOGIN, "/accounts/", "/admin/", "/nowhere/"):
        assert found.get(("GET", path), [503, "30"]) == [503, "30"], path


def answer_to(error, path):
    try:
        raise error
    except type(error):
        return errors.server_error(RequestFactory().get(path))


@pytest.mark.parametrize(("path", "kind"), [("/", "text/html; charset=utf-8"), ("/v1/", "application/json")])
def test_a_lost_connection_is_503_below_v1_too(path, kind):
    response = answer_to(InterfaceError("the connection is closed"), path)
    assert (response.status_code, response["Content-Type"]) == (503, kind)
    assert response["Retry-After"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_full_or_broken_disk_is_503(number):
    assert answer_to(OSError(number, "of the disk"), "/").status_code == 503
    assert answer_to(FileNotFoundError(errno.ENOENT, "a bug"), "/").status_code == 500


@pytest.mark.django_db
def test_a_damaged_file_and_missing_tables_are_503_and_a_wrong_statement_is_not(tmp_path):
    def fault_of(statement):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)
        except DatabaseError as error:
            return error

    assert is_storage_fault(fault_of("SELECT * FROM no_such_table"))
    if connection.vendor == "sqlite":
        (tmp_path / "damaged.sqlite3").write_bytes(b"no database" * 1_000)
        damaged = sqlite3.connect(tmp_path / "damaged.sqlite3")
        with (
            contextlib.closing(damaged),
            pytest.raises(DatabaseError) as raised,
            connection.wrap_database_errors,
        ):
            damaged.execute("SELECT * FROM sqlite_master")
        assert is_storage_fault(raised.value)
    else:
        assert not is_storage_fault(fault_of("SELECT 1 / 0"))
        assert not is_storage_fault(fault_of("SELEC"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="of PostgreSQL, where a standby is read-only")
def test_a_read_only_database_is_503_and_no_call_gets_past_its_nonce():
    link, client = make_link(), browser()
    make_user()
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    try:
        response = ask(client, fields_for(link))
        assert (response.status_code, response.json()["error"]["code"]) == (503, "unavailable")
        assert response["Retry-After"]
        assert is_polite_503(sign_in(client))
    finally:
        connection.close()
    assert ask(client, fields_for(link)).status_code == 200


def test_any_other_fault_stays_500():
    assert answer_to(KeyError("a bug"), "/").status_code == 500
