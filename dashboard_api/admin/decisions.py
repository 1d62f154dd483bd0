"""The forms of the workbench: decisions with templates of their reasons, and notes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.models import Account, AnalystNote, Finding
from dashboard_api.triage import decide, override_severity, reopen

REOPEN, SEVERITY = "reopen", "severity"
Status = Finding.Status

# Customers read these reasons in the timeline of the finding.
REASONS: Mapping[str, Mapping[str, str | Promise]] = {
    Status.FALSE_POSITIVE: {
        "mistaken": _("Checked by hand: the scanner is mistaken, and there is no problem."),
        "unused": _("The reported part is not in use, so the problem cannot be exploited."),
        "duplicate": _("Another finding reports the same problem."),
    },
    Status.ACCEPTED_RISK: {
        "agreed": _("Agreed with you: the risk is small, and a fix costs more than it is worth."),
        "protected": _("Another protection prevents the attack."),
        "planned": _("A fix is planned for a later release."),
    },
    Status.FIXED: {
        "gone": _("Checked by hand: the problem is gone."),
        "removed": _("The affected part was removed."),
    },
    REOPEN: {
        "still": _("Checked by hand: the problem is still there."),
        "wrong": _("The earlier decision was based on wrong information."),
    },
    SEVERITY: {
        "less": _("Checked by hand: an attack would do less harm than the scanner assumes."),
        "more": _("Checked by hand: an attack would do more harm than the scanner assumes."),
    },
}
LABELS: Mapping[str, str | Promise] = {
    Status.FALSE_POSITIVE: _("False positive"),
    Status.ACCEPTED_RISK: _("Accept the risk"),
    Status.FIXED: _("Fixed"),
    REOPEN: _("Reopen"),
    SEVERITY: _("Change the severity"),
}
# Single keys that open the forms.
KEYS: Mapping[str, str] = {
    Status.FALSE_POSITIVE: "f",
    Status.ACCEPTED_RISK: "a",
    Status.FIXED: "d",
    REOPEN: "o",
    SEVERITY: "s",
}


class DecisionForm(forms.Form):
    """A decision about a finding: a reason from a template, in own words, or both."""

    template = forms.ChoiceField(required=False, label=_("Reason"), widget=forms.RadioSelect)
    reason = forms.CharField(
        required=False,
        max_length=350,
        label=_("In your own words"),
        help_text=_("Customers read the reason in the finding's timeline."),
    )
    until = forms.DateField(
        required=False,
        label=_("Last day"),
        help_text=_("Empty: no end."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    severity = forms.TypedChoiceField(
        required=False,
        label=_("Severity"),
        choices=[("", _("as the scanner rates it")), *SEVERITY_LABELS.items()],
        coerce=int,
        empty_value=None,
    )

    def __init__(self, *args: Any, decision: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"auto_id": f"{decision}-%s"})
        self.decision, self.label, self.key = decision, LABELS[decision], KEYS[decision]
        own = ("own", _("Only my own words"))
        templates: Any = self.fields["template"]
        templates.choices = [*REASONS[decision].items(), own]
        templates.initial = next(iter(REASONS[decision]))
        if decision not in (Status.FALSE_POSITIVE, Status.ACCEPTED_RISK):
            del self.fields["until"]
        if decision != SEVERITY:
            del self.fields["severity"]

    def text(self) -> str:
        """Return the reason: that of the template, and the analyst's own words."""
        template = REASONS[self.decision].get(self.cleaned_data["template"], "")
        return " ".join(filter(None, (str(template), self.cleaned_data["reason"])))

    def apply(self, finding: Finding, *, by: str, now: datetime) -> None:
        """Decide about ``finding``; raises ValidationError."""
        if self.decision == REOPEN:
            reopen(finding, by=by, reason=self.text(), now=now)
        elif self.decision == SEVERITY:
            override_severity(finding, self.cleaned_data["severity"], by=by, reason=self.text(), now=now)
        else:
            until = self.cleaned_data.get("until")
            decide(finding, self.decision, by=by, reason=self.text(), until=until, now=now)


def decisions_for(finding: Finding) -> tuple[str, ...]:
    """Return the decisions that are possible about ``finding`` now."""
    if finding.status == Status.OPEN:
        return (Status.FALSE_POSITIVE, Status.ACCEPTED_RISK, Status.FIXED, SEVERITY)
    return (REOPEN, SEVERITY)


class NoteForm(forms.ModelForm):
    """A note about a finding: internal at first, or for customers at once."""

    class Meta:
        model = AnalystNote
        fields = ("body", "account", "is_internal")
        labels = {"body": _("Note"), "account": _("For"), "is_internal": _("Only for us (internal)")}  # noqa: RUF012
        widgets = {"body": forms.Textarea(attrs={"rows": 4})}  # noqa: RUF012

    def __init__(self, *args: Any, finding: Finding, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"auto_id": "note-%s"})
        links = finding.website.links.filter(revoked_at=None)
        account: Any = self.fields["account"]
        account.queryset = Account.objects.filter(links__in=links)
        account.empty_label = _("every customer with this website")
        account.help_text = ""
