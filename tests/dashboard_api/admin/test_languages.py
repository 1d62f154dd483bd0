"""The language of staff: refusals are in it, and what is stored is not."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone, translation

from dashboard_api.models import Finding, FindingEvent, Secret, Severity
from dashboard_api.models.accounts import TooManySecrets
from dashboard_api.triage import override_severity
from tests.factories import make_account, make_finding, make_user, make_website

pytestmark = pytest.mark.django_db


def test_a_refusal_is_in_the_language_of_who_acts():
    account = make_account(secrets=("a" * 20, "b" * 20))
    with translation.override("de"), pytest.raises(TooManySecrets, match="hat schon 2 gültige Schlüssel"):
        Secret.objects.issue(account, by="ada")
    with pytest.raises(TooManySecrets, match="already has 2 usable secrets"):
        Secret.objects.issue(account, by="ada")


def test_the_timeline_of_a_finding_is_stays_english():
    finding = make_finding(make_website(), severity=Severity.HIGH)
    with translation.override("de"):
        override_severity(finding, Severity.LOW, by="ada", reason="Intern.", now=timezone.now())
    assert FindingEvent.objects.get().reason == "High to Low: Intern."
    assert Finding.objects.get().get_severity_display() == "Low"


def test_the_log_is_stays_english(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    account = make_account()
    address = reverse("admin:dashboard_api_account_issue_secret", args=[account.pk])
    page = client.post(address, headers={"accept-language": "de"})
    assert "Ein neuer Schlüssel" in page.text
    secret = account.secrets.get(created_by="ada")
    assert LogEntry.objects.get().change_message == f"Issued secret {secret.pk} ({secret.hint}) of acct_0001."
    everything = reverse("admin:dashboard_api_secret_changelist")
    data = {"action": "revoke", "_selected_action": secret.pk, "confirmed": "True"}
    page = client.post(everything, data, headers={"accept-language": "de"}, follow=True)
    entry = LogEntry.objects.first()
    assert (entry.change_message, entry.object_repr) == (
        "Revoked.",
        f"secret {secret.pk} ({secret.hint}) of acct_0001",
    )
