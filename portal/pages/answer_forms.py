"""Forms of members about findings: an answer, and a message to the analysts."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import msgspec
from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.texts import answers as words
from signed_api.answers import ACCEPTED, DISPUTED, FIXED, WILL_FIX
from signed_api.limits import (
    MAX_ACCEPTED_DAYS,
    MAX_ANSWER_TEXT,
    MAX_MESSAGE_LENGTH,
    MIN_DISPUTE_REASON,
)

DEFAULT_ACCEPTED_DAYS = 90
MAX_TEXT_BYTES = 7_000  # in JSON: the service refuses a request of more than 8,192 bytes
_FIELDS_OF = {
    WILL_FIX: ("due", "assignee"),
    ACCEPTED: ("reason", "until"),
    DISPUTED: ("reason", "evidence"),
    FIXED: (),
}
_SHOWN_FOR = {
    name: " ".join(act for act, names in _FIELDS_OF.items() if name in names)
    for name in ("due", "assignee", "reason", "evidence", "until")
}
_TOO_LONG = _("This is too long for one call. Write less, or split it: some characters count several times.")


class _Text(forms.CharField):
    """A field for a text of several lines."""

    def __init__(self, *, rows: int, **kwargs: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **kwargs)

    def to_python(self, value: Any) -> str:
        """Return the text with one character for each end of a line, as the limits count."""
        return super().to_python(str(value or "").replace("\r\n", "\n")) or ""


class _Day(forms.DateField):
    """A field for a day that the browser's calendar offers."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
        super().__init__(widget=widget, input_formats=["%Y-%m-%d"], required=False, **kwargs)


class AnswerForm(forms.Form):
    """Form for the answer to findings; fields of other choices than the chosen one do not count.

    ``assignees`` has references and names of members; ``extra_bytes`` is the size of the chosen findings in
    the request.
    """

    act = forms.ChoiceField(
        label=_("Your answer"),
        choices=list(words.CHOICES.items()),
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose an answer.")},
    )
    due = _Day(label=_("Fixed by"))
    assignee = forms.ChoiceField(label=_("Who fixes it"), required=False)
    reason = _Text(label=_("Why"), rows=3, max_length=MAX_ANSWER_TEXT, required=False)
    evidence = _Text(label=_("What shows it"), rows=3, max_length=MAX_ANSWER_TEXT, required=False)
    until = _Day(label=_("Accepted until"))

    use_required_attribute = False

    def __init__(
        self,
        *args: Any,
        assignees: Iterable[tuple[str, str]],
        may_dispute: bool = True,
        needs_evidence: bool = False,
        extra_bytes: int = 0,
        **kwargs: Any,
    ) -> None:
        today = timezone.localdate()
        initial = {"until": today + timedelta(days=DEFAULT_ACCEPTED_DAYS), **kwargs.pop("initial", {})}
        super().__init__(*args, **{"auto_id": "answer-%s", "initial": initial, **kwargs})
        self._needs_evidence, self._most_bytes = needs_evidence, MAX_TEXT_BYTES - extra_bytes
        choices = [(act, text) for act, text in words.CHOICES.items() if may_dispute or act != DISPUTED]
        self.fields["act"].choices = choices  # type: ignore[attr-defined]
        self.fields["assignee"].choices = [("", _("Nobody yet")), *assignees]  # type: ignore[attr-defined]
        for name in ("due", "until"):
            self.fields[name].widget.attrs["min"] = today.isoformat()
        last = today + timedelta(days=MAX_ACCEPTED_DAYS)
        self.fields["until"].widget.attrs["max"] = last.isoformat()

    def shown_for(self) -> list[tuple[forms.BoundField, str]]:
        """Return the fields with the choices for which the page shows them."""
        return [(self[name], acts) for name, acts in _SHOWN_FOR.items()]

    def clean(self) -> dict[str, Any]:
        """Return the values that belong to the chosen answer; the others are no mistake."""
        given = super().clean() or self.cleaned_data
        act = given.get("act", "")
        for name in _SHOWN_FOR.keys() - {*_FIELDS_OF.get(act, ())}:
            self.errors.pop(name, None)
        values = {name: given[name] for name in _FIELDS_OF.get(act, ()) if given.get(name)}
        for name in ("due", "until"):
            if name in values:
                self._check_day(name, values[name])
        if act == ACCEPTED and "until" not in values and not self.has_error("until"):
            self.add_error("until", _("Choose a day."))
        self._check_texts(act, values)
        return {"act": act, **values}

    def _check_day(self, name: str, day: date) -> None:
        """Refuse a day that has passed in every time zone, or that is too late; the service is exact."""
        today = timezone.localdate()
        if day < today - timedelta(days=1):
            self.add_error(name, _("Choose today or a later day."))
        if name == "until" and day > today + timedelta(days=MAX_ACCEPTED_DAYS + 1):
            text = _("Choose a day in the next %(days)s days: accepted risks are looked at again.")
            self.add_error(name, forms.ValidationError(text, params={"days": MAX_ACCEPTED_DAYS}))

    def _check_texts(self, act: str, values: dict[str, Any]) -> None:
        reason = values.get("reason", "")
        if act == ACCEPTED and not reason and not self.has_error("reason"):
            self.add_error("reason", _("Say why."))
        if act == DISPUTED and len(reason) < MIN_DISPUTE_REASON and not self.has_error("reason"):
            text = _("Write at least %(count)s characters: an analyst checks it.")
            self.add_error("reason", forms.ValidationError(text, params={"count": MIN_DISPUTE_REASON}))
        if act == DISPUTED and self._needs_evidence and not values.get("evidence"):
            self.add_error("evidence", _("An analyst disagreed before, so add new evidence."))
        if _bytes(reason, values.get("evidence", "")) > self._most_bytes:
            self.add_error("reason", _TOO_LONG)


class MessageForm(forms.Form):
    """A message to the analysts, or a new text for one."""

    text = _Text(label=_("Your message"), rows=4, max_length=MAX_MESSAGE_LENGTH)

    use_required_attribute = False

    def clean_text(self) -> str:
        """Return the text if it fits into one request."""
        text: str = self.cleaned_data["text"]
        if _bytes(text) > MAX_TEXT_BYTES:
            raise forms.ValidationError(_TOO_LONG)
        return text


def _bytes(*texts: str) -> int:
    """Return the length of the texts in the body of a request."""
    return sum(len(msgspec.json.encode(text)) for text in texts)
