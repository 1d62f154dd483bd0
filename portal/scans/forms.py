"""The form for the schedule of scans, for owners and managers."""

from collections.abc import Iterable
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.pages.forms import TimeZoneField
from portal.scans import labels
from signed_api.scans import ScanScheduleResponse

MAX_HOURS = 24


def _today(time_zone: str) -> date:
    return timezone.localdate(timezone=ZoneInfo(time_zone))


class ScheduleForm(forms.Form):
    """The schedule of scans, limited to what the plan includes; an owner's ``consent`` allows deep scans."""

    frequency = forms.ChoiceField(label=_("How often"))
    profile = forms.ChoiceField(label=_("Scan"))
    start_hour = forms.TypedChoiceField(
        label=_("Not before"), choices=[(hour, f"{hour:02}:00") for hour in range(24)], coerce=int
    )
    hours = forms.IntegerField(label=_("Within (hours)"), min_value=1, max_value=MAX_HOURS)
    time_zone = TimeZoneField()
    paused_until = forms.DateField(
        label=_("Pause until"),
        required=False,
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )
    consent = forms.BooleanField(required=False)

    def __init__(self, *args: Any, rules: ScanScheduleResponse | None = None, **kwargs: Any) -> None:
        """Offer all choices, or those that ``rules`` include, with the current values."""
        if rules is not None:
            schedule = rules.schedule
            names = ("frequency", "profile", "start_hour", "hours", "time_zone")
            kwargs["initial"] = {name: getattr(schedule, name) for name in names}
            if schedule.paused_until and schedule.paused_until > _today(schedule.time_zone):
                kwargs["initial"]["paused_until"] = schedule.paused_until
        super().__init__(*args, **kwargs)
        self.offer(rules)

    def offer(self, rules: ScanScheduleResponse | None) -> None:
        """Offer the choices that ``rules`` include, and the current one; offer all without rules."""
        self._offer("frequency", labels.FREQUENCIES, set(rules.frequencies) if rules else None)
        included = {each.profile for each in rules.allowance if each.included} if rules else None
        self._offer("profile", labels.PROFILES | {"deep": labels.MONTHLY_DEEP}, included)

    def _offer(self, name: str, words: dict[str, Any], included: Iterable[str] | None) -> None:
        current = self[name].value()
        shown = {value for value in words if included is None or value in included} | {current, "off"}
        choices = [(value, label) for value, label in words.items() if value in shown]
        self.fields[name].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Return the values; refuse deep scans that are not monthly, and a pause in the past."""
        values = super().clean() or self.cleaned_data
        if values.get("profile") == "deep" and values.get("frequency") not in (None, "off", "monthly"):
            self.add_error("frequency", labels.NOT_SCANNABLE["monthly_only"])
        until, zone = values.get("paused_until"), values.get("time_zone")
        if until and zone and until <= _today(zone):
            self.add_error("paused_until", _("Choose a day after today."))
        return values

    def clean_consent(self) -> bool | None:
        """Return True, or None for "no answer"."""
        return self.cleaned_data["consent"] or None
