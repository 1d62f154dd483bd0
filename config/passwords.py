"""allauth's forms for choosing a password, and for requesting a link to do so."""

from typing import Any

from allauth.account import forms
from django.http import HttpRequest

from config.resets import request_reset
from portal.forms import ChosenPassword


class ChangePasswordForm(ChosenPassword, forms.ChangePasswordForm):
    """The form of a signed-in person."""


class SetPasswordForm(ChosenPassword, forms.SetPasswordForm):
    """The form for a first password of a signed-in person."""


class ResetPasswordKeyForm(ChosenPassword, forms.ResetPasswordKeyForm):
    """The form behind a link from an e-mail."""


class ResetPasswordForm(forms.ResetPasswordForm):
    """A request for a link; nothing here looks up whether a person has the address."""

    def clean_email(self) -> str:
        """Return the address in lower case, as it is counted."""
        email: str = self.cleaned_data["email"]
        return email.lower()

    def save(self, request: HttpRequest, **_: Any) -> str:
        """Have the link sent after the response; raise ImmediateHttpResponse (429) for too many requests."""
        email: str = self.cleaned_data["email"]
        request_reset(request, email)
        return email
