"""Secrets at rest: sealed with the newest of the numbered master keys, opened with any of them."""

import functools

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class CannotUnseal(Exception):
    """No master key of this deployment opens the stored text."""


def seal(secret: str) -> str:
    """Return ``secret`` as the text that may be stored."""
    return _fernet_of(tuple(settings.MASTER_KEYS)).encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """Return the secret in ``sealed``; raise CannotUnseal."""
    return _unseal_with(_fernet_of(tuple(settings.MASTER_KEYS)), sealed)


def unseal_once(sealed: str) -> str:
    """Return the text in ``sealed`` without a copy in this process's memory; raise CannotUnseal."""
    return _open(_fernet_of(tuple(settings.MASTER_KEYS)), sealed)


@functools.lru_cache(maxsize=1024)
def _unseal_with(fernet: MultiFernet, sealed: str) -> str:
    """Return the secret, decrypted once per process, whose memory holds the master keys anyway."""
    return _open(fernet, sealed)


def _open(fernet: MultiFernet, sealed: str) -> str:
    try:
        return fernet.decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotUnseal("MASTER_KEYS holds no key that opens this secret") from error


@functools.lru_cache(maxsize=1)
def _fernet_of(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
