"""What a member chooses to hear of one account."""

from typing import ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from portal import wording
from portal.news.models import Subscription

RHYTHMS = [
    (Subscription.Rhythm.AT_ONCE.value, _("At once")),
    (Subscription.Rhythm.DAILY.value, _("Once a day, in the morning")),
]


class SubscriptionForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """One account's e-mails."""

    is_on = forms.BooleanField(label=_("Write to me"), required=False)
    floor = forms.ChoiceField(label=_("From this severity on"), choices=list(wording.SEVERITIES.items()))
    rhythm = forms.ChoiceField(label=_("When"), choices=RHYTHMS)

    class Meta:
        model = Subscription
        fields: ClassVar = ["is_on", "floor", "rhythm"]
