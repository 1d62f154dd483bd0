"""The texts on the pages of the sign-in library are ours, in both languages."""

from pathlib import Path

import allauth
import pytest
from allauth.account import app_settings as account_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.template.loader import get_template
from django.test import RequestFactory
from django.urls import reverse
from django.utils import translation

from config.identity.second_factors import SecondFactors
from config.identity.sign_in import ALLAUTH_TEXTS, SignIn
from tests.factories import make_user

SHIPPED = Path(allauth.__file__).parent / "templates"
# Pages for addresses, telephone numbers and codes by e-mail are not offered, so these never appear.
NEVER_SHOWN = {
    "cannot_delete_primary_email", "email_confirmation_failed", "email_confirmation_sent", "email_confirmed",
    "email_deleted", "login_code_sent", "phone_verification_sent", "phone_verified", "primary_email_set",
    "unverified_primary_email",
}  # fmt: skip
SHOWN = sorted(
    str(path.relative_to(SHIPPED))
    for app in ("account", "mfa")
    for path in (SHIPPED / app / "messages").glob("*.txt")
    if path.stem not in NEVER_SHOWN
)
NEVER_SAID = {
    SignIn: {
        "cannot_remove_primary_email", "duplicate_email", "phone_password_mismatch", "email_taken",
        "invalid_or_expired_key", "max_email_addresses", "phone_taken", "too_many_login_attempts",
        "unknown_phone", "unverified_primary_email", "username_blacklisted", "username_taken",
        "select_only_one", "same_as_current", "rate_limited",
    },
    SecondFactors: {"add_email_blocked", "unverified_email"},
}  # fmt: skip


def rendered(name, language):
    with translation.override(language):
        return get_template(name).render().strip()


@pytest.mark.parametrize("name", SHOWN)
def test_a_message_of_the_library_is_ours_in_both_languages_or_not_shown(name):
    assert Path(get_template(name).origin.name).is_relative_to(settings.BASE_DIR / "templates")
    english, german = (rendered(name, language) for language in ("en", "de"))
    assert (english == "") == (german == "")
    assert not english or english != german


def test_the_library_ships_the_messages_that_were_looked_at():
    assert len(SHOWN) == 9


def test_the_library_sends_no_e_mail_but_those_that_are_ours():
    assert account_settings.EMAIL_NOTIFICATIONS is False
    ours = {path.name for path in (settings.BASE_DIR / "templates/account/email").iterdir()}
    assert ours == {"changed.txt", "password_reset_key_message.txt", "password_reset_key_subject.txt"}


@pytest.mark.parametrize(
    ("adapter", "default"), [(SignIn, DefaultAccountAdapter), (SecondFactors, DefaultMFAAdapter)]
)
def test_every_error_that_can_appear_is_in_our_words(adapter, default):
    shown = set(default.error_messages) - NEVER_SAID[adapter]
    for code in shown:
        english, german = said(adapter, code)
        assert english != str(default.error_messages[code]), code
        assert english != german, code


def said(adapter, code):
    """Run a test in English and in German."""
    for language in ("en", "de"):
        with translation.override(language):
            yield str(adapter.error_messages[code])


def test_the_one_sentence_that_cannot_be_replaced_is_polite_in_german():
    with translation.override("de"):
        assert all("Sie" in str(sentence) for sentence in ALLAUTH_TEXTS)


@pytest.mark.django_db
def test_ways_to_prove_who_one_is_are_named_in_our_words():
    user = make_user()
    user.authenticator_set.create(type="totp", data={})
    user.authenticator_set.create(type="webauthn", data={})
    adapter = SignIn(RequestFactory().get("/"))
    ways = [str(way["description"]) for way in adapter.get_reauthentication_methods(user)]
    assert ways == ["Use your password", "Use a code", "Use a passkey"]


@pytest.mark.django_db
def test_a_person_without_a_password_chooses_one_on_a_page_of_ours(client):
    user = make_user()
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    page = client.get(reverse("account_change_password"), follow=True)
    assert page.request["PATH_INFO"] == reverse("account_set_password")
    assert "Choose a password" in page.text
    assert "Set Password" not in page.text
