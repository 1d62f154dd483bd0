"""The databases and caches of a deployment: SQLite or PostgreSQL, with or without Redis.

SQLite has two files, so that an import never makes a sign-in or a signed call wait: one for records
(synchronous=FULL) and one for short-lived rows such as nonces and sessions (synchronous=NORMAL, or FULL by
setting). PostgreSQL has one database. Redis only counts sign-in attempts and stores used codes.
"""

from pathlib import Path
from typing import Any

import environ
from django.conf import settings

SHORT_LIVED = "short_lived"
_SHORT_LIVED_MODELS = {
    ("audit", "waitingevent"),
    ("config", "attempts"),
    ("config", "cacheentry"),
    ("config", "run"),
    ("config", "session"),
    ("dashboard_api", "calloutcome"),
    ("dashboard_api", "callrecord"),
    ("dashboard_api", "forgottenaccount"),
    ("dashboard_api", "nonce"),
    ("dashboard_api", "secretuse"),
    ("dashboard_api", "usage"),
    ("portal", "dayofvisit"),
    ("portal", "lastanswer"),
    ("portal", "lastvisit"),
    ("portal", "shareopening"),
    ("portal", "userlanguage"),
    ("portal", "websitesummary"),
    ("sessions", "session"),
}

# A request waits this long for a writer; commands of operators wait longer.
_LOCK_SECONDS = 5
# Keep the undo log of triggers in memory, and write pages that many rows change once instead of at every
# commit: imports take half the time. The cache is 32,768 KiB, a checkpoint follows 8,192 pages of 4 KiB.
_IN_MEMORY = "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32768; PRAGMA wal_autocheckpoint=8192;"
# Statements are short: starting parallel workers or the JIT compiler costs more than it saves.
_SHORT_STATEMENTS = "-c max_parallel_workers_per_gather=0 -c jit=off"
_SESSION_OPTIONS = f"{_SHORT_STATEMENTS} -c lock_timeout={_LOCK_SECONDS * 1000}"

# A request waits seconds, not minutes, for a PostgreSQL host that does not answer.
_TIMEOUTS = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 10_000,  # milliseconds
}
# Plan a statement once for each connection instead of each request, which saves half of PostgreSQL's work.
_PREPARED = {"server_side_binding": True, "prepare_threshold": 5}
# Longer than a working Redis takes; after that, a process uses its own memory.
_REDIS_SECONDS = 0.5


def databases(
    url: str, base_dir: Path, *, short_lived_synchronous: str = "NORMAL"
) -> dict[str, dict[str, Any]]:
    """Return the DATABASES setting for ``sqlite:///path/records.sqlite3`` or ``postgres://...``.

    ``short_lived_synchronous`` is the mode of SQLite's file of short-lived rows.
    """
    if url.startswith("sqlite:"):
        records = base_dir / environ.Env.db_url_config(url)["NAME"]
        records.parent.mkdir(parents=True, exist_ok=True)
        return {
            "default": _sqlite(records, synchronous="FULL"),
            SHORT_LIVED: _sqlite(
                records.with_name(f"{records.stem}.short-lived{records.suffix}"),
                synchronous=short_lived_synchronous,
            ),
        }
    config = environ.Env.db_url_config(url)
    options = {"options": _SESSION_OPTIONS, **_PREPARED, **_TIMEOUTS, **config.get("OPTIONS", {})}
    return {"default": {**config, "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}}


def caches(url: str) -> dict[str, dict[str, Any]]:
    """Return the CACHES setting for ``redis://host:6379/0``; without a URL, the cache is in the database."""
    if not url:
        return {"default": {"BACKEND": "config.operations.database_cache.DatabaseCache"}}
    return {
        "default": {
            "BACKEND": "config.operations.shared_cache.SharedCache",
            "LOCATION": url,
            "KEY_PREFIX": "threat-dashboard",
            "VERSION": 2,  # version 1 was pickled
            "OPTIONS": {
                "serializer": "config.operations.shared_cache.JsonSerializer",
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
            "timeout": _LOCK_SECONDS,
            "transaction_mode": "IMMEDIATE",
            "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}; {_IN_MEMORY}",
        },
        # A file, as in production: the browser tests' server threads each need a connection.
        "TEST": {"NAME": str(file.with_name(f"test-{file.name}"))},
    }


class ShortLivedRouter:
    """Database router that sends short-lived rows to their own file, if there is one."""

    def _alias(self, app_label: str, model_name: str | None) -> str:
        if SHORT_LIVED in settings.DATABASES and (app_label, model_name) in _SHORT_LIVED_MODELS:
            return SHORT_LIVED
        return "default"

    def db_for_read(self, model: Any, **hints: Any) -> str:
        """Return the alias that holds ``model``."""
        return self._alias(model._meta.app_label, model._meta.model_name)

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, model_name: str | None = None, **hints: Any) -> bool:
        """Return whether ``db`` holds the table."""
        return db == self._alias(app_label, model_name)
