import pytest
from cryptography.fernet import Fernet

from foundation.sealing import CannotUnseal, seal, unseal, unseal_once

SECRET = "es1_test_sealed_and_öpened"


@pytest.fixture
def keys():
    return [Fernet.generate_key().decode() for _ in range(3)]


def test_sealed_secret_opens_again():
    assert unseal(seal(SECRET)) == SECRET


def test_sealed_secret_does_not_show_and_never_looks_the_same():
    assert SECRET not in seal(SECRET)
    assert seal(SECRET) != seal(SECRET)


def test_secret_sealed_with_an_older_key_still_opens(settings, keys):
    settings.MASTER_KEYS = keys[1:]
    sealed = seal(SECRET)
    settings.MASTER_KEYS = keys
    assert unseal(sealed) == SECRET


def test_secret_is_sealed_with_the_newest_key(settings, keys):
    settings.MASTER_KEYS = keys
    sealed = seal(SECRET)
    settings.MASTER_KEYS = keys[:1]
    assert unseal(sealed) == SECRET


def test_secret_does_not_open_without_its_key(settings, keys):
    settings.MASTER_KEYS = keys[:1]
    sealed = seal(SECRET)
    settings.MASTER_KEYS = keys[1:]
    for opened in (unseal, unseal_once):
        with pytest.raises(CannotUnseal, match=r"^MASTER_KEYS holds no key that opens this secret$"):
            opened(sealed)


def test_a_text_that_is_opened_once_is_the_same(settings, keys):
    settings.MASTER_KEYS = keys
    assert unseal_once(seal(SECRET)) == SECRET


@pytest.mark.parametrize("stored", ["", "not sealed", "gAAAAABrubbish", "ümlaut", "x" * 200])
def test_what_was_never_sealed_does_not_open(stored):
    with pytest.raises(CannotUnseal):
        unseal(stored)
