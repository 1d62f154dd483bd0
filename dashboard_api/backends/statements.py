"""Statements of our own: the ORM spends more on writing one than the database on running it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter, methodcaller
from types import ModuleType
from typing import Any

from django.db import InterfaceError, OperationalError, connections, models, router

from dashboard_api.backends import engine_of


def rows(
    model: type[models.Model], statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """All rows of one statement, from the database that has ``model``."""
    found: list[tuple[Any, ...]] = _asked(model, statement, parameters, methodcaller("fetchall"))
    return found


def changed_rows(
    model: type[models.Model], statement: str, parameters: Sequence[Any] | Mapping[str, Any]
) -> int:
    """How many rows one statement has changed, in the database that has ``model``."""
    count: int = _asked(model, statement, parameters, attrgetter("rowcount"))
    return count


def _asked(
    model: type[models.Model],
    statement: str,
    parameters: Sequence[Any] | Mapping[str, Any],
    told: Callable[[Any], Any],
) -> Any:
    """What the statement's cursor has ``told``.

    By the driver itself, where nobody listens to what is asked: Django's cursor costs about as much as the
    database. Connections and errors are Django's. Decision record 0034.
    """
    connection = connections[router.db_for_read(model)]
    if connection.queries_logged or connection.execute_wrappers:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return told(cursor)
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    spoken = engine_of(connection).for_driver(statement, named=isinstance(parameters, Mapping))
    with connection.wrap_database_errors:
        return told(connection.connection.execute(spoken, parameters))


def engine_for(model: type[models.Model]) -> ModuleType:
    """What is said differently to the database that has ``model``."""
    return engine_of(connections[router.db_for_read(model)])


def first_rows(
    model: type[models.Model], statement: str, parameters: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Like ``rows``, for the first statement of a call: it is itself the check of a connection that was kept.

    Asking first whether the connection still works would be a statement more for every call.
    """
    connection = connections[router.db_for_read(model)]
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
    """As many placeholders."""
    return ", ".join(["%s"] * len(values))


def moment(value: Any) -> Any:
    """A stored time, which SQLite gives without its zone, UTC."""
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def stored(value: datetime) -> str:
    """A time to compare stored ones with: as SQLite writes it, and PostgreSQL reads it."""
    return str(value.astimezone(UTC).replace(tzinfo=None))
