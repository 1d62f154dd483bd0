"""The cache in Redis, which counts sign-in attempts and stores used codes for all processes.

Only these depend on it, so Redis may fail or lose everything.
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

SECONDS_AWAY = 10  # for so long after a failure, Redis is not called


class UnreadableValue(RedisError):
    """A value in Redis that this product did not write."""


class JsonSerializer:
    """Serializer that stores values as JSON: reading a pickle could run code."""

    def dumps(self, value: Any) -> bytes:
        """Return ``value`` as bytes; raises TypeError if JSON would change it."""
        data = json.dumps(value)
        if json.loads(data) != value:
            raise TypeError(f"A {type(value).__name__} cannot be stored as JSON.")
        return data.encode()

    def loads(self, data: bytes) -> Any:
        """Return the stored value; raises UnreadableValue."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnreadableValue("a value in Redis is not JSON") from error


class PrefixedRedis(RedisCache):
    """Cache in a Redis that other products may share."""

    def clear(self) -> None:
        """Delete the keys with our prefix."""
        client = self._cache.get_client(write=True)
        for key in client.scan_iter(f"{self.key_prefix}:*"):
            client.delete(key)


def _with_fallback(name: str) -> Callable[..., Any]:
    """Return the operation ``name``, which uses Redis or, while Redis fails, the memory of this process."""
    shared, local = getattr(PrefixedRedis, name), getattr(LocMemCache, name)

    @functools.wraps(shared)
    def operation(self: "SharedCache", *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= self.away_until:
            try:
                return shared(self, *args, **kwargs)
            except RedisError as error:
                self.away_until = time.monotonic() + SECONDS_AWAY
                logger.warning("Redis fails, so each process counts sign-ins on its own: %s", error)
        return local(self.local, *args, **kwargs)

    return operation


class SharedCache(PrefixedRedis):
    """Cache in Redis or, while Redis fails, in the memory of this process."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.local = LocMemCache("while Redis fails", params)
        self.away_until = 0.0

    add = _with_fallback("add")
    get = _with_fallback("get")
    set = _with_fallback("set")
    touch = _with_fallback("touch")
    delete = _with_fallback("delete")
    get_many = _with_fallback("get_many")
    has_key = _with_fallback("has_key")
    incr = _with_fallback("incr")
    set_many = _with_fallback("set_many")
    delete_many = _with_fallback("delete_many")
    clear = _with_fallback("clear")
