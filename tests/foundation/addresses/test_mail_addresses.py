"""E-mail addresses have one form, and mail goes to the host that people see."""

import pytest
from django.core.exceptions import ValidationError

from foundation.addresses.mail_addresses import mail_address, one_spelling


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("Ada@Example.COM", "ada@example.com"),
        ("ada@m\u00fcller.example", "ada@xn--mller-kva.example"),
        ("ada@stra\u00dfe.example", "ada@xn--strae-oqa.example"),  # not strasse.example, where others read it
        ("ada@exa\u00admple.com", "ada@example.com"),
        ("ada@mail\u3002example.com", "ada@mail.example.com"),
        ("ada+shop@example.com", "ada+shop@example.com"),
    ],
)
def test_an_address_has_one_form(typed, stored):
    assert mail_address(typed) == stored
    assert one_spelling(typed.replace("a", "A")) == one_spelling(typed) == stored


@pytest.mark.parametrize(
    "typed",
    [
        "ada@", "ada@[127.0.0.1]", '"a b"@example.com', '"a@evil.example,b"@example.com', "ada@\u3002.com",
        "ada@" + "\u00fc" * 60 + ".com", "ada@\u202eexample.com", "ada@\uffff.com", "ada@xn--\u00fc.com",
        "a\u017f@example.com", "\u0130da@example.com", "\u212aate@example.com",
        "ada@" + "x" * 60 + ".example.com" * 20, "x" * 64 + "@" + "\u00fc." * 30 + "com",
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_no_address(typed):
    with pytest.raises(ValidationError):
        mail_address(typed)


def test_no_address_is_on_the_local_network(settings):
    settings.ALLOW_PRIVATE_HOSTS = False
    for typed in ("ada@localhost", "ada@127.0.0.1"):
        with pytest.raises(ValidationError):
            mail_address(typed)


def test_letters_that_a_database_takes_for_others_are_one_spelling():
    assert one_spelling("ro\u017fa@example.com") == one_spelling("rosa@example.com")


def test_another_name_is_its_own_spelling():
    assert one_spelling("Ada") == "ada"
