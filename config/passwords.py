"""allauth's forms for choosing a password, and for requesting a link to do so."""

from typing import Any

from allauth.account import forms
from django.http import HttpRequest

from config.resets import request_reset
from portal.forms import ChosenPassword


class ChangePasswordForm(ChosenPassword, forms.ChangePasswordForm):
    """By somebody who is signed in."""


class SetPasswordForm(ChosenPassword, forms.SetPasswordForm):
    """A first password, for a person who is signed in without one."""


class ResetPasswordKeyForm(ChosenPassword, forms.ResetPasswordKeyForm):
    """By somebody who was sent a link."""


class ResetPasswordForm(forms.ResetPasswordForm):
    """A request for a link; nothing here looks up whether a person has the address."""

    def clean_email(self) -> str:
        """Return the address in lower case, as it is counted."""
        email: str = self.cleaned_data["email"]
        return email.lower()

    def save(self, request: HttpRequest, **_: Any) -> str:
        """Have the link sent after the answer; raises ImmediateHttpResponse (429) for too many requests."""
        email: str = self.cleaned_data["email"]
        request_reset(request, email)
        return email
