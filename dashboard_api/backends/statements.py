"""Helpers for hand-written SQL, used where the ORM takes longer to build a statement than to run it."""

import functools
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

from django.db import InterfaceError, OperationalError, connections, models, router

from dashboard_api.backends import backend_of


@functools.cache
def alias_of(model: type[models.Model]) -> str:
    """Return the alias of the database that has ``model``; it never changes, so it is cached."""
    return str(router.db_for_write(model))


def select(
    model: type[models.Model], statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Run a statement on the database of ``model``; return its rows."""
    with connections[alias_of(model)].cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def changed_rows(
    model: type[models.Model], statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> int:
    """Run a statement on the database of ``model``; return the number of changed rows."""
    with connections[alias_of(model)].cursor() as cursor:
        cursor.execute(statement, parameters)
        count: int = cursor.rowcount
    return count


def rows_changed_by_triggers(model: type[models.Model], statement: str, parameters: Mapping[str, Any]) -> int:
    """Run a statement on SQLite; return the number of rows that it and its triggers changed."""
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
    """Run the first statement of a call, if needed on a new connection; return its rows.

    The retry replaces Django's health check, which costs another statement in every call.
    """
    connection = connections[alias_of(model)]
    was_kept = connection.connection is not None and not connection.in_atomic_block
    connection.health_check_done = True  # type: ignore[attr-defined]  # disables the check by Django
    try:
        return select(model, statement, parameters)
    except (OperationalError, InterfaceError):
        if not was_kept:  # a new connection does not help
            raise
        connection.close()
        return select(model, statement, parameters)


def placeholders(values: Collection[Any]) -> str:
    """Return a placeholder for each value."""
    return ", ".join(["%s"] * len(values))


def to_datetime(value: Any) -> Any:
    """Return a stored time in UTC; SQLite returns it without a zone, or as text from an expression."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def to_column(value: datetime) -> str:
    """Return a time as text for comparisons, as SQLite stores it and PostgreSQL reads it."""
    return str(value.astimezone(UTC).replace(tzinfo=None))
