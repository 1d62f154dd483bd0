"""Secrets at rest: sealed with the newest master key, opened with any of them.

A sealed text is bound to its context, such as "secret of account 7": copied to another row, it does not open.
"""

import functools

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

_MARK = "\0"  # before and after the context; no secret begins with it


class CannotUnseal(Exception):
    """No master key of this deployment opens the stored text, or it was sealed for another context."""


def seal(secret: str, context: str) -> str:
    """Return ``secret`` encrypted for storage; it opens only with the same ``context``."""
    return _master_fernet().encrypt(_with_context(secret, context).encode()).decode()


def unseal(sealed: str, context: str) -> str:
    """Return the secret in ``sealed``; raise CannotUnseal."""
    return _unseal_cached(_master_fernet(), sealed, context)


def unseal_once(sealed: str, context: str) -> str:
    """Return the secret in ``sealed`` without caching it; raise CannotUnseal."""
    return _open(_master_fernet(), sealed, context)


def is_current(sealed: str, context: str) -> bool:
    """Return whether the newest master key opens ``sealed``, and it is bound to ``context``."""
    try:
        text = Fernet(settings.MASTER_KEYS[0]).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return False
    return text.startswith(_with_context("", context))


@functools.lru_cache(maxsize=1024)
def _unseal_cached(fernet: MultiFernet, sealed: str, context: str) -> str:
    """Return the secret from a cache; that adds no risk, because the process holds the master keys anyway."""
    return _open(fernet, sealed, context)


def _open(fernet: MultiFernet, sealed: str, context: str) -> str:
    try:
        text = fernet.decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotUnseal("MASTER_KEYS holds no key that opens this secret") from error
    if not text.startswith(_MARK):  # sealed before there were contexts
        return text
    if not text.startswith(_with_context("", context)):
        raise CannotUnseal("this secret was sealed for another place and copied here")
    return text.removeprefix(_with_context("", context))


def _master_fernet() -> MultiFernet:
    return _fernet_of(tuple(settings.MASTER_KEYS))  # seals with the first key, opens with any


def _with_context(secret: str, context: str) -> str:
    return f"{_MARK}{context}{_MARK}{secret}"


@functools.lru_cache(maxsize=1)  # the settings change only in tests
def _fernet_of(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
