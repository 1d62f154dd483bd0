"""allauth's forms in which a password is chosen, in our words."""

from allauth.account import forms

from portal.passwords import ChosenPassword


class ChangePasswordForm(ChosenPassword, forms.ChangePasswordForm):
    """By somebody who is signed in."""


class ResetPasswordKeyForm(ChosenPassword, forms.ResetPasswordKeyForm):
    """By somebody who was sent a link."""
