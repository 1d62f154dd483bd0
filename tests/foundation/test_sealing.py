import pytest
from cryptography.fernet import Fernet

from foundation.sealing import CannotUnseal, is_current, seal, unseal, unseal_once

SECRET = "es1_test_sealed_and_öpened"
HERE, ELSEWHERE = "secret of account 7", "secret of account 70"


@pytest.fixture
def keys():
    return [Fernet.generate_key().decode() for _ in range(3)]


def test_sealed_secret_opens_again():
    assert unseal(seal(SECRET, HERE), HERE) == SECRET


def test_sealed_secret_does_not_show_and_never_looks_the_same():
    assert SECRET not in seal(SECRET, HERE)
    assert seal(SECRET, HERE) != seal(SECRET, HERE)


def test_secret_sealed_with_an_older_key_still_opens(settings, keys):
    settings.MASTER_KEYS = keys[1:]
    sealed = seal(SECRET, HERE)
    settings.MASTER_KEYS = keys
    assert unseal(sealed, HERE) == SECRET


def test_secret_is_sealed_with_the_newest_key(settings, keys):
    settings.MASTER_KEYS = keys
    sealed = seal(SECRET, HERE)
    settings.MASTER_KEYS = keys[:1]
    assert unseal(sealed, HERE) == SECRET


def test_secret_does_not_open_without_its_key(settings, keys):
    settings.MASTER_KEYS = keys[:1]
    sealed = seal(SECRET, HERE)
    settings.MASTER_KEYS = keys[1:]
    for opened in (unseal, unseal_once):
        with pytest.raises(CannotUnseal, match=r"^MASTER_KEYS holds no key that opens this secret$"):
            opened(sealed, HERE)


def test_a_text_that_is_opened_once_is_the_same(settings, keys):
    settings.MASTER_KEYS = keys
    assert unseal_once(seal(SECRET, HERE), HERE) == SECRET


@pytest.mark.parametrize("stored", ["", "not sealed", "gAAAAABrubbish", "ümlaut", "x" * 200])
def test_what_was_never_sealed_does_not_open(stored):
    with pytest.raises(CannotUnseal):
        unseal(stored, HERE)


@pytest.mark.parametrize("context", [ELSEWHERE, "secret of account", "", "secret of account 7\0"])
def test_a_secret_that_was_copied_to_another_place_does_not_open(context):
    sealed = seal(SECRET, HERE)
    for opened in (unseal, unseal_once):
        with pytest.raises(CannotUnseal, match=r"^this secret was sealed for another place and copied here$"):
            opened(sealed, context)
    assert unseal(sealed, HERE) == SECRET  # what is remembered is remembered for its place alone


@pytest.fixture
def before_contexts(settings):
    """A secret as it was sealed before there were contexts."""
    return Fernet(settings.MASTER_KEYS[0]).encrypt(SECRET.encode()).decode()


def test_what_was_sealed_before_there_were_contexts_opens_and_is_not_current(before_contexts):
    assert unseal(before_contexts, HERE) == unseal_once(before_contexts, HERE) == SECRET
    assert not is_current(before_contexts, HERE)
    assert is_current(seal(SECRET, HERE), HERE)


def test_only_what_the_newest_key_sealed_for_this_place_is_current(settings, keys):
    settings.MASTER_KEYS = keys[1:]
    sealed = seal(SECRET, HERE)
    assert is_current(sealed, HERE)
    assert not is_current(sealed, ELSEWHERE)
    assert not is_current("not sealed", HERE)
    settings.MASTER_KEYS = keys
    assert not is_current(sealed, HERE)
    assert unseal(sealed, HERE) == SECRET


def test_an_empty_text_is_sealed_for_its_place_too():
    assert unseal(seal("", HERE), HERE) == ""
    assert is_current(seal("", HERE), HERE)
