"""Migrations after the first of an app only add, and bring a database with rows up to date."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.db import migrations
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED

_TAKE_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.DeleteModel,
    migrations.AlterModelTable,
)


def breaks_earlier_code(operation):
    """Return whether code without the operation cannot read or write the tables any more."""
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        return any(map(breaks_earlier_code, operation.database_operations))
    if isinstance(operation, migrations.AddField):
        field = operation.field
        return not (field.null or field.many_to_many or field.db_default is not NOT_PROVIDED)
    return isinstance(operation, _TAKE_AWAY)


def test_no_migration_after_an_apps_first_breaks_the_code_before_it():
    ours = {app.label for app in apps.get_app_configs() if "site-packages" not in app.path}
    disk = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    assert {label for label, name in disk if name == "0001_initial"} >= ours - {"es1"}
    later = [
        (name, operation)
        for name, migration in disk.items()
        if name[0] in ours and not migration.initial
        for operation in migration.operations
    ]
    assert [name for name, operation in later if breaks_earlier_code(operation)] == []


def test_a_migration_that_was_released_is_not_changed():
    lines = (Path(__file__).parent / "released_migrations.txt").read_text().splitlines()
    released = {name: digest for digest, name in (line.split() for line in lines)}
    root = Path(__file__).parents[2]
    assert {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in released} == released


@pytest.mark.once
def test_a_database_of_the_first_release_with_rows_in_every_table_is_brought_up_to_date(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.config.first_release"],
        env=os.environ
        | {
            "DATABASE_URL": f"sqlite:///{tmp_path}/records.sqlite3",
            "DJANGO_SETTINGS_MODULE": "tests.settings",
        },
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    tables, kept = map(int, done.stdout.split())
    assert tables == kept > 60
