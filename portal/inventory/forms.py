"""Filters of the list of certificates and domains, and the form of a script."""

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.pages.forms import OneAccount
from signed_api.inventory import SCRIPT_ACTS, LastDaysRequest, ScriptRequest
from signed_api.limits import MAX_DAYS_AHEAD, MAX_SCRIPT_URL

PAGE_SIZE = 50
SOON_DAYS = 30


class ExpiryForm(OneAccount, forms.Form):
    """Filters by account and by days; ``accounts`` are the person's own, at least one."""

    account = forms.ChoiceField(label=_("Organization"), required=False)
    within = forms.ChoiceField(
        label=_("Expires"),
        required=False,
        choices=[("", _("At any time")), (str(SOON_DAYS), _("Within 30 days"))],
    )

    def to_request(self, *, page: int) -> LastDaysRequest:
        """Return the request for one page of the list."""
        days = int(self.cleaned_data["within"] or MAX_DAYS_AHEAD)
        return LastDaysRequest(within_days=days, page=page, page_size=PAGE_SIZE)


class ScriptForm(forms.Form):
    """An act about a script of the inventory; ``sha256`` is the content that the person saw."""

    url = forms.CharField(max_length=MAX_SCRIPT_URL, strip=False)
    act = forms.ChoiceField(choices=[(act, act) for act in SCRIPT_ACTS])
    sha256 = forms.RegexField(r"^[0-9a-f]{64}\Z", required=False)

    def to_request(self, by: str) -> ScriptRequest:
        """Return the request of the person with the reference ``by``."""
        return ScriptRequest(**self.cleaned_data, by=by)
