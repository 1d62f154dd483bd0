"""Problems of a deployment that its settings alone do not show, for ``manage.py doctor`` and each start."""

import logging
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import WARNING, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Max
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from redis import Redis, RedisError

from config.databases import SHORT_LIVED
from config.resealing import has_newest_seal, is_lost, opens, sealed_rows
from config.settings_checks import unread_settings
from config.unsafe_settings import unsafe_settings

logger = logging.getLogger(__name__)

# Migrations before the first release. Other names that are not on disk may belong to a newer version, which
# migrates the database before the last process of this version ends.
_REPLACED_MIGRATIONS = {
    ("dashboard_api", "0002_search"),
    ("dashboard_api", "0002_search_index"),
    ("portal", "0002_last_answers"),
    ("portal", "0002_invitations_and_changes"),
}
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
    others = (*_address_problems(), *unread_settings(os.environ), *_folder_problems())
    for problem in (*others, *_database_problems(newest_only=True)):
        logger.error("%s", problem)
    connections.close_all()


def problems() -> list[str]:
    """Return a line for each problem of this deployment."""
    messages = [each for each in run_checks(include_deployment_checks=True) if not each.is_silenced()]
    messages.sort(key=lambda each: (-each.level, str(each.id), str(each.msg)))  # run in no fixed order
    failures = [f"{each.msg} {each.hint or ''}".strip() for each in messages if each.level >= WARNING]
    # What stops everything comes first.
    databases = (*_database_problems(newest_only=False), *_redis_problems())
    stops = (*_machine_problems(), *_address_problems(), *databases)
    others = (*unread_settings(os.environ), *unsafe_settings(), *failures, *_folder_problems())
    return [*stops, *others, *_crawler_problems()]


def _machine_problems() -> Iterator[str]:
    """Yield a line if a disk is nearly full, or if this machine's clock differs from the database's."""
    from config import health  # needs this module

    for check in (health.check_disk, health.check_clock):
        try:
            check()
        except health.NotReady as error:
            reason = str(error)
            yield f"{reason[0].upper()}{reason[1:]}."
        except DatabaseError:
            pass  # _database_problems describes it


def _address_problems() -> Iterator[str]:
    """Yield a line for each setting with which nothing can be reached over https."""
    address = settings.PORTAL_BASE_URL.lower() if settings.ENABLE_PORTAL else ""
    has_https = address.startswith("https:")
    host, _ = split_domain_port(urlsplit(address).netloc)
    if has_https and not validate_host(host, settings.ALLOWED_HOSTS):
        yield (
            f"PORTAL_BASE_URL is {settings.PORTAL_BASE_URL}, and ALLOWED_HOSTS lacks {host}: all pages "
            "are refused (400). Add the name there."
        )
    if (has_https or settings.HTTPS) and not settings.TRUST_PROXY:
        yield (
            "TRUST_PROXY is off: behind a proxy that ends TLS, pages redirect for ever, and calls get 403 "
            "https_required. Set TRUST_PROXY=true."
        )


def _redis_problems() -> Iterator[str]:
    """Yield a line if Redis does not answer; pages and calls do without it."""
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


def _folder_problems() -> Iterator[str]:
    """Yield a line if reports that are sent over HTTP could not be stored."""
    folder = Path(settings.REPORTS_FOLDER)
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if settings.ENABLE_API and not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        yield f"REPORTS_FOLDER is {folder}, and {nearest} cannot be written to: reports are refused."


def _crawler_problems() -> Iterator[str]:
    """Yield a line if scans leave scanners out, or if those who are scanned cannot reach anyone."""
    if not (settings.ENABLE_API and settings.CRAWLER_ENABLED):
        return
    from dashboard_api.crawler.engines import WrongEngines, read_engines

    if not settings.SUPPORT_URL:
        yield (
            "CRAWLER_ENABLED is on, and SUPPORT_URL is not set: the page about scans (/scanner) names no "
            "contact to those who are scanned, and /.well-known/probing.txt is missing."
        )
    try:
        engines = read_engines(settings.CRAWLER_ENGINES)
    except WrongEngines as error:
        yield str(error)
        return
    missing = [each.name for each in engines if each.program() is None and not each.optional]
    if missing:
        yield (
            f"Scans are partial without what is not installed here: {', '.join(missing)}. Run "
            f"'make engines', install the rest, or make it optional in {settings.CRAWLER_ENGINES}."
        )


def optional_scanners() -> list[str]:
    """Return the names of optional scanners that are not installed here; scans are whole without them."""
    return [engine.name for engine in _engines() if engine.optional and engine.program() is None]


def _engines() -> list[Any]:
    """Return the scanners of CRAWLER_ENGINES; none without scans, or if the file cannot be read."""
    if not (settings.ENABLE_API and settings.CRAWLER_ENABLED):
        return []
    from dashboard_api.crawler.engines import WrongEngines, read_engines

    try:
        return read_engines(settings.CRAWLER_ENGINES)
    except WrongEngines:
        return []  # _crawler_problems describes it


def _empty_profiles() -> Iterator[str]:
    """Yield a line for each profile of schedules whose own scanners are all missing, optional or not."""
    programs: dict[str, dict[str, str | None]] = {}
    for engine in _engines():
        programs.setdefault(engine.profile, {})[engine.name] = engine.program()
    if not programs:
        return
    from dashboard_api.models import ScanSchedule

    schedules = ScanSchedule.objects.filter(next_at__isnull=False, link__revoked_at=None)
    for profile, number in schedules.values_list("profile").annotate(Count("pk")).order_by("profile"):
        own = programs.get(profile, {})
        if own and not any(own.values()):
            yield (
                f"Websites with {profile} scans by schedule: {number}. None of the scanners that only such "
                f"scans have is installed here ({', '.join(own)}), so they find no more than smaller ones: "
                "run 'make engines'."
            )


def _database_problems(*, newest_only: bool) -> Iterator[str]:
    try:
        if any(map(_has_earlier_tables, connections)):
            yield _EARLIER_TABLES
            return
        missing = list(missing_migrations())
        yield from missing
        if not missing:
            yield from _lost_secrets(newest_only=newest_only)
            if not newest_only:
                yield from _locked_file()
                yield from _refused_portal()
            yield from _refused_calls()
            yield from _late_commands()
            yield from _old_documents()
            yield from _paused_judging()
            yield from _undelivered_callbacks()
            yield from _differing_entitlements()
            yield from _empty_profiles()
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        yield f"DATABASE_URL names a database that cannot be used: {reason}."


def _locked_file() -> Iterator[str]:
    """Yield a line if SQLite's file of short-lived rows stays locked; imports lock the other file."""
    if SHORT_LIVED not in connections:
        return
    try:
        with transaction.atomic(using=SHORT_LIVED):
            pass  # its begin waits for the lock of a writer
    except OperationalError as error:
        file = connections[SHORT_LIVED].settings_dict["NAME"]
        yield (
            f"{file} cannot be written: {error}. Signed calls and sign-ins are refused. 'fuser -v {file}' "
            "lists the processes that use it: end the one that is not the service's."
        )


def _refused_portal() -> Iterator[str]:
    """Yield a line for each account whose pages the service refuses for their secret."""
    if settings.ENABLE_API and settings.ENABLE_PORTAL:
        from config import portal_secrets

        yield from portal_secrets.problems()


def calls_refused_until(now: datetime) -> datetime | None:
    """Return until when signed calls are refused after a restore; None if they are answered."""
    if not settings.ENABLE_API:
        return None
    from dashboard_api.models import Nonce

    until = Nonce.objects.fenced_until(now)
    return until if until and until > now else None


def _refused_calls() -> Iterator[str]:
    """Yield a line while signed calls are refused after a restore."""
    if until := calls_refused_until(timezone.now()):
        yield (
            f"Signed calls are refused until {until:%H:%M:%S} UTC, because a backup was restored: they are "
            "answered again by themselves."
        )


def _late_commands() -> Iterator[str]:
    """Yield a line if commands that cron or a timer runs have not succeeded in time."""
    from config.heartbeats import last_runs

    late = [run.command for run in last_runs(timezone.now()) if run.is_late]
    if late:
        yield (
            f"Late, because no run succeeded in time: {', '.join(late)}. 'Runs of commands' in the admin, "
            f"and 'journalctl -u dashboard-job@{late[0]}', say why."
        )


def _undelivered_callbacks() -> Iterator[str]:
    """Yield a line for each reason for which payment callbacks need a person."""
    if not settings.ENABLE_API:
        return
    from dashboard_api.billing.callbacks.applying import undelivered

    numbers = undelivered(timezone.now())
    if number := numbers["dead"]:
        yield (
            f"Payment callbacks given up: {number}. The admin shows why; remove the cause, and apply them "
            "again there."
        )
    if number := numbers["overdue"]:
        yield (
            f"Payment callbacks that should have been tried again: {number}. Run 'manage.py "
            "process_callbacks' every 5 minutes."
        )
    if number := numbers["waiting"]:
        yield (
            f"Payment callbacks that have waited for their account for more than an hour: {number}. Correct "
            "the reference for payments at the sender ('manage.py show_account'), before they are given up "
            "after a day."
        )
    if number := numbers["unclear"]:
        yield (
            f"Subscriptions whose payment callbacks with the same timestamp contradict each other: {number}. "
            "With STRIPE_API_KEY, Stripe is asked within minutes; otherwise find out what was paid, and have "
            "a new callback sent."
        )


def _differing_entitlements() -> Iterator[str]:
    """Yield a line if entitlements differed from what was paid when that was last compared."""
    from config.heartbeats import last_runs

    found = {run.command: run.found for run in last_runs(timezone.now())}
    if number := found.get("reconcile_billing"):
        yield (
            f"Entitlements that differ from what was paid: {number}. 'manage.py reconcile_billing' lists "
            "them; --repair sets what the provider reported."
        )


def _old_documents() -> Iterator[str]:
    """Yield a line if public documents are older than they should be; none if they were never made."""
    if not (settings.ENABLE_API and settings.PUBLIC_TELEMETRY):
        return
    from dashboard_api.models import Published
    from dashboard_api.public.publishing import STALE_AFTER

    made_at = Published.objects.aggregate(at=Max("made_at"))["at"]
    if made_at and timezone.now() - made_at > STALE_AFTER:
        day = made_at.date()
        yield f"Public telemetry was made on {day}: run 'manage.py publish_telemetry' every hour."


def _paused_judging() -> Iterator[str]:
    """Yield a line if no proof of ownership is judged now, because too many could not be asked for."""
    if not settings.ENABLE_API:
        return
    from dashboard_api.ownership import claims

    now = timezone.now()
    if claims.judging_pauses(now):
        share, checked = claims.unasked_share(now)
        yield (
            f"Of {checked} proofs of ownership checked in the last hour, {share:.0%} could not be asked for "
            "(each account counts the same): meanwhile none is judged missing. Check that this machine "
            "reaches the internet on ports 53, 80 and 443 (DNS_RESOLVERS)."
        )


def missing_migrations() -> Iterator[str]:
    """Yield a line for each database that lacks migrations."""
    for alias in connections:
        executor = MigrationExecutor(connections[alias])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            option = "" if alias == "default" else f" --database {alias}"
            yield f"The database lacks migrations: run 'manage.py migrate{option}'."


def _lost_secrets(*, newest_only: bool) -> Iterator[str]:
    older = 0
    for row in sealed_rows(newest_only=newest_only):
        if is_lost(row):
            yield (
                f"MASTER_KEYS holds no key that opens {row.name} in its place: put back the key that sealed "
                f"it, after a comma, or {row.without_key}."
            )
        elif not has_newest_seal(row) and opens(row):
            older += 1
    if older and len(settings.MASTER_KEYS) > 1 and not newest_only:
        secrets = "1 secret is" if older == 1 else f"{older} secrets are"
        yield (
            f"{secrets} sealed with an older one of MASTER_KEYS: restart every process, and run "
            "'manage.py reseal', before you remove a key."
        )
