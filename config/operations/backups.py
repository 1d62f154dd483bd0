"""Back up the databases, and restore a backup into empty ones.

A backup is a folder with ``backup.json`` and either ``default.sqlite3`` and ``short_lived.sqlite3``, or
``database.dump`` by pg_dump.
"""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from django.apps import apps
from django.db import connection, connections, models, transaction

DUMP, MANIFEST = "database.dump", "backup.json"
_UNFINISHED = ".part"  # the suffix of a folder that is being written
_LONGEST_BACKUP_SECONDS = 24 * 60 * 60
_IDS_A_SECOND = 1_000_000  # more than any table gets
_IDS_OF_32_BITS_A_SECOND = 0.1  # fits 32 bits for 680 years; only tables of people have such ids
# Raises the next id of a table to at least a number; the values are the number, the table and its column.
RAISE_IDS_ON_POSTGRESQL = (
    "SELECT setval(own, greatest(nextval(own), %s)) FROM pg_get_serial_sequence(%s, %s) AS own"
)


class BackupError(Exception):
    """The backup or the restore failed; the message says what to do."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Contents of ``backup.json``; ``files`` maps file names to SHA-256 digests."""

    at: datetime
    vendor: str
    files: dict[str, str]


def write_backup(parent: Path, *, now: datetime) -> Path:
    """Write and check a backup in ``parent``; return its folder, which only this user may read.

    Raises BackupError and OSError.
    """
    folder = parent / f"{now.astimezone(UTC):%Y-%m-%dT%H%M%SZ}"
    unfinished = folder.with_suffix(_UNFINISHED)
    if folder.exists():
        raise BackupError(f"{folder} exists already: wait a second.")
    _delete_unfinished(parent)
    unfinished.mkdir(mode=0o700, parents=True)
    try:
        files = [_copy(alias, unfinished) for alias in connections]
        _refuse_without_tables(
            unfinished,
            f"{_name('default')} holds no tables, and nothing was written: restore a backup, or begin with "
            "'manage.py migrate'.",
        )
        manifest = Manifest(
            at=now,
            vendor=connections["default"].vendor,
            files={file.name: _digest(file) for file in files},
        )
        (unfinished / MANIFEST).touch(mode=0o600)
        (unfinished / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished)
        raise
    return folder


def _delete_unfinished(parent: Path) -> None:
    """Delete the leftovers of killed backups, which would fill the disk.

    Younger folders may belong to a running backup. Errors are ignored: the next backup matters more.
    """
    for folder in parent.glob(f"????-??-??T??????Z{_UNFINISHED}"):
        with suppress(OSError):  # another process may delete or rename it
            if time.time() - folder.stat().st_mtime > _LONGEST_BACKUP_SECONDS:
                shutil.rmtree(folder)


def backups_in(parent: Path) -> list[Path]:
    """Return the complete backups in ``parent``, oldest first."""
    return sorted(manifest.parent for manifest in parent.glob(f"????-??-??T??????Z/{MANIFEST}"))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest after checking the digest of every file; raises BackupError."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, ValueError) as error:
        raise BackupError(f"{folder} is not a complete backup: {error}. Take another one.") from error
    if (vendor := connections["default"].vendor) != manifest.vendor:
        raise BackupError(
            f"{folder} is a backup of {manifest.vendor}, and DATABASE_URL names {vendor}: take another "
            "backup, or correct DATABASE_URL."
        )
    expected = {DUMP} if vendor == "postgresql" else {f"{alias}.sqlite3" for alias in connections}
    if wrong := expected ^ manifest.files.keys():  # those in one of both only
        names = ", ".join(sorted(wrong))
        raise BackupError(
            f"{folder} is not a complete backup: {MANIFEST} lacks these files, or has too many: {names}. "
            "Take another one."
        )
    try:
        changed = [name for name, digest in manifest.files.items() if _digest(folder / name) != digest]
    except OSError as error:
        raise BackupError(f"{folder} is not a complete backup: {error}. Take another one.") from error
    if changed:
        raise BackupError(f"{folder} was changed or damaged: {', '.join(changed)}. Take another backup.")
    _refuse_without_tables(folder, f"{folder} is of a database without tables. Take an older one.")
    return manifest


def _refuse_without_tables(folder: Path, refusal: str) -> None:
    """Raise BackupError if the backup has no tables, such as after a failed restore."""
    if (folder / DUMP).exists():
        found = " django_migrations " in _run(["pg_restore", "--list", str(folder / DUMP)])
    else:
        records = (folder / "default.sqlite3").resolve().as_uri()
        with closing(sqlite3.connect(f"{records}?immutable=1", uri=True)) as opened:
            found = any(opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'django_migrations'"))
    if not found:
        raise BackupError(refusal)


def restore_files(folder: Path) -> None:
    """Copy the backup's rows into the databases, which must be empty; raises BackupError."""
    for alias in connections:
        if tables := connections[alias].introspection.table_names():
            raise BackupError(
                f"{_name(alias)} holds {len(tables)} tables, and nothing was changed. Name an empty database "
                "in DATABASE_URL, or move the files of SQLite away."
            )
    connections.close_all()
    if (folder / DUMP).exists():
        command = ["pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges"]
        _run([*command, "--dbname", _name("default"), str(folder / DUMP)])
        return
    for alias in connections:
        _copy_sqlite(folder / f"{alias}.sqlite3", Path(_name(alias)))


@transaction.atomic
def leave_out_ids() -> None:
    """Skip the ids given after the backup: cursors would miss new rows with them, and old links open them.

    Ids continue from a number that grows with time, because the same backup can be restored again.
    """
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        options = (model._meta for model in apps.get_models())  # noqa: SLF001 - the documented API of models
        for table, key in {(each.db_table, each.pk) for each in options}:  # proxy models share a table
            if table not in tables or not isinstance(key, models.AutoField):
                continue
            start = _id_of_now(key)
            if connection.vendor == "postgresql":
                cursor.execute(RAISE_IDS_ON_POSTGRESQL, [start, table, key.column])
                continue
            cursor.execute("UPDATE sqlite_sequence SET seq = max(seq, %s) WHERE name = %s", [start, table])
            if cursor.rowcount == 0:  # the table never had a row
                cursor.execute("INSERT INTO sqlite_sequence VALUES (%s, %s)", [table, start])


def _id_of_now(key: object) -> int:
    """Return a number that grows with time and fits the field ``key``."""
    has_64_bits = isinstance(key, models.BigAutoField)
    return int(time.time() * (_IDS_A_SECOND if has_64_bits else _IDS_OF_32_BITS_A_SECOND))


def _copy(alias: str, folder: Path) -> Path:
    """Write the database ``alias`` into ``folder``; return the file."""
    if connections[alias].vendor == "postgresql":
        dump = folder / DUMP
        dump.touch(mode=0o600)
        _run(["pg_dump", "--format=custom", "--file", str(dump), "--dbname", _name(alias)])
        return dump
    source = Path(_name(alias))
    if not source.exists():
        raise BackupError(f"{source} does not exist: there is nothing to back up.")
    target = folder / f"{alias}.sqlite3"
    _copy_sqlite(source, target)
    return target


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy one consistent state of a SQLite database, while others write, and check the copy."""
    target.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
            [[result]] = new.execute("PRAGMA quick_check(1)")  # one row with one column
    except sqlite3.Error as error:
        raise BackupError(f"{source} could not be copied to {target}: {error}.") from error
    if result != "ok":
        raise BackupError(f"The copy of {source} is damaged ({result}): check the disk, keep older backups.")


def _name(alias: str) -> str:
    return str(connections[alias].settings_dict["NAME"])


def _run(command: Sequence[str]) -> str:
    """Run a PostgreSQL program with the database's address in its environment; return its output."""
    settings = connections["default"].settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD"}
    address = {name: str(settings[key]) for name, key in names.items() if settings[key]}
    options = settings["OPTIONS"]
    tls = {f"PG{name.upper()}": str(options[name]) for name in ("sslmode", "sslrootcert") if name in options}
    try:
        done = subprocess.run(  # noqa: S603  # our own arguments
            command, env=os.environ | address | tls, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        advice = "install PostgreSQL's client programs (Debian: postgresql-client)"
        raise BackupError(f"{command[0]} was not found: {advice}.") from error
    if done.returncode:
        raise BackupError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
