"""Forms for adding and removing a website."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from foundation.addresses.hosts import MAX_HOST_LENGTH, InvalidHost, typed_host
from portal.pages.forms import OneAccount
from signed_api.limits import MAX_REASON_LENGTH


class AddWebsiteForm(OneAccount, forms.Form):
    """The host of a website, and its account: one of ``accounts``."""

    host = forms.CharField(
        label=_("Website"),
        max_length=2 * MAX_HOST_LENGTH,  # room for a pasted address with its path
        widget=forms.TextInput(
            attrs={
                "placeholder": "shop.example.com",
                "autocomplete": "url",
                "autocapitalize": "none",
                "inputmode": "url",
                "spellcheck": "false",
            }
        ),
    )
    account = forms.ChoiceField(label=_("Organization"))

    def clean_host(self) -> str:
        """Return the host in its stored form, also from a pasted address."""
        try:
            return typed_host(self.cleaned_data["host"])
        except InvalidHost as error:
            problem = gettext(str(error))
            raise forms.ValidationError(_("The host %(problem)s."), params={"problem": problem}) from error


class WithdrawForm(forms.Form):
    """An owner's reason for removing a website."""

    reason = forms.CharField(label=_("Reason"), max_length=MAX_REASON_LENGTH)
