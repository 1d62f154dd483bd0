"""Secrets at rest: sealed with the newest of the numbered master keys, opened with any of them."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class CannotUnseal(Exception):
    """No master key of this deployment opens what is stored."""


def seal(secret: str) -> str:
    """``secret`` as the text that may be stored."""
    return _keys().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The secret behind ``sealed``; raises CannotUnseal."""
    try:
        return _keys().decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotUnseal("MASTER_KEYS holds no key that opens this secret") from error


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.MASTER_KEYS])
