"""The product on a small disk that is full for a while: SQLite's files on a file system of 8 MB."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from django.conf import settings
from django.db import connections

from tests.dashboard_api.calls import compact, fields_for
from tests.factories import (
    SECRET,
    make_finding,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("short_lived" not in settings.DATABASES, reason="of SQLite, whose files fill a disk"),
]

INSIDE = """
import errno, json, os, sys, time, uuid
from pathlib import Path
import django
django.setup()
from django.test import Client
import es1

folder, body, secret = Path(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]
for module in sys.argv[4:]:  # the control: faults of storage are like any other
    sys.modules[module].is_storage_fault = lambda _: False
PATH = "/v1/site/dashboard"
browser = Client(raise_request_exception=False)

def headers():
    return es1.sign(secret, method="POST", path=PATH, body=body, now=int(time.time()), nonce=uuid.uuid4().hex)

def call(signed):
    response = browser.post(PATH, body, content_type="application/json", headers=signed)
    return response.status_code, response.get("Retry-After")

def sign_in():
    response = Client(raise_request_exception=False).post(
        "/accounts/login/", {"login": "owner", "password": "correct horse battery"})
    return response.status_code, response.get("Retry-After")

answers = {"before": [call(headers()), sign_in()], "full": [], "again": []}
with open(folder / "filler", "wb", buffering=0) as filler:
    try:
        while True:
            filler.write(b"x" * 512)
    except OSError as error:
        assert error.errno == errno.ENOSPC
for _ in range(100):
    signed = headers()
    answer = call(signed)
    answers["full"].append(answer)
    answers["again"].append(call(signed))
answers["full"] += [sign_in() for _ in range(3)]
answers["page"] = [browser.get("/accounts/login/").status_code]
(folder / "filler").unlink()
answers["after"] = [call(headers()), sign_in()]
print(json.dumps(answers))
"""


@pytest.fixture
def link():
    link = make_link()
    make_finding(link.website)
    account = make_portal_account(link.account.ref)
    make_portal_website(account, link.website.host, link.link_id)
    make_membership(make_user("owner"), account)
    return link


def copy_databases(folder):
    """Copy the databases of this test into ``folder`` under the names of the product."""
    for alias, name in (("default", "records.sqlite3"), ("short_lived", "records.short-lived.sqlite3")):
        source = sqlite3.connect(connections[alias].settings_dict["NAME"])
        with closing(source), closing(sqlite3.connect(folder / name)) as target:
            source.backup(target)


@pytest.fixture
def answers(link, tmp_path):
    """Return a function that runs INSIDE on a disk that is full for a while, and returns what it prints."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("unshare -m is not allowed here")
    copies, disk = tmp_path / "copies", tmp_path / "disk"
    copies.mkdir()
    disk.mkdir()
    copy_databases(copies)
    script = f'mount -t tmpfs -o size=8m tmpfs {disk} && cp {copies}/* {disk} && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", INSIDE]
    environ = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"sqlite:///{disk}/records.sqlite3",
    }

    def run(*unaware):
        arguments = [disk, compact(fields_for(link)), SECRET, *unaware]
        done = subprocess.run(
            [*command, *arguments], cwd=settings.BASE_DIR, env=environ, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2_000:].decode()
        return json.loads(done.stdout.splitlines()[-1])

    return run


def check_full(full):
    """Check the answers while the disk was full."""
    assert {status for status, _ in full} <= {200, 302, 429, 503}
    assert 503 in {status for status, _ in full}
    assert all(wait for status, wait in full if status == 503)


def test_a_full_disk_is_503_without_an_unchecked_nonce_and_everything_works_after_it(answers):
    seen = answers()
    assert [status for status, _ in seen["before"]] == [200, 302]
    check_full(seen["full"])
    assert {status for status, _ in seen["again"]} <= {401, 429, 503}  # never 200
    assert seen["page"] in ([200], [503])
    assert [status for status, _ in seen["after"]] == [200, 302]


def test_a_product_that_takes_a_full_disk_for_an_error_of_its_own_is_noticed(answers):
    with pytest.raises(AssertionError, match="500"):
        check_full(answers("config.web.errors")["full"])
