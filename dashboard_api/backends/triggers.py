"""The triggers of the database, which every ``migrate`` installs when it ends."""

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from dashboard_api.backends import backend_of
from dashboard_api.backends.trigger_set import TriggerSet


def install(connection: BaseDatabaseWrapper) -> None:
    """Create missing triggers, and change every revision: changes may have been missed meanwhile."""
    backend = backend_of(connection)
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if _replace(cursor, connection, backend.REVISION_TRIGGERS):
            cursor.execute(backend.BUMP_EVERY_WEBSITE)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop all triggers; the next ``migrate`` installs them."""
    with connection.cursor() as cursor:
        _drop(cursor, connection, backend_of(connection).REVISION_TRIGGERS)


def _replace(cursor: CursorWrapper, connection: BaseDatabaseWrapper, triggers: TriggerSet) -> bool:
    """Create the triggers unless all are there; return whether they were created."""
    if _installed(cursor, connection, triggers).keys() == triggers.names:
        return False
    _drop(cursor, connection, triggers)
    for statement in triggers.statements:
        cursor.execute(statement)
    return True


def _installed(
    cursor: CursorWrapper, connection: BaseDatabaseWrapper, triggers: TriggerSet
) -> dict[str, str]:
    """Return the names of the triggers in the database, of whatever version, each with its table."""
    cursor.execute(backend_of(connection).LIST_TRIGGERS)
    return {name: table for name, table in cursor.fetchall() if name.startswith(triggers.prefix)}


def _drop(cursor: CursorWrapper, connection: BaseDatabaseWrapper, triggers: TriggerSet) -> None:
    for name, table in _installed(cursor, connection, triggers).items():
        cursor.execute(backend_of(connection).DROP_TRIGGER.format(name=name, table=table))
