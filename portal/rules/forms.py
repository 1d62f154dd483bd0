"""The form for an account's rules about answers."""

from typing import Any, Self

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.pages.forms import TimeZoneField
from portal.texts import labels
from signed_api.answering import AnswerRulesRequest, AnswerRulesResponse
from signed_api.limits import MAX_FIX_DAYS


def _days(severity: str) -> forms.IntegerField:
    label = labels.SEVERITIES[severity]
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=MAX_FIX_DAYS)


class RulesForm(forms.Form):
    """Days to fix by severity, who confirms accepted risks, and the time zone of all days."""

    critical_days = _days("Critical")
    high_days = _days("High")
    medium_days = _days("Medium")
    low_days = _days("Low")
    second_person = forms.BooleanField(
        label=_("Ask a second person to confirm accepted risks of Critical and High findings"), required=False
    )
    time_zone = TimeZoneField()

    @classmethod
    def showing(cls, rules: AnswerRulesResponse, *, may_change: bool) -> Self:
        """Return the form with the current rules; only owners may change them."""
        form = cls(initial={name: getattr(rules, name) or None for name in cls.base_fields})
        for field in form.fields.values():
            field.disabled = not may_change
        return form

    @property
    def days(self) -> list[Any]:
        """The fields for days, the most severe first."""
        return [self[name] for name in self.fields if name.endswith("_days")]

    def to_request(self, by: str) -> AnswerRulesRequest:
        """Return the request that stores the rules; a severity without days has no rule."""
        values: dict[str, Any] = {
            name: 0 if value is None else value for name, value in self.cleaned_data.items()
        }
        return AnswerRulesRequest(by=by, **values)
