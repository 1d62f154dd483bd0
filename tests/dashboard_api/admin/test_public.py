"""The pages of public telemetry for staff."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from audit.models import AuditEvent
from dashboard_api import models as api
from tests import factories
from tests.dashboard_api.public.crowds import make_crowd, make_found_yesterday

pytestmark = pytest.mark.django_db
ENTRIES = "admin:dashboard_api_feedentry_changelist"
PREVIEW = "admin:dashboard_api_published_preview"


@pytest.fixture
def staff(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    return client


def test_the_preview_shows_what_would_be_public_and_what_is_left_out_and_why(staff):
    make_crowd(20)
    page = staff.get(reverse(PREVIEW)).content.decode()
    assert "20 websites are counted." in page
    assert "<td>open High</td><td>0</td>" in page.replace("\n", "")
    assert "fewer than 15 websites" in page
    assert not api.Published.objects.exists()


def test_the_preview_needs_its_permission(client):
    client.force_login(factories.make_user("ada", is_staff=True))
    assert client.get(reverse(PREVIEW)).status_code == 403


def test_an_entry_is_withdrawn_with_a_reason_on_record(staff):
    make_found_yesterday(make_crowd(20)[0])
    call_command("publish_telemetry", verbosity=0)
    entry = api.FeedEntry.objects.get()
    assert entry.website.host in staff.get(reverse(ENTRIES)).content.decode()
    fields = {"action": "withdraw", "_selected_action": entry.pk}
    assert "do not come back" in staff.post(reverse(ENTRIES), fields).content.decode()
    assert api.FeedEntry.objects.kept().exists()
    staff.post(reverse(ENTRIES), fields | {"confirmed": "on", "reason": "The customer asked"})
    assert not api.FeedEntry.objects.kept().exists()
    event = AuditEvent.objects.get(action="feed_entry.withdrawn")
    assert (event.reason, event.actor_kind, event.account) == ("The customer asked", "staff", "acct_de_0")


def test_a_published_document_is_shown_and_never_changed(staff):
    make_crowd(20)
    call_command("publish_telemetry", verbosity=0)
    row = api.Published.objects.get(kind="statistics")
    url = reverse("admin:dashboard_api_published_change", args=[row.pk])
    assert "&quot;websites&quot;" in staff.get(url).content.decode()
    assert staff.post(url, {"kind": "feed"}).status_code == 403
    documents = staff.get(reverse("admin:dashboard_api_published_changelist")).content.decode()
    assert "Preview of the next statistics" in documents
