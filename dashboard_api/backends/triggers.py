"""Installation of the triggers, at the end of every ``migrate``."""

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from dashboard_api.backends import backend_of
from dashboard_api.backends.trigger_set import TriggerSet


def install(connection: BaseDatabaseWrapper) -> None:
    """Create missing triggers; then change every revision, because changes may have been missed."""
    backend = backend_of(connection)
    triggers: TriggerSet = backend.REVISION_TRIGGERS
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if _installed(cursor, connection, triggers).keys() == triggers.names:
            return
        _drop(cursor, connection, triggers)
        for statement in triggers.statements:
            cursor.execute(statement)
        cursor.execute(backend.BUMP_EVERY_WEBSITE)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop all triggers; the next ``migrate`` installs them."""
    with connection.cursor() as cursor:
        _drop(cursor, connection, backend_of(connection).REVISION_TRIGGERS)


def _installed(
    cursor: CursorWrapper, connection: BaseDatabaseWrapper, triggers: TriggerSet
) -> dict[str, str]:
    """Return the tables of the installed triggers by name; the triggers may have an older version."""
    cursor.execute(backend_of(connection).LIST_TRIGGERS)
    return {name: table for name, table in cursor.fetchall() if name.startswith(triggers.prefix)}


def _drop(cursor: CursorWrapper, connection: BaseDatabaseWrapper, triggers: TriggerSet) -> None:
    for name, table in _installed(cursor, connection, triggers).items():
        cursor.execute(backend_of(connection).DROP_TRIGGER.format(name=name, table=table))
