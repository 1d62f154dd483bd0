"""A clock of the database's CPU time."""

import time

from django.db import connection

from benchmarks.machine import cpu_seconds_once_idle


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
