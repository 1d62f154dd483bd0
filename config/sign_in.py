"""Sign-in: for people whom an operator or an owner added, without signing up.

It extends allauth; docs/decisions/0016-signing-in.md says why.
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
    """Authentication by user name, or by an e-mail address that only one person has.

    It checks exactly one password for any name, so that the time does not show which names exist.
    """

    @sensitive_variables("password")
    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **credentials: Any,
    ) -> Any:
        """Return the person, or None for a wrong name, a wrong password or an inactive person."""
        if username is None or password is None:
            return None
        person = _person_called(username)
        if person is None:
            get_user_model()().set_password(password)
            return None
        may_enter = _has_password(person, password) and self.user_can_authenticate(person)
        return person if may_enter else None


def _has_password(person: User, password: str) -> bool:
    """Return whether ``password`` is right; replace an outdated hash unless the database is locked."""
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
    matches = named or list(people)
    return matches[0] if len(matches) == 1 else None


class SignIn(DefaultAccountAdapter):
    """allauth's hooks: no signing up, no open redirects, no hints about which people exist."""

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
        """Return False."""
        return False

    def is_safe_url(self, url: str) -> bool:
        """Return whether ``url`` is a path of this site."""
        return is_local_path(url)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Return the page where the change began."""
        return resolve_url("account")

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the ways to confirm one's identity, in our words."""
        ways = super().get_reauthentication_methods(user)
        return [way | {"description": WAYS_TO_PROVE[way["id"]]} for way in ways]

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """Return the form error; after too many attempts, raise the response with its own page and status."""
        if code in ("too_many_login_attempts", "rate_limited"):
            raise ImmediateHttpResponse(too_many_requests(self.request))
        return super().validation_error(code, *args)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return a key of name and address, so that one person cannot lock out another from afar."""
        by_name = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{by_name}:{self.get_client_ip(request)}"


class SecondFactors(DefaultMFAAdapter):
    """Second factors, whose secrets are sealed like an account's."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": WRONG_CODE,
        "cannot_delete_authenticator": _("Your account needs this second step: it cannot be removed."),
        "cannot_generate_recovery_codes": _(
            "Recovery codes are for accounts with an authenticator app or a passkey."
        ),
    }

    def encrypt(self, text: str) -> str:
        """Return ``text`` as it may be stored."""
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Return the sealed text; raise CannotUnseal."""
        return unseal(encrypted_text)

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002 - allauth's name
        """Return a name such as Passkey 2."""
        number = user.authenticator_set.filter(type=type).count() + 1
        if number == 1:
            return pgettext("the name of the first one", "Passkey")
        return gettext("Passkey %(number)d") % {"number": number}


def not_offered(_: HttpRequest, **__: Any) -> HttpResponse:
    """Respond with 404 for pages of allauth that have no use here."""
    raise Http404


def reset_password(request: HttpRequest) -> HttpResponseBase:
    """Reset by an e-mailed link where mail can be sent; otherwise show whom to contact."""
    return password_reset(request) if settings.EMAIL_URL else _reset_by_support(request)


@require_safe
def _reset_by_support(request: HttpRequest) -> HttpResponse:
    return render(request, "account/reset_by_support.html", {"support_url": settings.SUPPORT_URL})
