"""The forms of the workbench: decisions with ready-made reasons, and notes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils.functional import Promise

from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.decisions.triage import can_confirm, confirm, decide, override_severity, reopen, unconfirm
from dashboard_api.models import Account, AnalystNote, Finding
from foundation.texts.triage_reasons import REASONS

REOPEN, SEVERITY, CONFIRM, UNCONFIRM = "reopen", "severity", "confirm", "unconfirm"
Status = Finding.Status

LABELS: Mapping[str, str | Promise] = {
    Status.FALSE_POSITIVE: "False positive",
    Status.ACCEPTED_RISK: "Accept the risk",
    Status.FIXED: "Fixed",
    REOPEN: "Reopen",
    CONFIRM: "Confirm",
    UNCONFIRM: "Take back the confirmation",
    SEVERITY: "Change the severity",
}
CONSEQUENCES: Mapping[str, str | Promise] = {
    Status.FALSE_POSITIVE: (
        "This applies to the locations listed: if a report adds another, the finding is open again."
    ),
    Status.ACCEPTED_RISK: "This applies to the whole website: locations found later are accepted as well.",
}
# Keys that open the forms. Confirm and unconfirm share a key: only one of them is possible at a time.
KEYS: Mapping[str, str] = {
    Status.FALSE_POSITIVE: "f",
    Status.ACCEPTED_RISK: "a",
    Status.FIXED: "d",
    REOPEN: "o",
    CONFIRM: "c",
    UNCONFIRM: "c",
    SEVERITY: "s",
}
# Decisions that need only a reason, and the functions that make them.
_WITHOUT_VALUE = {REOPEN: reopen, CONFIRM: confirm, UNCONFIRM: unconfirm}


class DecisionForm(forms.Form):
    """A form for a decision, with a reason from a template, in the analyst's words, or both."""

    template = forms.ChoiceField(required=False, label="Reason", widget=forms.RadioSelect)
    reason = forms.CharField(
        required=False,
        max_length=350,
        label="In your own words",
        help_text="Customers read the reason in the finding's timeline.",
    )
    until = forms.DateField(
        required=False,
        label="Last day",
        help_text="Empty: no end.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    severity = forms.TypedChoiceField(
        required=False,
        label="Severity",
        choices=[("", "as the scanner rates it"), *SEVERITY_LABELS.items()],
        coerce=int,
        empty_value=None,
    )

    def __init__(self, *args: Any, decision: str, **kwargs: Any) -> None:
        # The page has several forms, so each needs ids of its own.
        super().__init__(*args, **kwargs | {"auto_id": f"{decision}-%s"})
        self.decision = decision
        self.label, self.key = LABELS[decision], KEYS[decision]
        self.consequence = CONSEQUENCES.get(decision, "")
        own_words = ("own", "Only my own words")
        templates: Any = self.fields["template"]
        templates.choices = [*REASONS[decision].items(), own_words]
        templates.initial = next(iter(REASONS[decision]))
        if decision not in (Status.FALSE_POSITIVE, Status.ACCEPTED_RISK):
            del self.fields["until"]
        if decision != SEVERITY:
            del self.fields["severity"]

    def text(self) -> str:
        """Return the reason: the template's English text, then the analyst's own words."""
        template = REASONS[self.decision].get(self.cleaned_data["template"], "")
        return " ".join(filter(None, (template, self.cleaned_data["reason"])))

    def apply(self, finding: Finding, *, by: str, now: datetime) -> None:
        """Decide about ``finding``; raises ValidationError."""
        if self.decision in _WITHOUT_VALUE:
            _WITHOUT_VALUE[self.decision](finding, by=by, reason=self.text(), now=now)
        elif self.decision == SEVERITY:
            override_severity(finding, self.cleaned_data["severity"], by=by, reason=self.text(), now=now)
        else:
            until = self.cleaned_data.get("until")
            decide(finding, self.decision, by=by, reason=self.text(), until=until, now=now)


def decisions_for(finding: Finding) -> tuple[str, ...]:
    """Return the decisions that are possible about ``finding`` now."""
    is_open = finding.status == Status.OPEN
    about_status = (Status.FALSE_POSITIVE, Status.ACCEPTED_RISK, Status.FIXED) if is_open else (REOPEN,)
    about_kind: tuple[str, ...] = ()
    if finding.source_kind is not None:  # an analyst has confirmed it
        about_kind = (UNCONFIRM,)
    elif can_confirm(finding):
        about_kind = (CONFIRM,)
    return (*about_status, *about_kind, SEVERITY)


class NoteForm(forms.ModelForm):
    """A note about a finding: internal at first, or for customers at once."""

    class Meta:
        model = AnalystNote
        fields = ("body", "account", "is_internal")
        labels = {"body": "Note", "account": "For", "is_internal": "Only for us (internal)"}  # noqa: RUF012
        widgets = {"body": forms.Textarea(attrs={"rows": 4})}  # noqa: RUF012

    def __init__(self, *args: Any, finding: Finding, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"auto_id": "note-%s"})
        links = finding.website.links.filter(revoked_at=None)
        account: Any = self.fields["account"]
        account.queryset = Account.objects.filter(links__in=links)
        account.empty_label = "every customer with this website"
        account.help_text = ""
