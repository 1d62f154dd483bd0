"""Checks and responses for the probes ``/livez``, ``/readyz`` and ``/metrics``.

Probes are answered before hosts and https are checked, because they call a process by its address.
"""

import hmac
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse

from config.operations.databases import SHORT_LIVED
from config.operations.resealing import opens, sealed_rows
from foundation.operations.health import Readiness

_LOOPBACK = {"127.0.0.1", "::1"}
# Probes are answered before the middleware that sets these headers.
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_LEAST_FREE_SHARE = 0.05  # of a disk
_MOST_SKEW_SECONDS = 2.0  # between this machine's clock and the database's


class NotReady(Exception):
    """The process cannot serve; the message says why."""


def is_operator(request: HttpRequest) -> bool:
    """Return whether the request has METRICS_TOKEN, or comes from this machine without a proxy."""
    if "HTTP_X_FORWARDED_FOR" not in request.META and request.META.get("REMOTE_ADDR") in _LOOPBACK:
        return True
    return has_metrics_token(request)


def has_metrics_token(request: HttpRequest) -> bool:
    """Return whether the request has METRICS_TOKEN, comparing in constant time; False if it is not set."""
    expected = f"Bearer {settings.METRICS_TOKEN}".encode()
    sent: str = request.META.get("HTTP_AUTHORIZATION", "")
    return bool(settings.METRICS_TOKEN) and hmac.compare_digest(sent.encode(), expected)


def plain(text: str, status: int = 200) -> HttpResponse:
    """Return a line of text, with the headers of a response outside the other middleware."""
    response = HttpResponse(f"{text}\n", status=status, content_type="text/plain", headers=_HEADERS)
    # Keep Django from logging each 503: a failing check has its own line.
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
    return response


def _check_database() -> None:
    """Read from each database, and check that the one to which signed calls write is writable."""
    for alias in connections:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT 1")
    alias = SHORT_LIVED if SHORT_LIVED in settings.DATABASES else "default"
    # SQLite begins the transaction with a write lock, which needs a writable file.
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        if connections[alias].vendor == "postgresql":
            cursor.execute("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean")
            if cursor.fetchone()[0]:
                raise NotReady("the database is read-only")


@cache  # only success is cached (a failure raises): a process does not lose migrations
def _check_migrations() -> None:
    for missing in missing_migrations():
        raise NotReady(missing)


def missing_migrations() -> Iterator[str]:
    """Yield a line for each database that lacks migrations."""
    for alias in connections:
        executor = MigrationExecutor(connections[alias])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            option = "" if alias == "default" else f" --database {alias}"
            yield f"The database lacks migrations: run 'manage.py migrate{option}'."


def _check_keys() -> None:
    """Check that the newest sealed value of each kind opens."""
    for row in sealed_rows(newest_only=True):
        if not opens(row):
            raise NotReady(f"MASTER_KEYS holds no key that opens {row.name}")


def check_clock() -> None:
    """Compare this machine's clock with PostgreSQL's; raises NotReady. SQLite has no clock of its own."""
    if connections["default"].vendor == "postgresql":
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT EXTRACT(epoch FROM clock_timestamp())")
            skew = abs(float(cursor.fetchone()[0]) - time.time())
        if skew > _MOST_SKEW_SECONDS:
            raise NotReady(f"the clocks of this machine and the database differ by {skew:.0f} seconds")


def check_disk() -> None:
    """Check the free space for temporary files and SQLite's files; raises NotReady."""
    files = [Path(each["NAME"]).parent for each in settings.DATABASES.values() if "sqlite" in each["ENGINE"]]
    for folder in (Path(tempfile.gettempdir()), *files):
        usage = shutil.disk_usage(folder)
        if usage.free < _LEAST_FREE_SHARE * usage.total:
            raise NotReady(f"less than {_LEAST_FREE_SHARE:.0%} of the disk of {folder} is free")


READINESS = Readiness(
    {
        "database": _check_database,
        "migrations": _check_migrations,
        "keys": _check_keys,
        "clock": check_clock,
        "disk": check_disk,
    }
)
