"""The form for choosing websites when the plan includes fewer than the account has."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host
from signed_api.billing import WebsitesResponse


class WebsitesForm(forms.Form):
    """A box for each website; ticked websites are kept."""

    stay = forms.MultipleChoiceField(
        label=_("Websites that stay"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": _("Choose at least one website."),
            "invalid_choice": _("These websites have changed: choose again."),
        },
    )

    def __init__(self, *args: Any, found: WebsitesResponse, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limit = found.limit or 0
        field: Any = self.fields["stay"]
        field.choices = [(website.host, readable_host(website.host)) for website in found.websites]
        self.initial["stay"] = [website.host for website in found.websites if website.stays]

    def clean_stay(self) -> list[str]:
        """Refuse more websites than the plan includes."""
        chosen: list[str] = self.cleaned_data["stay"]
        if len(chosen) > self._limit:
            text = ngettext(
                "Your plan includes %(limit)s website. You have chosen %(count)s.",
                "Your plan includes %(limit)s websites. You have chosen %(count)s.",
                self._limit,
            )
            raise forms.ValidationError(text % {"limit": self._limit, "count": len(chosen)})
        return chosen
