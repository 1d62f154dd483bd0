"""Move from SQLite to PostgreSQL: copy every row into an empty database.

Unlike ``loaddata``, it leaves out the table that triggers fill, and never reuses the id of a deleted row.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import ExitStack
from itertools import islice
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.core.management.color import no_style
from django.db import DatabaseError, connections, models, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from config.operations.backups import RAISE_IDS_ON_POSTGRESQL
from config.operations.databases import databases

TARGET = "move_to"  # the alias of the new database
BATCH = 1_000  # rows in one statement
_FORM = "must look like postgres://user@host/name"
_FILLED_BY_TRIGGERS = "dashboard_api.models.revisions"


class Command(BaseCommand):
    """manage.py move_to postgres://user@host/name."""

    help = (
        "Copy everything from SQLite into an empty PostgreSQL database. Stop the service first. The SQLite "
        "files do not change."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "url", type=_postgres, metavar="DATABASE_URL", help="such as postgres://user@host/name"
        )

    def handle(self, *args: Any, url: str, **options: Any) -> None:
        """Prepare the new database, and copy in one transaction."""
        target = _connect(url)
        try:
            _refuse_unless_empty(target)
            _manage(url, "migrate", "--verbosity", "0")
            counts = _copy(target)
        finally:
            target.close()
        rows = "\n".join(f"{count:>10,}  {name}" for name, count in counts if count)
        self.stdout.write(
            f"Copied and verified:\n{rows}\nNext: set DATABASE_URL to the new database and start "
            "the service. Keep the old database until you have seen the new one work."
        )


def _postgres(text: str) -> str:
    if not text.startswith(("postgres://", "postgresql://")):
        raise ArgumentTypeError(_FORM)
    return text


def _connect(url: str) -> BaseDatabaseWrapper:
    """Return an open connection to ``url`` under the alias ``TARGET``; raises CommandError."""
    try:
        connections.settings[TARGET] = databases(url, settings.BASE_DIR)["default"]
        connections.configure_settings(connections.settings)  # fills in the defaults
        target = connections[TARGET]
        target.ensure_connection()
    except (ImproperlyConfigured, ValueError) as error:  # the URL has no name, or a wrong port
        raise CommandError(f"The address {_FORM}.") from error
    except DatabaseError as error:
        raise CommandError(f"The new database cannot be reached: {error}") from error
    return target


def _refuse_unless_empty(target: BaseDatabaseWrapper) -> None:
    if tables := target.introspection.table_names():
        raise CommandError(
            f"The new database already holds {len(tables)} tables, and nothing was changed. "
            "Name an empty one, which createdb creates."
        )


def _manage(url: str, *command: str) -> None:
    """Run a management command on the database at ``url``; raises CommandError."""
    process = subprocess.run(  # noqa: S603  # our own commands
        [sys.executable, sys.argv[0], *command],
        env=os.environ | {"DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise CommandError(f"'manage.py {command[0]}' failed on the new database:\n{process.stderr.strip()}")


def _copy(target: BaseDatabaseWrapper) -> list[tuple[str, int]]:
    """Copy every table that triggers do not fill; return each model's name with its number of rows."""
    copied_models = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model.__module__ != _FILLED_BY_TRIGGERS
    ]
    with ExitStack() as consistent:
        for alias in connections.settings:
            consistent.enter_context(transaction.atomic(using=alias))
        for model in reversed(copied_models):  # migrations have inserted rows, such as permissions
            model._base_manager.using(TARGET)._raw_delete(TARGET)
        counts = [(model._meta.label, _copy_rows(model)) for model in copied_models]
        with target.cursor() as cursor:
            for statement in target.ops.sequence_reset_sql(no_style(), copied_models):
                cursor.execute(statement)
            for model in copied_models:
                _leave_out_deleted_ids(model, cursor)
    return counts


def _leave_out_deleted_ids(model: type[models.Model], target: CursorWrapper) -> None:
    """Continue the ids after the highest that a deleted row had: e-mails and cursors skip older ids."""
    source = connections[router.db_for_read(model)]
    if source.vendor != "sqlite" or not isinstance(model._meta.pk, models.AutoField):
        return
    with source.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [model._meta.db_table])
        for [last] in cursor.fetchall():  # no row if the table never had one
            target.execute(RAISE_IDS_ON_POSTGRESQL, [last, model._meta.db_table, model._meta.pk.column])


def _copy_rows(model: type[models.Model]) -> int:
    """Copy the rows of ``model`` unchanged, also their ``auto_now`` times; return their number."""
    rows = model._base_manager.order_by("pk").iterator(BATCH)
    target = model._base_manager.using(TARGET)
    count = 0
    target._raw_delete(TARGET)  # triggers of other tables may have written rows
    while batch := list(islice(rows, BATCH)):
        target._insert(batch, fields=model._meta.concrete_fields, using=TARGET, raw=True)  # type: ignore[attr-defined]
        count += len(batch)
    return count
