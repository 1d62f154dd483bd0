"""Second factors: authenticator apps with codes that work once, passkeys and recovery codes."""

from collections.abc import Callable
from typing import Any

from allauth.core import context
from allauth.mfa import app_settings
from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.base import forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp_forms
from allauth.mfa.webauthn import forms as webauthn_forms
from allauth.mfa.webauthn.internal import auth as webauthn
from django.core.cache import cache
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from audit.recording import record
from config.identity.sign_in_limit import count_attempt
from foundation.sealing import seal, unseal

SEALED_FOR = "second factor"  # not bound to a row: allauth passes only the text
WRONG_CODE = _("This code or passkey was not accepted. Please try again.")


class CodeOnce:
    """Form that accepts a code once within its tolerance; allauth forgets used codes earlier."""

    user: Any

    def clean_code(self) -> str:
        """Return the code; raises ValidationError for a used one."""
        attempt = count_attempt(context.request)
        code: str = super().clean_code()  # type: ignore[misc]
        attempt.rollback()  # a right code does not count
        digits = "".join(filter(str.isdigit, code))
        seconds_accepted = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
        if not cache.add(f"spent-code:{self.user.pk}:{digits}", True, timeout=seconds_accepted):
            raise get_adapter().validation_error("incorrect_code")
        return code


class RecordsRefusals:
    """Form that records each refused code or passkey."""

    user: Any

    def is_valid(self) -> bool:
        """Return whether the code or the passkey was accepted."""
        is_valid: bool = super().is_valid()  # type: ignore[misc]
        if not is_valid:
            record("sign_in.second_step_failed", self.user, outcome="refused", may_wait=True)
        return is_valid


class AuthenticateForm(RecordsRefusals, CodeOnce, forms.AuthenticateForm):
    """The second step of the sign-in."""


class ReauthenticateForm(RecordsRefusals, CodeOnce, forms.ReauthenticateForm):
    """The confirmation before a sensitive action."""


class ActivateForm(CodeOnce, totp_forms.ActivateTOTPForm):
    """Form for the first code of a new app; the same code cannot be used to sign in."""


class RefusesOddAnswers:
    """Form for the answer of a passkey: malformed answers, which make the libraries fail, are refused.

    A page with an error does not repeat the answer: each one works once.
    """

    fields: Any
    add_error: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["credential"].bound_data = lambda _data, _initial: None  # so it is not shown again

    def _clean_fields(self) -> None:
        self._refuse_odd(super()._clean_fields)  # type: ignore[misc]

    def _clean_form(self) -> None:
        self._refuse_odd(super()._clean_form)  # type: ignore[misc]

    def _refuse_odd(self, clean: Callable[[], None]) -> None:
        try:
            clean()
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            self.add_error("credential", get_adapter().validation_error("incorrect_code"))


class LoginForm(RefusesOddAnswers, webauthn_forms.LoginWebAuthnForm):
    """Sign-in with a passkey alone, which always needs a PIN, a fingerprint or a face.

    allauth also accepts the challenge of a second step here, which a touch answers.
    """

    def clean_credential(self) -> Authenticator:
        """Return the passkey; raises ValidationError if it was only touched."""
        sent = webauthn.parse_authentication_response(self.cleaned_data["credential"])
        if not sent.response.authenticator_data.is_user_verified():
            raise get_adapter().validation_error("incorrect_code")
        return super().clean_credential()


class AuthenticateByPasskeyForm(RefusesOddAnswers, webauthn_forms.AuthenticateWebAuthnForm):
    """The second step of the sign-in, with a passkey."""


class ReauthenticateByPasskeyForm(RefusesOddAnswers, webauthn_forms.ReauthenticateWebAuthnForm):
    """The confirmation before a sensitive action, with a passkey."""


class AddPasskeyForm(RefusesOddAnswers, webauthn_forms.AddWebAuthnForm):
    """Form that adds a passkey."""


class SecondFactors(DefaultMFAAdapter):
    """Hooks of allauth for second factors, which seal their secrets."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": WRONG_CODE,
        "cannot_delete_authenticator": _("Your account needs this second step: it cannot be removed."),
        "cannot_generate_recovery_codes": _(
            "Recovery codes are for accounts with an authenticator app or a passkey."
        ),
    }

    def encrypt(self, text: str) -> str:
        """Return ``text`` sealed."""
        return seal(text, SEALED_FOR)

    def decrypt(self, encrypted_text: str) -> str:
        """Return the sealed text; raises CannotUnseal."""
        return unseal(encrypted_text, SEALED_FOR)

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002 - allauth's name
        """Return "Passkey", or "Passkey 2" and so on for further ones."""
        number = user.authenticator_set.filter(type=type).count() + 1
        if number == 1:
            return pgettext("the name of the first one", "Passkey")
        return gettext("Passkey %(number)d") % {"number": number}
