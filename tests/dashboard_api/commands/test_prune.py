from datetime import timedelta

import pytest
from django.core.management.base import CommandError
from django.db import connection, connections, router
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.models import ImportChange, ImportRun, Nonce, Upload
from tests.commands import run, run_json
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_nonce, make_upload, make_website

pytestmark = pytest.mark.django_db

PRUNED = (
    "Deleted 5 expired nonces, 0 old records of calls, 0 audit events, 0 old uploads, 0 finished reports and "
    "0 records of changes by imports that can no longer be taken back.\n"
)
NOTHING = dict.fromkeys(
    (
        *("nonces", "calls", "forgotten_calls", "audit_events", "uploads", "import_changes", "reports"),
        *("callbacks", "remembered_calls"),
    ),
    0,
)


@pytest.fixture
def nonces():
    now = timezone.now()
    for number in range(5):
        make_nonce(f"expired-{number}", expires_at=now - timedelta(minutes=1))
    make_nonce("still-needed", expires_at=now + timedelta(minutes=1))


def test_prune_forgets_all_expired_nonces_in_batches(nonces):
    assert run("prune", "--batch", "2") == PRUNED
    assert Nonce.objects.get().nonce == "still-needed"


def test_a_clock_that_is_ahead_of_the_databases_forgets_nothing_that_is_still_valid(nonces, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no clock of its own")
    ahead = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: ahead)
    assert run_json("prune")["nonces"] == 5
    assert Nonce.objects.get().nonce == "still-needed"


def test_prune_forgets_many_in_batches_of_bounded_size_and_keeps_what_may_still_be_accepted():
    now = int(timezone.now().timestamp())
    Nonce.objects.bulk_create(
        [
            Nonce(account_id=number % 3, nonce=f"{expires_at}-{number}", expires_at=expires_at)
            for expires_at in (now - 3600, now + 3600)
            for number in range(2_500)
        ]
    )
    with CaptureQueriesContext(connections[router.db_for_write(Nonce)]) as statements:
        assert run_json("prune") == NOTHING | {"nonces": 2_500}
    deleting = [
        statement["sql"]
        for statement in statements
        if f"DELETE FROM {Nonce._meta.db_table}" in statement["sql"].replace('"', "")
    ]
    assert [f"LIMIT {limits.PRUNE_BATCH}" in sql for sql in deleting] == [True] * 4
    assert limits.PRUNE_BATCH == 1_000
    assert Nonce.objects.filter(expires_at=now + 3600).count() == Nonce.objects.count() == 2_500


def test_prune_prints_its_numbers_as_json(nonces):
    assert run_json("prune") == NOTHING | {"nonces": 5}
    assert run_json("prune") == NOTHING


def test_prune_forgets_uploads_that_nobody_imported_within_a_day():
    for name, age in (("old", timedelta(hours=25)), ("new", timedelta(hours=23))):
        make_upload(make_website(f"{name}.example.com"), uploaded_at=timezone.now() - age)
    assert run_json("prune") == NOTHING | {"uploads": 1}
    assert Upload.objects.get().website.host == "new.example.com"


def import_finding(host):
    import_bytes(json_lines(make_row(matched_at=f"https://{host}/")), make_website(host))
    return ImportRun.objects.get(website__host=host)


def test_prune_deletes_the_changes_of_imports_that_are_too_old_to_be_taken_back():
    old, new = (import_finding(f"{name}.example.com") for name in ("old", "new"))
    ImportRun.objects.filter(pk=old.pk).update(imported_at=timezone.now() - timedelta(days=31))
    assert run_json("prune")["import_changes"] > 0
    assert set(ImportChange.objects.values_list("run", flat=True)) == {new.pk}
    assert ImportRun.objects.count() == 2


@pytest.mark.parametrize("batch", ["0", "-1", "many"])
def test_prune_needs_a_batch_of_some_size(nonces, batch):
    with pytest.raises(CommandError, match="is not a whole number from 1"):
        run("prune", f"--batch={batch}")
    assert Nonce.objects.count() == 6
