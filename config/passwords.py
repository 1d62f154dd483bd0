"""allauth's forms in which a password is chosen, or a link to choose one is asked for."""

from typing import Any

from allauth.account import forms
from django.http import HttpRequest

from config.resets import request_reset
from portal.passwords import ChosenPassword


class ChangePasswordForm(ChosenPassword, forms.ChangePasswordForm):
    """By somebody who is signed in."""


class SetPasswordForm(ChosenPassword, forms.SetPasswordForm):
    """By somebody who is signed in and has no password yet."""


class ResetPasswordKeyForm(ChosenPassword, forms.ResetPasswordKeyForm):
    """By somebody who was sent a link."""


class ResetPasswordForm(forms.ResetPasswordForm):
    """Asks for a link; nothing here looks for who signs in with the address."""

    def clean_email(self) -> str:
        """As it is counted."""
        email: str = self.cleaned_data["email"]
        return email.lower()

    def save(self, request: HttpRequest, **_: Any) -> str:
        """Have the link sent after the answer; raises ImmediateHttpResponse for too many."""
        email: str = self.cleaned_data["email"]
        request_reset(request, email)
        return email
