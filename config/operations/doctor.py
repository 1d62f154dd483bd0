"""Problems of this deployment, found by the system checks and by its parts."""

import logging
from collections.abc import Iterator

from django.conf import settings
from django.core.checks import ERROR, WARNING, CheckMessage, Tags, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError, connections, transaction
from django.utils import timezone
from redis import Redis, RedisError

from config.operations import health
from config.operations.databases import SHORT_LIVED
from config.operations.resealing import has_newest_seal, is_lost, opens, sealed_rows

logger = logging.getLogger(__name__)


def start() -> None:
    """Run the checks: raise ImproperlyConfigured for errors, and log warnings."""
    found = _warnings_and_errors()
    if errors := [_line(each) for each in found if each.level >= ERROR]:
        raise ImproperlyConfigured("\n".join(errors))
    for each in found:
        logger.warning("%s", _line(each))
    health.READINESS.failed()  # logs the failed checks
    connections.close_all()


def problems() -> list[str]:
    """Return a line for each problem, worst first; an error of system checks hides the rest."""
    found = _warnings_and_errors()
    if any(each.level >= ERROR for each in found):
        return [_line(each) for each in found]
    return [*_machine_problems(), *_database_problems(), *_redis_problems(), *map(_line, found)]


def _warnings_and_errors() -> list[CheckMessage]:
    """Return the warnings and errors of all system checks, worst first."""
    found = run_checks(include_deployment_checks=settings.HTTPS)
    # Model checks get no database: while an import locks it, they would report that it lacks JSON.
    found += run_checks(tags=[Tags.database], databases=list(connections))
    serious = [each for each in found if each.level >= WARNING and not each.is_silenced()]
    # The checks run in no fixed order.
    return sorted(serious, key=lambda each: (-each.level, str(each.id), str(each.msg)))


def _line(found: CheckMessage) -> str:
    return " ".join(filter(None, (str(found.msg), found.hint, f"({found.id})")))


def _machine_problems() -> Iterator[str]:
    """Yield a line if a disk is nearly full, or if the clocks of this machine and the database differ."""
    for check in (health.check_disk, health.check_clock):
        try:
            check()
        except health.NotReady as error:
            reason = str(error)
            yield f"{reason[0].upper()}{reason[1:]}."
        except DatabaseError:
            pass  # _database_problems describes it


def _redis_problems() -> Iterator[str]:
    """Yield a line if Redis does not answer; pages and calls work without it."""
    if not settings.REDIS_URL:
        return
    client = Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=2)
    try:
        client.ping()
    except RedisError as error:
        yield (
            f"REDIS_URL names a Redis that cannot be used: {error} Pages and calls work; meanwhile each "
            "process counts attempts to sign in for itself."
        )
    finally:
        client.close()


def _database_problems() -> Iterator[str]:
    try:
        if missing := list(health.missing_migrations()):
            yield from missing
            return
        yield from _lost_secrets()
        yield from _locked_file()
        yield from _commands()
        if settings.ENABLE_API:
            from dashboard_api import problems as service

            yield from service.problems()
        if settings.ENABLE_API and settings.ENABLE_PORTAL:
            from config.operations import portal_secrets

            yield from portal_secrets.problems()
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        yield f"DATABASE_URL names a database that cannot be used: {reason}."


def _locked_file() -> Iterator[str]:
    """Yield a line if SQLite's file of short-lived rows is locked; imports lock only the other file."""
    if SHORT_LIVED not in connections:
        return
    try:
        with transaction.atomic(using=SHORT_LIVED):
            pass  # BEGIN IMMEDIATE waits for the lock of a writer
    except OperationalError as error:
        file = connections[SHORT_LIVED].settings_dict["NAME"]
        yield (
            f"{file} cannot be written: {error}. Signed calls and sign-ins are refused. 'fuser -v {file}' "
            "lists the processes that use it: end the one that is not the service's."
        )


def _commands() -> Iterator[str]:
    """Yield a line if scheduled commands are late, and one if billing needs a person."""
    from config.operations.heartbeats import last_runs

    runs = last_runs(timezone.now())
    if late := [run.command for run in runs if run.is_late]:
        yield (
            f"Late, because no run succeeded in time: {', '.join(late)}. 'Runs of commands' in the admin, "
            f"and 'journalctl -u dashboard-job@{late[0]}', say why."
        )
    if number := sum(run.found or 0 for run in runs if run.command == "reconcile_billing"):
        yield (
            f"Entitlements that differ from what was paid: {number}. 'manage.py reconcile_billing' lists "
            "them; --repair sets what the provider reported."
        )


def _lost_secrets() -> Iterator[str]:
    older = 0
    for row in sealed_rows():
        if is_lost(row):
            yield (
                f"MASTER_KEYS holds no key that opens {row.name} in its place: put back the key that sealed "
                f"it, after a comma, or {row.without_key}."
            )
        elif not has_newest_seal(row) and opens(row):
            older += 1
    if older and len(settings.MASTER_KEYS) > 1:
        secrets = "1 secret is" if older == 1 else f"{older} secrets are"
        yield (
            f"{secrets} sealed with an older one of MASTER_KEYS: restart every process, and run "
            "'manage.py reseal', before you remove a key."
        )
