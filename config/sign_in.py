"""How people get in: by accounts that operators make or owners invite, never by signing up.

What this adds to allauth, and why: docs/decisions/0016-signing-in.md.
"""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.views import password_reset
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import verify_password
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import OperationalError
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from config.errors import too_many_requests
from foundation.sealing import seal, unseal
from portal.page_urls import is_local_path

WRONG_NAME_OR_PASSWORD = _("The name or the password is not correct.")
WRONG_CODE = _("This code or passkey was not accepted. Please try again.")
# A sentence of allauth that cannot be replaced: naming it here puts it into our catalogue, with our German.
SAID_BY_ALLAUTH = (_("You must type the same password each time."),)
WAYS_TO_PROVE = {
    "reauthenticate": _("Use your password"),
    "mfa_reauthenticate": _("Use a code"),
    "mfa_reauthenticate:webauthn": _("Use a passkey"),
}


class PasswordBackend(ModelBackend):
    """By user name, or else by an e-mail address that only one person has.

    It checks exactly one password whoever is asked for, so that the time tells nobody who exists.
    """

    @sensitive_variables("password")
    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **credentials: Any,
    ) -> Any:
        """The person, or None for a wrong name, a wrong password and who may not come in any more."""
        if username is None or password is None:
            return None
        person = _person_called(username)
        if person is None:
            get_user_model()().set_password(password)
            return None
        may_enter = _has_password(person, password) and self.user_can_authenticate(person)
        return person if may_enter else None


def _has_password(person: User, password: str) -> bool:
    """Whether ``password`` is right; an outdated hash is replaced unless the database is locked."""
    stored = person.password
    is_right, is_outdated = verify_password(password, stored)
    if is_right and is_outdated:
        person.set_password(password)
        try:
            person.save(update_fields=["password"])
        except OperationalError:
            person.password = stored
    return is_right


def _person_called(name: str) -> User | None:
    people = get_user_model().objects.filter(Q(username__iexact=name) | Q(email__iexact=name))
    named = [person for person in people if person.username.casefold() == name.casefold()]
    found = named or list(people)
    return found[0] if len(found) == 1 else None


class SignIn(DefaultAccountAdapter):
    """allauth's hooks: nobody signs up, nobody is led elsewhere, and nobody learns who exists."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": WRONG_NAME_OR_PASSWORD,
        "email_password_mismatch": WRONG_NAME_OR_PASSWORD,
        "account_inactive": WRONG_NAME_OR_PASSWORD,
        "invalid_login": WRONG_NAME_OR_PASSWORD,
        "enter_current_password": _("This is not your current password."),
        "incorrect_password": _("The password is not correct."),
        "incorrect_code": WRONG_CODE,
        "invalid_password_reset": _("This link no longer works. Ask for a new one."),
        "unknown_email": _("No account has this e-mail address."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """No."""
        return False

    def is_safe_url(self, url: str) -> bool:
        """Only a path of this site is a place to go on to."""
        return is_local_path(url)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Back to where the change began."""
        return resolve_url("account")

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the ways to confirm one's identity again, in our words."""
        ways = super().get_reauthentication_methods(user)
        return [way | {"description": WAYS_TO_PROVE[way["id"]]} for way in ways]

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """What is wrong; whoever tried too often gets the page, and the status, that says so."""
        if code in ("too_many_login_attempts", "rate_limited"):
            raise ImmediateHttpResponse(too_many_requests(self.request))
        return super().validation_error(code, *args)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Failures count by name and address: nobody can lock another person out from afar."""
        by_name = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{by_name}:{self.get_client_ip(request)}"


class SecondFactors(DefaultMFAAdapter):
    """What people prove besides their password; its secrets are sealed like an account's."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": WRONG_CODE,
        "cannot_delete_authenticator": _("Your account needs this second step: it cannot be removed."),
        "cannot_generate_recovery_codes": _(
            "Recovery codes are for accounts with an authenticator app or a passkey."
        ),
    }

    def encrypt(self, text: str) -> str:
        """``text`` as it may be stored."""
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """What was sealed; raises CannotUnseal."""
        return unseal(encrypted_text)

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002 - allauth's name
        """Such as Passkey 2."""
        number = user.authenticator_set.filter(type=type).count() + 1
        if number == 1:
            return pgettext("the name of the first one", "Passkey")
        return gettext("Passkey %(number)d") % {"number": number}


def not_offered(_: HttpRequest, **__: Any) -> HttpResponse:
    """404 for pages of allauth that have no use here."""
    raise Http404


def reset_password(request: HttpRequest) -> HttpResponseBase:
    """By a link in a letter where mail can be sent, else by asking somebody."""
    return password_reset(request) if settings.EMAIL_URL else _reset_by_support(request)


@require_safe
def _reset_by_support(request: HttpRequest) -> HttpResponse:
    return render(request, "account/reset_by_support.html", {"support_url": settings.SUPPORT_URL})
