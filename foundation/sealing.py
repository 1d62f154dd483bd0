"""Secrets at rest: sealed with the newest of the numbered master keys, opened with any of them."""

import functools

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class CannotUnseal(Exception):
    """No master key of this deployment opens what is stored."""


def seal(secret: str) -> str:
    """``secret`` as the text that may be stored."""
    return _keys().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The secret behind ``sealed``; raises CannotUnseal."""
    return _unsealed(sealed, _keys())


@functools.lru_cache(maxsize=1024)
def _unsealed(sealed: str, keys: MultiFernet) -> str:
    """Those in use are opened once; with the master keys beside them that hides nothing less."""
    try:
        return keys.decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotUnseal("MASTER_KEYS holds no key that opens this secret") from error


def _keys() -> MultiFernet:
    return _made_of(tuple(settings.MASTER_KEYS))


@functools.lru_cache(maxsize=1)
def _made_of(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
