"""The cache in the database: without Redis, all processes count sign-in attempts here.

On SQLite, it is in the file of short-lived rows.
"""

import time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connections, router

from config.models import CacheEntry, digest
from config.operations.shared_cache import JsonSerializer

_STORE = """
INSERT INTO config_cacheentry AS entry (key, value, expires_at) VALUES (%s, %s, %s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
"""
# Changes no row if the entry has not expired.
_ADD = f"{_STORE} WHERE entry.expires_at <= %s"
_NEVER = 1e12  # Unix seconds: the value does not expire


class DatabaseCache(BaseCache):
    """Values as JSON under digests of their keys; each operation is one statement."""

    def __init__(self, _: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._json = JsonSerializer()

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Store ``value`` unless the key has one; return True for exactly one of concurrent callers."""
        return self._store(_ADD, key, value, timeout, version, time.time())

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Store ``value``, and delete expired values."""
        CacheEntry.objects.filter(expires_at__lte=time.time()).delete()
        self._store(_STORE, key, value, timeout, version)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """Return the value, or ``default``."""
        found = CacheEntry.objects.filter(key=self._key(key, version), expires_at__gt=time.time()).first()
        return self._json.loads(found.value.encode()) if found else default

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Set the expiry of the value; return whether the key has one."""
        entries = CacheEntry.objects.filter(key=self._key(key, version), expires_at__gt=time.time())
        return bool(entries.update(expires_at=self._expiry(timeout)))

    def delete(self, key: str, version: int | None = None) -> bool:
        """Delete the value; return whether there was one."""
        count, _ = CacheEntry.objects.filter(key=self._key(key, version)).delete()
        return bool(count)

    def clear(self) -> None:
        """Delete every value."""
        CacheEntry.objects.all().delete()

    def _store(
        self, statement: str, key: str, value: Any, timeout: Any, version: int | None, *now: float
    ) -> bool:
        values: tuple[Any, ...] = (
            self._key(key, version),
            self._json.dumps(value).decode(),
            self._expiry(timeout),
            *now,  # only _ADD takes it
        )
        with connections[router.db_for_write(CacheEntry)].cursor() as cursor:
            cursor.execute(statement, values)
            return bool(cursor.rowcount)

    def _key(self, key: str, version: int | None) -> str:
        return digest(self.make_and_validate_key(key, version=version))

    def _expiry(self, timeout: Any) -> float:
        end: float | None = self.get_backend_timeout(timeout)
        return _NEVER if end is None else end
