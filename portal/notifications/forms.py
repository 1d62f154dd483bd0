"""What a member chooses to hear of one account."""

from typing import ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from portal import labels
from portal.models.notifications import Subscription

RHYTHMS = [
    (Subscription.Rhythm.AT_ONCE.value, _("At once")),
    (Subscription.Rhythm.DAILY.value, _("Once a day, in the morning")),
    (Subscription.Rhythm.NEVER.value, _("Never")),
]


class SubscriptionForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """One account's e-mails."""

    rhythm = forms.ChoiceField(label=_("Write to me"), choices=RHYTHMS)
    floor = forms.ChoiceField(label=_("From this severity on"), choices=list(labels.SEVERITIES.items()))

    class Meta:
        model = Subscription
        fields: ClassVar = ["rhythm", "floor"]
