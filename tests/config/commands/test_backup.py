"""Backups, and refusals to restore; tests/deploy/test_restore.py has the drill."""

import json
import os
import shutil
import stat
import time

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.db.models import AutoField, BigAutoField
from django.utils import timezone

from config.management.commands import restore
from config.operations import backups
from dashboard_api.models import Nonce
from tests.commands import run, run_json
from tests.config.identity.test_sessions import PAGE, sign_in
from tests.config.operations.test_environment import TWO
from tests.factories import make_account, make_finding, make_note, make_user, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("backups")


@pytest.fixture
def backup(folder):
    """The newest backup in ``folder``; the first test that needs one writes it."""
    return (backups.backups_in(folder) or [backups.Path(run_json("backup", folder)["backup"])])[-1]


@pytest.fixture
def copied(backup, tmp_path):
    return shutil.copytree(backup, tmp_path / "2026-01-01T000000Z")


def test_a_backup_is_whole_and_for_its_user_alone(backup):
    manifest = json.loads((backup / "backup.json").read_text())
    assert manifest["vendor"] == connection.vendor
    assert {file.name for file in backup.iterdir()} == {"backup.json", *manifest["files"]}
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (backup, *backup.iterdir())} == {0}


def test_only_the_newest_backups_are_kept(tmp_path, copied):
    shutil.copytree(copied, tmp_path / "2026-01-02T000000Z")
    (tmp_path / "notes").mkdir()
    result = run_json("backup", tmp_path, "--keep", "2")
    assert result["deleted"] == [str(copied)]
    assert len(backups.backups_in(tmp_path)) == 2
    assert (tmp_path / "notes").exists()


def test_a_failed_backup_leaves_nothing_that_looks_like_one(tmp_path, monkeypatch):
    monkeypatch.setattr(backups, "_digest", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("backup", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_backup_is_not_restored(copied):
    file = next(file for file in copied.iterdir() if file.name != "backup.json")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(CommandError, match="changed or damaged"):
        run("restore", copied)


def test_a_backup_of_another_database_is_not_restored(copied):
    manifest = json.loads((copied / "backup.json").read_text())
    (copied / "backup.json").write_text(json.dumps(manifest | {"vendor": "oracle"}))
    with pytest.raises(CommandError, match="is a backup of oracle"):
        run("restore", copied)


@pytest.mark.parametrize(
    ("text", "named"),
    [(b"", "truncated"), (b"no JSON", "malformed"), (b"\xff\x00", "malformed"), (b"[]", "Expected `object`")],
)
def test_a_backup_whose_list_of_files_is_not_json_is_not_restored(copied, text, named):
    (copied / "backup.json").write_bytes(text)
    refuses(copied, named)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("vendor", None, "missing required field `vendor`"),
        ("at", None, "missing required field `at`"),
        ("at", "yesterday", r"`\$.at`"),
        ("files", None, "missing required field `files`"),
        ("files", ["default.sqlite3"], r"`\$.files`"),
        ("files", {}, "lacks these files"),
        ("files", {"../backup.json": "0"}, "has too many"),
    ],
)
def test_a_backup_whose_list_of_files_lacks_something_is_not_restored(copied, field, value, named):
    manifest = json.loads((copied / "backup.json").read_text()) | {field: value}
    known = {name: content for name, content in manifest.items() if content is not None}
    (copied / "backup.json").write_text(json.dumps(known))
    refuses(copied, named)


def test_a_backup_without_one_of_its_files_is_not_restored(copied):
    next(file for file in copied.iterdir() if file.name != "backup.json").unlink()
    refuses(copied, "No such file")


def refuses(folder, named):
    with pytest.raises(
        CommandError, match=f"is not a complete backup: .*{named}.*Take another one"
    ) as refusal:
        run("restore", folder)
    assert "\n" not in str(refusal.value)


@pytest.fixture
def without_tables(copied, monkeypatch, tmp_path):
    """Let backups be of databases without tables, as a failed restore leaves them."""
    name = "template1" if connection.vendor == "postgresql" else tmp_path / "empty.sqlite3"
    if connection.vendor == "sqlite":
        name.touch()
    monkeypatch.setattr(backups, "_name", lambda _alias: str(name))


@pytest.mark.usefixtures("without_tables")
def test_a_database_without_tables_is_not_backed_up_and_no_backup_is_deleted_for_it(tmp_path, copied):
    with pytest.raises(CommandError, match="holds no tables, and nothing was written: restore a backup"):
        run("backup", tmp_path, "--keep", "1")
    assert list(tmp_path.glob("20*")) == [copied]


@pytest.mark.usefixtures("without_tables")
def test_a_backup_without_tables_is_not_restored(tmp_path, monkeypatch):
    with monkeypatch.context() as earlier_version:
        earlier_version.setattr(backups, "_refuse_without_tables", lambda *_arguments: None)
        empty = run_json("backup", tmp_path / "backups")["backup"]
    with pytest.raises(CommandError, match="is of a database without tables"):
        run("restore", empty)


def test_a_folder_without_a_backup_is_not_restored(tmp_path):
    with pytest.raises(CommandError, match="is not a complete backup"):
        run("restore", tmp_path)


def test_a_database_with_tables_is_not_overwritten(backup):
    with pytest.raises(CommandError, match="nothing was changed"):
        run("restore", backup)


def test_what_a_killed_backup_left_is_deleted_after_a_day(tmp_path):
    left, running = tmp_path / "2026-01-01T000000Z.part", tmp_path / "2026-01-02T000000Z.part"
    for unfinished in (left, running):
        unfinished.mkdir()
        (unfinished / "default.sqlite3").write_bytes(b"half of it")
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(left, (two_days_ago, two_days_ago))
    run("backup", tmp_path)
    assert (left.exists(), running.exists()) == (False, True)


@pytest.mark.parametrize("make", [backups.Path.touch, lambda left: left.symlink_to(left.parent)])
def test_what_cannot_be_deleted_does_not_stop_the_next_backup(tmp_path, make):
    left = tmp_path / "2026-01-01T000000Z.part"
    make(left)
    os.utime(left, (0, 0))
    run("backup", tmp_path)
    assert left.exists()
    assert len(backups.backups_in(tmp_path)) == 1


def test_a_wrong_clock_deletes_no_new_backup_and_is_named(tmp_path, copied):
    later = shutil.copytree(copied, tmp_path / "2999-01-01T000000Z")
    with pytest.raises(CommandError, match=f"later than now: {later.name}. The clock was or is wrong"):
        run("backup", tmp_path, "--keep", "1")
    written, kept = backups.backups_in(tmp_path)
    assert (written.name[:2], kept, copied.exists()) == ("20", later, False)


def test_a_restore_that_is_interrupted_by_its_migrations_leaves_no_session_and_no_replay(backup, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    client = sign_in(make_user())
    monkeypatch.setattr(restore, "restore_files", lambda _folder: None)  # what is restored is here already
    monkeypatch.setattr(restore, "call_command", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("restore", backup)
    assert client.get(PAGE).status_code == 302
    assert Nonce.objects.fenced_until(timezone.now())


@pytest.fixture(autouse=True)
def small_ids(monkeypatch):
    """Let ids begin after a small number, and return it: on PostgreSQL, those of later tests do, too."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT max(last_value) FROM pg_sequences")
        else:
            cursor.execute("SELECT max(seq) FROM sqlite_sequence")
        start = (cursor.fetchone()[0] or 0) + 1_000
    monkeypatch.setattr(backups, "_id_of_now", lambda _key: start)
    return start


def test_rows_after_a_restore_have_no_id_of_the_lost_time(backup, monkeypatch, small_ids):
    monkeypatch.setattr(restore, "restore_files", lambda _folder: None)  # what is restored is here already
    monkeypatch.setattr(restore, "call_command", lambda *_args, **_options: None)
    last = make_finding(make_website())
    run("restore", backup)
    assert make_finding(last.website).pk == small_ids + 1
    assert make_note(last.website).pk > small_ids  # the first one
    assert make_user().pk == small_ids + 1  # 32 bits
    run("restore", backup)
    assert small_ids < make_finding(last.website).pk <= small_ids + 3, "ids never go back"


def test_a_restore_with_other_master_keys_says_so_and_fails(backup, monkeypatch, settings, capsys):
    monkeypatch.setattr(restore, "restore_files", lambda _folder: None)  # what is restored is here already
    monkeypatch.setattr(restore, "call_command", lambda *_args, **_options: None)
    make_account()
    assert run_json("restore", backup)["lost_secrets"] == 0
    settings.MASTER_KEYS = [TWO]
    with pytest.raises(CommandError, match="no key for 1 of the restored secrets"):
        run("restore", backup)
    assert "Start the service" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "ids", "end"), [(BigAutoField(), 10_000_000, 2**53), (AutoField(), 1, 2**31)]
)
def test_ids_after_a_restore_are_beyond_those_after_the_last_one_and_fit(monkeypatch, key, ids, end):
    monkeypatch.undo()
    earlier = backups._id_of_now(key)
    monkeypatch.setattr(time, "time", lambda moment=time.time: moment() + 10)
    assert earlier + ids <= backups._id_of_now(key) < end
