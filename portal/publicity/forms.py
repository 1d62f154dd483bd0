"""Forms for owners: what may be published about an account's websites, and the region of a website."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foundation.texts.regions import CONTINENTS, NAMES, WORLD, proposed_region, region_label

AS_ACCOUNT = "as_account"
CHOICES = (
    ("counted", _("Counted: in the statistics only")),
    ("shown", _("Shown: in the statistics, and in the feed with a masked domain such as •••••.com")),
    ("nothing", _("Nothing: not in the statistics and not in the feed")),
)
_OF_WEBSITE = ((AS_ACCOUNT, _("as the organization")), ("counted", _("counted")), ("nothing", _("nothing")))


class AccountForm(forms.Form):
    """The choice for an account."""

    publicity = forms.ChoiceField(label=_("What may be published"), choices=CHOICES, widget=forms.RadioSelect)


class WebsiteForm(forms.Form):
    """The choice for a website, which can only be stricter, and its region."""

    host = forms.CharField(max_length=253, widget=forms.HiddenInput)
    publicity = forms.ChoiceField(label=_("Public"), choices=_OF_WEBSITE)
    region = forms.ChoiceField(label=_("Region"))

    def __init__(self, *args: Any, host: str, current: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", f"id_{host}_%s")
        super().__init__(*args, **kwargs)
        self.fields["region"].choices = list(_regions(host, current))  # type: ignore[attr-defined]


def _regions(host: str, current: str) -> Iterable[tuple[str, str]]:
    """Yield the regions to choose from: the current one, the suffix's country, and all named regions."""
    first = [each for each in dict.fromkeys([current, proposed_region(host), WORLD]) if each]
    named = sorted((*CONTINENTS, *NAMES), key=region_label)
    for region in dict.fromkeys([*first, *named]):
        yield region, region_label(region)
