"""System checks of the deployment: errors stop the start; ``doctor`` and the log show warnings.

config/operations/environment.py refuses unusable values earlier.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import DatabaseError, connections
from django.db.migrations.recorder import MigrationRecorder
from django.http.request import split_domain_port, validate_host

from config.operations.environment import LOOPBACK_HOSTS

_THIS_MACHINE = {None, "", "localhost", "127.0.0.1", "::1"}
_ENCRYPTED_MODES = {"require", "verify-ca", "verify-full"}
_READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Migrations from before the first release. Other unknown names may belong to a newer version, which migrates
# the database while processes of this version still run.
_REPLACED_MIGRATIONS = {
    ("dashboard_api", "0002_search"),
    ("dashboard_api", "0002_search_index"),
    ("portal", "0002_last_answers"),
    ("portal", "0002_invitations_and_changes"),
}


def _error(number: int, text: str) -> CheckMessage:
    return Error(text, id=f"config.E{number:03}")


def _warning(number: int, text: str) -> CheckMessage:
    return Warning(text, id=f"config.W{number:03}")


@register()
def contradictions(**_: Any) -> Iterator[CheckMessage]:
    """Find settings that contradict or need each other."""
    serves_both = settings.ENABLE_API and settings.ENABLE_PORTAL
    if not (settings.ENABLE_API or settings.ENABLE_PORTAL):
        yield _error(1, "ENABLE_API and ENABLE_PORTAL are both off: nothing would be served. Leave one on.")
    if bool(settings.PORTAL_ACCOUNT_REF) != bool(settings.SITE_API_SECRET):
        yield _error(
            2,
            "PORTAL_ACCOUNT_REF and SITE_API_SECRET go together: set both for a portal of one account, "
            "and neither if accounts have their own secrets (manage.py connect_account).",
        )
    if settings.LOCALHOST_WEBSITES and not settings.ALLOW_PRIVATE_HOSTS:
        yield _error(
            3,
            "LOCALHOST_WEBSITES needs ALLOW_PRIVATE_HOSTS: websites of this machine are private hosts.",
        )
    if settings.DEBUG and not LOOPBACK_HOSTS.issuperset(settings.ALLOWED_HOSTS):
        yield _error(
            4,
            "DEBUG shows code and settings to every visitor: turn it off, or serve loopback names only.",
        )
    if settings.SIGN_UP != "off" and not serves_both:
        yield _error(
            5,
            "SIGN_UP makes accounts in the service and the portal: it needs ENABLE_API and ENABLE_PORTAL.",
        )
    if settings.SIGN_UP == "open" and not settings.EMAIL_URL:
        yield _error(6, "SIGN_UP is open and EMAIL_URL is not set: addresses are confirmed by e-mail.")
    needs_address = settings.EMAIL_URL or (settings.HTTPS and settings.ENABLE_PORTAL)
    if needs_address and not settings.PORTAL_BASE_URL:
        yield _error(
            7,
            "PORTAL_BASE_URL is not set. Links in e-mails and invitations lead there: set the address at "
            "which people open the portal, such as https://portal.example.com.",
        )


@register(deploy=True)
def private_hosts(**_: Any) -> Iterator[CheckMessage]:
    """Find ALLOW_PRIVATE_HOSTS: nobody can prove that they own an internal address."""
    if settings.ALLOW_PRIVATE_HOSTS:
        text = "ALLOW_PRIVATE_HOSTS is on: websites may be machines of your own network. Remove the setting."
        yield _error(8, text) if settings.SIGN_UP == "open" else _warning(13, text)


@register(Tags.database)
def earlier_tables(databases: Iterable[str] | None = None, **_: Any) -> Iterator[CheckMessage]:
    """Find databases from before the first release, which cannot be migrated."""
    try:
        applied = [MigrationRecorder(connections[alias]).applied_migrations() for alias in databases or ()]
    except DatabaseError:
        return  # doctor and /readyz describe it
    if not _REPLACED_MIGRATIONS.isdisjoint(chain(*applied)):
        yield _error(
            9,
            "The database was created before the first release and cannot be migrated: begin with an empty "
            "one ('make demo ARGS=--reset' for a demo).",
        )


@register()
def own_address(**_: Any) -> Iterator[CheckMessage]:
    """Find a PORTAL_BASE_URL that ALLOWED_HOSTS refuses."""
    url = urlsplit(settings.PORTAL_BASE_URL)
    host, _port = split_domain_port(url.netloc.lower())
    is_public = settings.ENABLE_PORTAL and url.scheme == "https"
    if is_public and not validate_host(host, settings.ALLOWED_HOSTS):
        yield _warning(
            1,
            f"PORTAL_BASE_URL is {settings.PORTAL_BASE_URL}, and ALLOWED_HOSTS lacks {host}: all pages are "
            "refused (400). Add the name there.",
        )


@register(deploy=True)
def risks(**_: Any) -> Iterator[CheckMessage]:
    """Find settings that work but are wrong or unsafe for most deployments."""
    if not settings.TRUST_PROXY:
        yield _warning(
            2,
            "TRUST_PROXY is off: behind a proxy that ends TLS, pages redirect for ever, and calls get 403 "
            "https_required. Set TRUST_PROXY=true.",
        )
    for line in settings.ENVIRONMENT.misspelt(os.environ):
        yield _warning(3, line)
    if not settings.STAFF_SECOND_FACTOR:
        yield _warning(4, "STAFF_SECOND_FACTOR is off: a password alone opens the admin. Remove the setting.")
    if "sqlite" in settings.DATABASES["default"]["ENGINE"] and settings.SQLITE_SYNCHRONOUS == "NORMAL":
        yield _warning(
            5,
            "SQLITE_SYNCHRONOUS is NORMAL: a power cut can lose the last nonces, and their calls can then be "
            "replayed until their timestamps are too old. Set FULL: each call then waits for the disk.",
        )
    if settings.PUBLIC_DEMO:
        yield _warning(
            6,
            "PUBLIC_DEMO is on: the public statistics and the live feed are made up. Remove the setting.",
        )
    if settings.SAMPLE_WEBSITE:
        yield _warning(
            7,
            f"SAMPLE_WEBSITE is {settings.SAMPLE_WEBSITE}: everyone can read the findings and notes of this "
            "website at /sample/. Remove the setting unless its data are made up.",
        )
    if settings.ENABLE_API and settings.CRAWLER_ENABLED and not settings.SUPPORT_URL:
        yield _warning(
            8,
            "CRAWLER_ENABLED is on, and SUPPORT_URL is not set: the page about scans (/scanner) names no "
            "contact to those who are scanned, and /.well-known/probing.txt is missing.",
        )
    if settings.CRAWLER_ENABLED and not settings.CRAWLER_WALL:
        yield _warning(
            13,
            "CRAWLER_WALL is off: a scanner that a website takes over reads .env and reaches the database. "
            "Install bubblewrap, and remove the setting.",
        )
    yield from _unencrypted_connections()
    yield from _files()


def _unencrypted_connections() -> Iterator[CheckMessage]:
    """Yield a warning for each server on another machine that is reached without encryption."""
    database = settings.DATABASES["default"]
    host, mode = database.get("HOST"), database.get("OPTIONS", {}).get("sslmode")
    is_file = "sqlite" in database["ENGINE"] or str(host).startswith("/")
    if not is_file and host not in _THIS_MACHINE and mode not in _ENCRYPTED_MODES:
        yield _warning(
            9,
            f"DATABASE_URL reaches {host} perhaps without encryption: end it with ?sslmode=verify-full.",
        )
    for name, plain, safe in (("REDIS_URL", "redis", "rediss"), ("EMAIL_URL", "smtp", "smtp+tls")):
        address = urlsplit(getattr(settings, name))
        if address.scheme == plain and address.hostname not in _THIS_MACHINE:
            text = f"{name} reaches {address.hostname} without encryption: begin it with {safe}://."
            yield _warning(10, text)


def _files() -> Iterator[CheckMessage]:
    """Yield a warning for files that other users can read, and for a REPORTS_FOLDER that is not writable."""
    databases = [each["NAME"] for each in settings.DATABASES.values() if "sqlite" in each["ENGINE"]]
    for path in map(Path, (settings.BASE_DIR / ".env", *databases)):
        if path.is_file() and path.stat().st_mode & _READABLE_BY_OTHERS:
            yield _warning(11, f"{path} can be read by other users of this machine: run 'chmod 600 {path}'.")
    folder = Path(settings.REPORTS_FOLDER)
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if settings.ENABLE_API and not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        yield _warning(
            12, f"REPORTS_FOLDER is {folder}, and {nearest} cannot be written to: reports are refused."
        )
