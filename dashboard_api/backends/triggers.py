"""Have the database keep what it is to keep: every ``migrate`` ends here."""

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from dashboard_api.backends import engine_of
from dashboard_api.backends.trigger_set import Kept


def keep(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers that are missing, and correct what they maintain."""
    for kept in engine_of(connection).KEPT:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            _make_missing(cursor, connection, kept)


def forget(connection: BaseDatabaseWrapper) -> None:
    """Drop all triggers; the next ``migrate`` creates them and corrects what they maintain."""
    with connection.cursor() as cursor:
        for kept in engine_of(connection).KEPT:
            _drop(cursor, connection, _present(cursor, connection, kept))


def _make_missing(cursor: CursorWrapper, connection: BaseDatabaseWrapper, kept: Kept) -> None:
    """Changes may have been missed while a trigger was, so that is mended, too."""
    present = _present(cursor, connection, kept)
    if present == kept.triggers.keys():
        return
    _drop(cursor, connection, present)
    for statements in (*kept.triggers.values(), kept.refresh):
        for statement in statements:
            cursor.execute(statement)


def _present(cursor: CursorWrapper, connection: BaseDatabaseWrapper, kept: Kept) -> set[str]:
    cursor.execute(engine_of(connection).LIST_TRIGGERS)
    return {name for (name,) in cursor.fetchall() if name.startswith(kept.prefix)}


def _drop(cursor: CursorWrapper, connection: BaseDatabaseWrapper, triggers: set[str]) -> None:
    for name in triggers:
        cursor.execute(engine_of(connection).DROP_TRIGGER.format(name=name))
