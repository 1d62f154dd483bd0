"""Problems of a deployment that its settings alone do not show, for ``manage.py doctor`` and each start."""

import logging
import os
from collections.abc import Iterable, Iterator

from django.core.checks import WARNING, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from config.resealing import opens, sealed_rows
from config.settings_checks import unread_settings

logger = logging.getLogger(__name__)

# Migrations before the first release. Other names that are not on disk may belong to a newer version, which
# migrates the database before the last process of this version ends.
_REPLACED_MIGRATIONS = {("dashboard_api", "0002_search_index"), ("portal", "0002_invitations_and_changes")}
_EARLIER_TABLES = (
    "The database was created before the first release and cannot be migrated: begin with an empty one "
    "('make demo ARGS=--reset' for a demo)."
)


def refuse_earlier_tables(aliases: Iterable[str] = connections) -> None:
    """Raise ImproperlyConfigured if a database was created before the first release."""
    try:
        earlier = any(map(_has_earlier_tables, aliases))
    except DatabaseError:
        return  # log_problems describes it
    if earlier:
        raise ImproperlyConfigured(_EARLIER_TABLES)


def _has_earlier_tables(alias: str) -> bool:
    applied = MigrationRecorder(connections[alias]).applied_migrations()
    return not _REPLACED_MIGRATIONS.isdisjoint(applied)


def log_problems() -> None:
    """Log a line for each problem that takes little time to find; the server starts in any case.

    An unreachable database comes back, and calls that need a lost key are refused one by one.
    """
    for problem in (*unread_settings(os.environ), *_database_problems(newest_only=True)):
        logger.error("%s", problem)
    connections.close_all()


def problems() -> list[str]:
    """Return a line for each problem of this deployment."""
    messages = run_checks(include_deployment_checks=True)
    failures = [f"{each.msg} {each.hint or ''}".strip() for each in messages if each.level >= WARNING]
    return [*unread_settings(os.environ), *failures, *_database_problems(newest_only=False)]


def _database_problems(*, newest_only: bool) -> Iterator[str]:
    try:
        if any(map(_has_earlier_tables, connections)):
            yield _EARLIER_TABLES
            return
        missing = list(_missing_migrations())
        yield from missing or _lost_secrets(newest_only=newest_only)
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        yield f"DATABASE_URL names a database that cannot be used: {reason}."


def _missing_migrations() -> Iterator[str]:
    for alias in connections:
        executor = MigrationExecutor(connections[alias])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            option = "" if alias == "default" else f" --database {alias}"
            yield f"The database lacks migrations: run 'manage.py migrate{option}'."


def _lost_secrets(*, newest_only: bool) -> Iterator[str]:
    for row in sealed_rows(newest_only=newest_only):
        if not opens(row):
            yield (
                f"MASTER_KEYS holds no key that opens {row.name}: put back the key that sealed it, after a "
                "comma, or issue a new secret."
            )
