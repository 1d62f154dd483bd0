"""Forms for an account's issue tracker, and for readers of a shared finding."""

from typing import Any

from django import forms
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from audit.recording import record as audit
from portal.models import Account, IssueTracker
from portal.texts import issue_trackers
from signed_api.limits import MAX_NAME_LENGTH

EXAMPLES = {
    "github": "https://github.com/example/shop",
    "gitlab": "https://gitlab.com/example/shop",
    "jira": "https://example.atlassian.net/secure/CreateIssueDetails!init.jspa?pid=10000&issuetype=10001",
}


class FixedForm(forms.Form):
    """The name of a reader who says that a finding is fixed, as typed."""

    name = forms.CharField(label=_("Your name (optional)"), required=False, max_length=MAX_NAME_LENGTH)


class IssueTrackerForm(forms.Form):
    """The project for the issues of ``account``; an empty address removes it."""

    url = forms.CharField(
        label=_("Address of the project"),
        required=False,
        max_length=issue_trackers.MAX_ADDRESS_LENGTH,
        widget=forms.URLInput(attrs={"placeholder": EXAMPLES["github"]}),
    )
    kind = forms.ChoiceField(
        label=_("Tracker"),
        required=False,
        choices=[("", _("Detect from the address")), *issue_trackers.NAMES.items()],
    )

    def __init__(self, *args: Any, account: Account, **kwargs: Any) -> None:
        self.account = account
        tracker = IssueTracker.objects.filter(account=account).first()
        initial = {"url": tracker.url, "kind": tracker.kind} if tracker else {}
        super().__init__(*args, **{"auto_id": f"tracker-{account.pk}-%s", "initial": initial, **kwargs})

    def clean(self) -> None:
        """Detect the tracker, and normalise the address."""
        super().clean()
        url = self.cleaned_data.get("url", "")
        if not url or self.errors:
            return
        kind = self.cleaned_data["kind"] or issue_trackers.recognised_kind(url)
        if not kind:
            self.add_error("kind", _("Choose the tracker: the address does not show which one it is."))
            return
        try:
            self.cleaned_data |= {"url": issue_trackers.normalise(kind, url), "kind": kind}
        except issue_trackers.InvalidAddress:
            text = _("Enter an address such as %(example)s")
            self.add_error("url", forms.ValidationError(text, params={"example": EXAMPLES[kind]}))

    @transaction.atomic
    def save(self) -> None:
        """Store the tracker, or remove it."""
        audit("issue_tracker.saved", self.account)
        if not self.cleaned_data["url"]:
            IssueTracker.objects.filter(account=self.account).delete()
            return
        IssueTracker.objects.update_or_create(account=self.account, defaults=self.cleaned_data)
