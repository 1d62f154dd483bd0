"""Sign-in by password or passkey, and password reset; config.onboarding.sign_up creates accounts."""

from ipaddress import IPv6Address, ip_address
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import url_str_to_user_pk
from allauth.account.views import PasswordResetFromKeyView, password_reset
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from allauth.mfa.webauthn.views import login_webauthn
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import verify_password
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import OperationalError
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from config.identity.account_emails import send_changed
from config.identity.second_factors import WRONG_CODE
from config.identity.sessions import SIGN_IN_AGAIN
from config.identity.sign_in_limit import count_attempt
from config.web.errors import longest_wait, too_many_requests
from foundation.addresses.mail_addresses import one_spelling, with_address
from portal.pages.urls import is_local_path, portal_origin

WRONG_NAME_OR_PASSWORD = _("The name or the password is not correct.")
# A sentence of allauth that cannot be replaced; naming it here puts it into our translations.
ALLAUTH_TEXTS = (_("You must type the same password each time."),)
_BEGAN_WITH = "sign_in_began_with"  # in the session: Django's digest of the password
REAUTHENTICATION_LABELS = {
    "reauthenticate": _("Use your password"),
    "mfa_reauthenticate": _("Use a code"),
    "mfa_reauthenticate:webauthn": _("Use a passkey"),
}


class PasswordBackend(ModelBackend):
    """Authentication by user name, or by an e-mail address that only one person has.

    It always hashes exactly one password, so that the time does not show which names exist.
    """

    @sensitive_variables("password")
    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **credentials: Any,
    ) -> Any:
        """Return the person if the name and the password are right and the person is active."""
        if username is None or password is None:
            return None
        person = person_named(username)
        if person is None:
            get_user_model()().set_password(password)  # hashes it, as for a known name
            return None
        is_allowed = _has_password(person, password) and self.user_can_authenticate(person)
        return person if is_allowed else None


def _has_password(person: User, password: str) -> bool:
    """Return whether ``password`` is right; replace an outdated hash unless the database is locked."""
    password_hash = person.password
    is_right, is_outdated = verify_password(password, password_hash)
    if is_right and is_outdated:
        person.set_password(password)
        try:
            person.save(update_fields=["password"])
        except OperationalError:
            person.password = password_hash
    return is_right


def person_named(name: str) -> User | None:
    """Return the user with this user name, or with an e-mail address that only one user has."""
    people = get_user_model().objects.filter(Q(username__iexact=name) | with_address(name))
    by_username = [person for person in people if person.username.casefold() == name.casefold()]
    # PostgreSQL also matches similar letters, such as a dotless i for i: compare again.
    spellings = (name.casefold(), one_spelling(name))
    matches = by_username or [person for person in people if person.email.casefold() in spellings]
    return matches[0] if len(matches) == 1 else None


class SignIn(DefaultAccountAdapter):
    """Hooks of allauth: no sign-up, no redirect to other sites, no hint whether a name exists."""

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
        """Return False: our own sign-up confirms the address first."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address or network that allauth counts attempts by."""
        return _counted_address(super().get_client_ip(request))

    def is_safe_url(self, url: str) -> bool:
        """Return whether ``url`` is a path of this site."""
        return is_local_path(url)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Return the account page, where the change began."""
        return resolve_url("account")

    def send_notification_mail(
        self, template_prefix: str, user: Any, context: Any = None, email: str | None = None
    ) -> None:
        """Send our own e-mail instead of the one by allauth."""
        send_changed(user, template_prefix, origin=portal_origin(self.request))

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the ways to confirm one's identity again, with our labels."""
        methods = super().get_reauthentication_methods(user)
        return [method | {"description": REAUTHENTICATION_LABELS[method["id"]]} for method in methods]

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """Return the error for ``code``; raises ImmediateHttpResponse (429) after too many attempts."""
        if code in ("too_many_login_attempts", "rate_limited"):
            seconds = longest_wait("login_failed")
            raise ImmediateHttpResponse(too_many_requests(self.request, seconds=seconds))
        return super().validation_error(code, *args)

    def pre_login(self, request: HttpRequest, user: Any, **details: Any) -> HttpResponse | None:
        """Store a digest of the password: it may change before the second step, minutes later."""
        request.session[_BEGAN_WITH] = user.get_session_auth_hash()
        response: HttpResponse | None = super().pre_login(request, user, **details)
        return response

    def login(self, request: HttpRequest, user: Any) -> None:
        """Sign in; raises ImmediateHttpResponse if the password changed since the sign-in began."""
        if request.session.pop(_BEGAN_WITH, None) != user.get_session_auth_hash():
            request.session.flush()
            messages.info(request, SIGN_IN_AGAIN)
            raise ImmediateHttpResponse(redirect(settings.LOGIN_URL))
        super().login(request, user)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt by name and by address; raises ImmediateHttpResponse (429)."""
        super().pre_authenticate(request, **credentials)
        self._attempt = count_attempt(request)

    def _rollback_login_failed_rl_usage(self) -> None:
        """Take the attempt back, because the password was right."""
        super()._rollback_login_failed_rl_usage()
        self._attempt.rollback()

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return a key of person and address, so that an attacker elsewhere cannot lock a person out.

        The user name, the e-mail address and their spellings count as one person.
        """
        name = credentials.get("username") or credentials.get("email") or ""
        person = person_named(name)
        counted_name = one_spelling(person.get_username() if person else name)
        by_person = super()._get_login_attempts_cache_key(request, username=counted_name)
        return f"{by_person}:{self.get_client_ip(request)}"


def _counted_address(address: str) -> str:
    """Return an IPv4 address, or the /64 network of an IPv6 address, which one person can have whole."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))  # the last 64 bits become 0


def not_offered(_: HttpRequest, **__: Any) -> HttpResponse:
    """Raise Http404 for pages of allauth that this product does not offer."""
    raise Http404


def by_passkey(request: HttpRequest) -> HttpResponseBase:
    """Sign in with a passkey; limit challenges, because each stores a session. allauth limits answers."""
    if request.method != "POST" and not ratelimit.consume(
        request, app="allauth.account", action="passkey", limit_get=True
    ):
        return too_many_requests(request)
    return login_webauthn(request)


def reset_password(request: HttpRequest) -> HttpResponseBase:
    """Reset a password by e-mail; without a mail server, show whom to ask."""
    return password_reset(request) if settings.EMAIL_URL else _reset_by_support(request)


class NewPasswordByLink(PasswordResetFromKeyView):
    """The page behind a reset link, which an attacker may have sent to this browser."""

    def dispatch(self, request: HttpRequest, uidb36: str, key: str, **kwargs: Any) -> HttpResponseBase:
        """Give the session a new key when the link is opened: copies of its cookie cannot use the link.

        The session of another person keeps its key: a thief's link could otherwise change it.
        """
        response: HttpResponseBase = super().dispatch(request, uidb36, key, **kwargs)
        is_opened = response.status_code == 302 and key != self.reset_url_key
        if is_opened and request.user.pk in (None, url_str_to_user_pk(uidb36)):
            request.session.cycle_key()
        return response

    def logout(self) -> None:
        """Sign another person out only when the form is sent, not when the link is opened."""
        if self.request.method == "POST":
            super().logout()


@require_safe
def _reset_by_support(request: HttpRequest) -> HttpResponse:
    return render(request, "account/reset_by_support.html", {"support_url": settings.SUPPORT_URL})
