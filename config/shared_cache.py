"""The cache that counts attempts to sign in and remembers used codes: in Redis, shared by all processes.

Nothing correct depends on its content, so Redis may be unreachable or lose everything. Decision record 0015.
"""

import functools
import json
import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis import RedisError

logger = logging.getLogger(__name__)

SECONDS_AWAY = 10  # so long is Redis left alone after it failed


class UnreadableValue(RedisError):
    """A value in Redis that this product did not write."""


class JsonSerializer:
    """A serializer of values in Redis to JSON, so that reading one never runs code. Decision record 0043."""

    def dumps(self, value: Any) -> bytes:
        """Return ``value`` as bytes; raise TypeError for a type that JSON would change."""
        data = json.dumps(value)
        if json.loads(data) != value:
            raise TypeError(f"A {type(value).__name__} cannot be stored as JSON.")
        return data.encode()

    def loads(self, data: bytes) -> Any:
        """Return the stored value; raise UnreadableValue."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnreadableValue("a value in Redis is not ours") from error


class RedisOfMany(RedisCache):
    """A Redis that may also contain other programs' keys."""

    def clear(self) -> None:
        """Delete our own keys only."""
        client = self._cache.get_client(write=True)
        for key in client.scan_iter(f"{self.key_prefix}:*"):
            client.delete(key)


def _or_own(name: str) -> Callable[..., Any]:
    """Return the operation ``name`` in Redis or, while Redis fails, in the process's own memory."""
    shared, own = getattr(RedisOfMany, name), getattr(LocMemCache, name)

    @functools.wraps(shared)
    def operation(self: "SharedCache", *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= self.away_until:
            try:
                return shared(self, *args, **kwargs)
            except RedisError as error:
                self.away_until = time.monotonic() + SECONDS_AWAY
                logger.warning("Redis fails, so each process counts sign-ins for itself: %s", error)
        return own(self.own, *args, **kwargs)

    return operation


class SharedCache(RedisOfMany):
    """A cache in Redis; while Redis fails, in the memory of this process, as without ``REDIS_URL``."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.own = LocMemCache("while Redis is away", params)
        self.away_until = 0.0

    add = _or_own("add")
    get = _or_own("get")
    set = _or_own("set")
    touch = _or_own("touch")
    delete = _or_own("delete")
    get_many = _or_own("get_many")
    has_key = _or_own("has_key")
    incr = _or_own("incr")
    set_many = _or_own("set_many")
    delete_many = _or_own("delete_many")
    clear = _or_own("clear")
