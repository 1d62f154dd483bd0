import pytest

from portal.sealing import CannotUnseal, seal, unseal
from tests.factories import SECRET

OLD, NEW = "b25seS1mb3ItdGVzdHMtMDEyMzQ1Njc4OTAxMjM0NTY=", "YW5vdGhlci1rZXktZm9yLXRlc3RzLTAxMjM0NTY3ODk="


def test_sealed_secret_opens_again_and_does_not_show_it():
    assert SECRET not in seal(SECRET)
    assert unseal(seal(SECRET)) == SECRET


def test_sealing_twice_gives_two_texts():
    assert seal(SECRET) != seal(SECRET)


def test_secret_sealed_with_an_older_key_still_opens(settings):
    settings.MASTER_KEYS = [OLD]
    sealed = seal(SECRET)
    settings.MASTER_KEYS = [NEW, OLD]
    assert unseal(sealed) == SECRET


def test_secret_is_sealed_with_the_newest_key(settings):
    settings.MASTER_KEYS = [NEW, OLD]
    sealed = seal(SECRET)
    settings.MASTER_KEYS = [NEW]
    assert unseal(sealed) == SECRET


@pytest.mark.parametrize("sealed", ["", "rubbish", "gAAAAABrubbish"])
def test_text_that_was_never_sealed_cannot_be_opened(sealed):
    with pytest.raises(CannotUnseal):
        unseal(sealed)


def test_secret_whose_key_is_gone_cannot_be_opened_and_the_error_does_not_show_it(settings):
    sealed = seal(SECRET)
    settings.MASTER_KEYS = [NEW]
    with pytest.raises(CannotUnseal) as caught:
        unseal(sealed)
    assert SECRET not in str(caught.value)
    assert sealed not in str(caught.value)
