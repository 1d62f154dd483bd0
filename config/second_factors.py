"""Codes of an authenticator app, each of which is accepted once."""

from typing import Any

from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms
from django.core.cache import cache


class SpentOnce:
    """A form that remembers used codes for as long as they are accepted; allauth does so for one period."""

    user: Any

    def clean_code(self) -> str:
        """Return the code; raise ValidationError for one that was used before."""
        code: str = super().clean_code()  # type: ignore[misc]
        digits = "".join(filter(str.isdigit, code))  # what counts of a code
        seconds = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
        if not cache.add(f"spent-code:{self.user.pk}:{digits}", True, timeout=seconds):
            raise get_adapter().validation_error("incorrect_code")
        return code


class AuthenticateForm(SpentOnce, forms.AuthenticateForm):
    """The code form of the sign-in."""


class ReauthenticateForm(SpentOnce, forms.ReauthenticateForm):
    """The code form before a sensitive change."""
