"""The SQL of a call, recorded once and run on its own, and a clock of the database's CPU time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from benchmarks.machine import cpu_seconds_once_idle


@dataclass(frozen=True, slots=True)
class Statement:
    """An SQL statement with its parameters."""

    sql: str
    parameters: Any

    def run(self) -> None:
        """Run the statement once and fetch every row."""
        with connection.cursor() as cursor:
            cursor.execute(self.sql, self.parameters)
            cursor.fetchall()


def statements_of(call: Callable[[], object]) -> list[Statement]:
    """Return the SQL statements of a call, in order."""
    statements: list[Statement] = []

    def record(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        statements.append(Statement(sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(record):
        call()
    return statements


class Clock:
    """A clock of the CPU time of the database: this thread's for SQLite, the server process's for PostgreSQL.

    ``with_client`` adds the CPU time of this thread on PostgreSQL as well.
    """

    def __init__(self, *, with_client: bool = False) -> None:
        self._processes: list[int] = []
        self._with_thread = with_client or connection.vendor == "sqlite"
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                self._processes += cursor.fetchone()

    def __call__(self) -> float:
        """Return the CPU seconds so far."""
        return cpu_seconds_once_idle(self._processes) + (time.thread_time() if self._with_thread else 0)
