"""The filters of the audit log."""

from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from audit.models import AuditEvent
from portal.activity.events import by_person
from portal.activity.labels import ACTIONS


class ActivityForm(forms.Form):
    """Filters by day, person and action; ``people`` has names by the id of an AuditActor."""

    day = forms.DateField(
        label=_("Day (UTC)"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    person = forms.ChoiceField(label=_("Person"), required=False)
    action = forms.ChoiceField(label=_("Action"), required=False)

    def __init__(self, *args: Any, people: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["person"].choices = [("", _("Everyone")), *people.items()]  # type: ignore[attr-defined]
        by_label = {str(label): action for action, label in ACTIONS.items()}  # some have the same label
        actions = [(by_label[label], label) for label in sorted(by_label)]
        self.fields["action"].choices = [("", _("Every action")), *actions]  # type: ignore[attr-defined]

    def apply_to(self, events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        """Return the events that match the filters."""
        filters = self.cleaned_data
        if filters["day"]:
            day_start, day_end = (datetime.combine(filters["day"], at, UTC) for at in (time.min, time.max))
            events = events.filter(at__range=(day_start, day_end))
        if filters["person"]:
            events = by_person(events, filters["person"])
        if filters["action"]:
            with_label = [action for action, label in ACTIONS.items() if label == ACTIONS[filters["action"]]]
            events = events.filter(action__in=with_label)
        return events
