"""The drill of docs/operating/backup.md: a backup, a restore into empty databases, and calls after it."""

import http.client
import shutil
import time

import psycopg
import pytest

from dashboard_api import limits
from tests.deploy.production import NAME, Production
from tests.deploy.test_production import CALL, signed
from tests.faults.server import free_port

pytestmark = pytest.mark.slow

MANAGE = ".venv/bin/python manage.py"


@pytest.fixture
def first_machine(production):
    """The production of the other tests, on a port of its own: theirs may still be served."""
    same = object.__new__(Production)
    same.__dict__ |= production.__dict__ | {"port": free_port()}
    return same


@pytest.fixture
def second_machine(production, tmp_path, own_database):
    """A copy of the checkout with the same .env and an empty database."""
    copy = object.__new__(Production)
    left_out = shutil.ignore_patterns(".venv", "var")
    copy.folder = shutil.copytree(production.folder, tmp_path / "second", ignore=left_out)
    (copy.folder / ".venv").symlink_to(production.folder / ".venv")
    copy.environ, copy.port = dict(production.environ), free_port()
    if not own_database:
        yield copy
        return
    address, _, name = own_database.rpartition("/")
    with psycopg.connect(f"{address}/postgres", autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}_restored")
        copy.environ["DATABASE_URL"] = f"{own_database}_restored"
        yield copy
        server.execute(f"DROP DATABASE {name}_restored WITH (FORCE)")


def call(port, body, headers):
    """Return the response to a signed call, as nginx would forward it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", CALL, body, headers | {"Host": NAME, "X-Forwarded-Proto": "https"})
    response = connection.getresponse()
    response.body = response.read()
    connection.close()
    return response


def test_a_restored_backup_serves_the_same_and_refuses_calls_of_the_lost_time(
    first_machine, link_id, second_machine, tmp_path
):
    captured = signed(link_id)
    with first_machine.serving():
        backed_up = first_machine.shell(f"{MANAGE} backup {tmp_path}/backups")
        assert call(first_machine.port, *captured).status == 200
    assert (backed_up.returncode, backed_up.stderr) == (0, "")
    [backup] = (tmp_path / "backups").iterdir()

    before_restore = time.monotonic()
    restored = second_machine.shell(f"{MANAGE} restore {backup}")
    assert restored.returncode == 0, restored.stderr
    assert "Signed calls are answered again from" in restored.stderr
    same = f"{MANAGE} dumpdata auth dashboard_api.finding dashboard_api.secret portal.website"
    assert second_machine.shell(same).stdout == first_machine.shell(same).stdout

    with second_machine.serving():
        for sent in (captured, signed(link_id)):
            refusal = call(second_machine.port, *sent)
            assert refusal.status == 503, refusal.body
            passed = time.monotonic() - before_restore
            assert int(refusal.headers["Retry-After"]) > limits.TIMESTAMP_WINDOW_SECONDS - passed - 1
