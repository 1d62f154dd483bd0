"""The form for the e-mails of one account."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.models import Subscription
from portal.texts import labels

FREQUENCIES = [
    (Subscription.Frequency.IMMEDIATE.value, _("Immediately")),
    (Subscription.Frequency.DAILY.value, _("Once a day, in the morning")),
    (Subscription.Frequency.WEEKLY.value, _("Once a week, on Monday morning")),
    (Subscription.Frequency.NEVER.value, _("Never")),
]


class SubscriptionForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """The e-mails of one account."""

    frequency = forms.ChoiceField(label=_("Send me e-mails"), choices=FREQUENCIES)
    min_severity = forms.ChoiceField(label=_("Minimum severity"), choices=list(labels.SEVERITIES.items()))

    reminders = forms.BooleanField(
        label=_("Remind me 30, 14 and 3 days before a certificate or a domain expires"), required=False
    )

    class Meta:
        model = Subscription
        fields: ClassVar = ["frequency", "min_severity", "reminders"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["reminders"] = self.instance.wants_reminders
