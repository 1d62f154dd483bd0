"""Problems of a deployment that its settings alone do not show: for ``manage.py doctor`` and every start."""

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

# Migrations from before all of them were replaced. Other names that are not on disk may be those of a newer
# version, which migrates the database before the last process of this version ends.
_REPLACED_MIGRATIONS = {("dashboard_api", "0002_search_index"), ("portal", "0002_invitations_and_changes")}
_MADE_EARLIER = (
    "The database was made before the first release and cannot be migrated: begin with an empty one "
    "('make demo ARGS=--reset' for a demo)."
)


def refuse_earlier_tables(aliases: Iterable[str] = connections) -> None:
    """Raise ImproperlyConfigured if a database was made before all migrations were replaced."""
    try:
        earlier = any(map(_was_made_earlier, aliases))
    except DatabaseError:
        return  # log_problems describes it
    if earlier:
        raise ImproperlyConfigured(_MADE_EARLIER)


def _was_made_earlier(alias: str) -> bool:
    applied = MigrationRecorder(connections[alias]).applied_migrations()
    return not _REPLACED_MIGRATIONS.isdisjoint(applied)


def log_problems() -> None:
    """Log a line for each problem that can be found quickly; the server still starts.

    An unreachable database may come back, and calls that need a lost key are refused one by one.
    """
    for problem in (*unread_settings(os.environ), *_of_the_store(newest_only=True)):
        logger.error("%s", problem)
    connections.close_all()


def problems() -> list[str]:
    """Return a line for everything that is wrong with this deployment."""
    checked = run_checks(include_deployment_checks=True)
    failed = [f"{check.msg} {check.hint or ''}".strip() for check in checked if check.level >= WARNING]
    return [*unread_settings(os.environ), *failed, *_of_the_store(newest_only=False)]


def _of_the_store(*, newest_only: bool) -> Iterator[str]:
    try:
        if any(map(_was_made_earlier, connections)):
            yield _MADE_EARLIER
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
