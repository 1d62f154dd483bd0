"""The database snapshot and the time limit of a response."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection

from dashboard_api import limits
from dashboard_api.errors import SlowRequest

_STEPS = 100_000
_QUERY_CANCELED = "57014"  # a PostgreSQL error code


@contextmanager
def snapshot() -> Iterator[None]:
    """Read from one snapshot of the database within a time limit; raises SlowRequest.

    Does not act inside an open transaction.
    """
    if connection.in_atomic_block:
        yield
        return
    try:
        on_backend = {"sqlite": _on_sqlite, "postgresql": _on_postgresql}[connection.vendor]
        with on_backend():
            yield
    except OperationalError as error:
        if _reached_time_limit(error):
            raise SlowRequest from error
        raise


@contextmanager
def _on_sqlite() -> Iterator[None]:
    """Limit the time of all statements together; readers never wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
    end = time.monotonic() + limits.STATEMENT_SECONDS
    # SQLite calls the handler every _STEPS instructions, and stops the statement if it returns true.
    connection.connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        yield
    finally:
        connection.connection.set_progress_handler(None, 0)
        connection.rollback()


@contextmanager
def _on_postgresql() -> Iterator[None]:
    """Limit the time of each statement, and its wait for a lock, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            f"SET LOCAL statement_timeout = {limits.STATEMENT_SECONDS * 1000:.0f}; "
            f"SET LOCAL lock_timeout = {limits.LOCK_SECONDS * 1000:.0f}"
        )
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()  # a rollback would make psycopg prepare all statements again


def _reached_time_limit(error: OperationalError) -> bool:
    cause = error.__cause__
    interrupted = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
    return interrupted or getattr(cause, "sqlstate", None) == _QUERY_CANCELED
