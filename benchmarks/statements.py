"""The SQL that an answer takes: caught once as the product sends it, then run again and again by itself."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from benchmarks.machine import cpu_seconds_once_idle


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with its parameters."""

    sql: str
    parameters: Any

    def run(self) -> None:
        """Run the statement once and fetch every row."""
        with connection.cursor() as cursor:
            cursor.execute(self.sql, self.parameters)
            cursor.fetchall()


def statements_of(call: Callable[[], object]) -> list[Statement]:
    """What ``call`` asks of the records, in order."""
    caught: list[Statement] = []

    def catch(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        caught.append(Statement(sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(catch):
        call()
    return caught


class Clock:
    """CPU seconds of the database: of this thread where SQLite runs in it, else of PostgreSQL's backend.

    ``with_client`` adds what this thread spends on speaking to PostgreSQL.
    """

    def __init__(self, *, with_client: bool = False) -> None:
        self._backends: list[int] = []
        self._with_thread = with_client or connection.vendor == "sqlite"
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                self._backends += cursor.fetchone()

    def __call__(self) -> float:
        """Seconds so far."""
        return cpu_seconds_once_idle(self._backends) + (time.thread_time() if self._with_thread else 0)
