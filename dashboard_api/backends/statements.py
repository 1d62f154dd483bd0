"""Helpers to run hand-written SQL, for statements that the ORM takes longer to write than to run."""

import functools
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

from django.db import InterfaceError, OperationalError, connections, models, router

from dashboard_api.backends import backend_of


@functools.cache
def alias_of(model: type[models.Model]) -> str:
    """Return the alias of the database of ``model``, where it is read and written; it never changes."""
    return str(router.db_for_write(model))


def rows(
    model: type[models.Model], statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Return all rows of a statement, from the database of ``model``."""
    with connections[alias_of(model)].cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def changed_rows(
    model: type[models.Model], statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> int:
    """Return how many rows a statement has changed in the database of ``model``."""
    with connections[alias_of(model)].cursor() as cursor:
        cursor.execute(statement, parameters)
        count: int = cursor.rowcount
    return count


def rows_changed_by_triggers(model: type[models.Model], statement: str, parameters: Mapping[str, Any]) -> int:
    """Return how many rows a statement and its triggers have changed, on SQLite only."""
    connection = connections[alias_of(model)]
    with connection.cursor() as cursor:
        before: int = connection.connection.total_changes
        cursor.execute(statement, parameters)
        return int(connection.connection.total_changes) - before


def backend_for(model: type[models.Model]) -> ModuleType:
    """Return the module with the SQL dialect of the database of ``model``."""
    return backend_of(connections[alias_of(model)])


def first_rows(
    model: type[models.Model], statement: str, parameters: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Return all rows of the first statement of a call, on a new connection if the kept one is broken.

    This replaces Django's health check, which is a statement of its own in every call.
    """
    connection = connections[alias_of(model)]
    was_kept = connection.connection is not None and not connection.in_atomic_block
    connection.health_check_done = True  # type: ignore[attr-defined]  # Django asks no more
    try:
        return rows(model, statement, parameters)
    except (OperationalError, InterfaceError):
        if not was_kept:
            raise
        connection.close()
        return rows(model, statement, parameters)


def marks(values: Collection[Any]) -> str:
    """Return a placeholder for each value."""
    return ", ".join(["%s"] * len(values))


def moment(value: Any) -> Any:
    """Return a stored time with its zone, UTC, which SQLite leaves out; of an expression it has a text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def stored(value: datetime) -> str:
    """Return a time as SQLite stores it and PostgreSQL reads it, for comparisons."""
    return str(value.astimezone(UTC).replace(tzinfo=None))
