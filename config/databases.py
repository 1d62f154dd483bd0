"""Databases and caches of a deployment: SQLite or PostgreSQL, with Redis or without.

SQLite has two files, so that an import never makes a sign-in or a signed call wait: the records
(synchronous=FULL) and short-lived data such as nonces and sessions (synchronous=NORMAL). PostgreSQL
has everything in one database. Redis only counts attempts to sign in. Records 0002, 0014,
0015, 0021.
"""

import re
from pathlib import Path
from typing import Any

import environ
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

SHORT_LIVED = "short_lived"
_SHORT_LIVED_MODELS = {
    ("config", "attempts"),
    ("dashboard_api", "nonce"),
    ("dashboard_api", "secretuse"),
    ("portal", "userlanguage"),
    ("portal", "websitesummary"),
    ("sessions", "session"),
}

# How long anybody waits for a writer; operators' commands wait longer. Decision record 0017.
_PATIENCE_SECONDS = 5
# A trigger's undo log in memory instead of in a file, and pages that many rows touch written once, not at
# every commit: an import takes half the time. Sizes in KiB and in pages of 4 KiB.
_ROOM = "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32768; PRAGMA wal_autocheckpoint=8192;"
# The answers' statements are short: to start workers or a compiler for one costs more than they save.
_SHORT_STATEMENTS = "-c max_parallel_workers_per_gather=0 -c jit=off"
_SESSION = f"{_SHORT_STATEMENTS} -c lock_timeout={_PATIENCE_SECONDS * 1000}"

# No request waits longer than seconds for a PostgreSQL host that is gone; by default it is many minutes.
_GONE_HOST = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 10_000,  # milliseconds
}
# Statements are planned once for a connection and not once for a request: that is half of PostgreSQL's work.
_PREPARED = {"server_side_binding": True, "prepare_threshold": 5}
# Longer than a Redis that works ever takes; then a process does without.
_REDIS_SECONDS = 0.5


def databases(url: str, base_dir: Path) -> dict[str, dict[str, Any]]:
    """Return the DATABASES setting for ``url``: ``sqlite:///path/records.sqlite3`` or ``postgres://...``."""
    if re.match("sqlite:///.", url):
        records = base_dir / environ.Env.db_url_config(url)["NAME"]
        records.parent.mkdir(parents=True, exist_ok=True)
        return {
            "default": _sqlite(records, synchronous="FULL"),
            SHORT_LIVED: _sqlite(
                records.with_name(f"{records.stem}.short-lived{records.suffix}"), synchronous="NORMAL"
            ),
        }
    if re.match("postgres(ql)?://.", url):
        config = environ.Env.db_url_config(url)
        options = {"options": _SESSION, **_PREPARED, **_GONE_HOST, **config.get("OPTIONS", {})}
        return {"default": {**config, "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}}
    raise ImproperlyConfigured(
        "DATABASE_URL must look like sqlite:///var/records.sqlite3 or postgres://user@host/name."
    )


def caches(url: str) -> dict[str, dict[str, Any]]:
    """Return the CACHES setting for ``url``: ``redis://host:6379/0``, or empty for each process's memory."""
    if not url:
        return {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    if not re.match("(rediss?|unix)://.", url):
        raise ImproperlyConfigured("REDIS_URL must look like redis://host:6379/0.")
    return {
        "default": {
            "BACKEND": "config.shared_cache.SharedCache",
            "LOCATION": url,
            "KEY_PREFIX": "threat-dashboard",
            "VERSION": 2,  # version 1 was pickled
            "OPTIONS": {
                "serializer": "config.shared_cache.JsonSerializer",
                "socket_connect_timeout": _REDIS_SECONDS,
                "socket_timeout": _REDIS_SECONDS,
            },
        }
    }


def _sqlite(file: Path, *, synchronous: str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": _PATIENCE_SECONDS,
            "transaction_mode": "IMMEDIATE",
            "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}; {_ROOM}",
        },
        # A file, as in production: the browser tests' server threads each need a connection.
        "TEST": {"NAME": str(file.with_name(f"test-{file.name}"))},
    }


class ShortLivedRouter:
    """A router that sends short-lived models to their own file on SQLite."""

    def _alias(self, app_label: str, model_name: str | None) -> str:
        if SHORT_LIVED in settings.DATABASES and (app_label, model_name) in _SHORT_LIVED_MODELS:
            return SHORT_LIVED
        return "default"

    def db_for_read(self, model: Any, **hints: Any) -> str:
        """Return the alias of the database of ``model``."""
        return self._alias(model._meta.app_label, model._meta.model_name)

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, model_name: str | None = None, **hints: Any) -> bool:
        """Return whether ``db`` is the one database that has the table."""
        return db == self._alias(app_label, model_name)
