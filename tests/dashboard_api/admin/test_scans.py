"""The pages of scans."""

import pytest
from django.urls import reverse

from audit.models import AuditEvent
from dashboard_api.crawler import queue
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_scan_is_listed_and_can_be_cancelled_but_not_changed(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    job, _ = queue.add(factories.make_website(), by="ada")
    page = reverse("admin:dashboard_api_scanjob_changelist")
    assert b"shop.example.com" in client.get(page).content
    detail = client.get(reverse("admin:dashboard_api_scanjob_change", args=[job.pk])).content
    assert b'value="cancel"' in detail
    assert b'name="_save"' not in detail
    form = {"action": "cancel", "_selected_action": job.pk}
    assert b"Scans that wait end at once" in client.post(page, form).content
    done = client.post(page, form | {"confirmed": "True"}, follow=True)
    assert b"Cancelled: " in done.content
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert AuditEvent.objects.filter(action="scan.cancelled", host="shop.example.com").exists()
    again = client.post(page, form | {"confirmed": "True"}, follow=True)
    assert b"Nothing to do" in again.content
