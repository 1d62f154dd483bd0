"""The pages of scans."""

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.crawler import policy, queue
from dashboard_api.models import CrawlerStop, ScanJob, ScanOptOut
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_scan_is_listed_and_can_be_cancelled_but_not_changed(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    job, _ = queue.add(factories.make_scannable(), by="ada")
    page = reverse("admin:dashboard_api_scanjob_changelist")
    assert b"shop.example.com" in client.get(page).content
    detail = client.get(reverse("admin:dashboard_api_scanjob_change", args=[job.pk])).content
    assert b'value="cancel"' in detail
    assert b'name="_save"' not in detail
    form = {"action": "cancel", "_selected_action": job.pk}
    assert b"Waiting scans end at once" in client.post(page, form).content
    done = client.post(page, form | {"confirmed": "True"}, follow=True)
    assert b"Cancelled: " in done.content
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert AuditEvent.objects.filter(action="scan.cancelled", host="shop.example.com").exists()
    again = client.post(page, form | {"confirmed": "True"}, follow=True)
    assert b"Nothing to do" in again.content


@pytest.fixture
def staff(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    return client


def address(page, *arguments):
    return reverse(f"admin:dashboard_api_{page}", args=arguments)


def test_staff_stop_all_scans_and_resume_them(staff):
    job, _ = queue.add(factories.make_scannable(), by="ada")
    stopped = staff.post(address("crawlerstop_add"), {"reason": "A customer called."}, follow=True)
    assert b"1 scan was cancelled." in stopped.content
    job.refresh_from_db()
    assert job.state == "cancelled"
    stop = CrawlerStop.objects.get()
    assert (stop.by, stop.reason) == ("boss", "A customer called.")
    assert AuditEvent.objects.get(action="scan.all_stopped").reason == "A customer called."
    assert staff.get(address("crawlerstop_add")).status_code == 403  # they are stopped
    form = {"action": "resume", "_selected_action": stop.pk, "confirmed": "True"}
    assert b"Resumed: " in staff.post(address("crawlerstop_changelist"), form, follow=True).content
    assert CrawlerStop.objects.current() is None
    assert AuditEvent.objects.filter(action="scan.all_resumed").exists()
    assert b"Nothing to do" in staff.post(address("crawlerstop_changelist"), form, follow=True).content


def test_staff_add_an_opt_out_with_its_reason_and_end_it(staff):
    job, _ = queue.add(factories.make_scannable(), by="ada")
    fields = {"kind": "domain", "value": "Example.com ", "reason": "asked by phone"}
    added = staff.post(address("scanoptout_add"), fields, follow=True)
    assert b"1 scan was cancelled." in added.content
    job.refresh_from_db()
    assert job.state == "cancelled"
    opt_out = ScanOptOut.objects.get()
    assert (opt_out.value, opt_out.by) == ("example.com", "boss")
    assert AuditEvent.objects.get(action="scan.opted_out").reason == "asked by phone"
    assert b"already exists" in staff.post(address("scanoptout_add"), fields).content
    without_kind = staff.post(address("scanoptout_add"), fields | {"kind": ""})
    assert list(without_kind.context["adminform"].form.errors) == ["kind"]
    wrong = staff.post(address("scanoptout_add"), fields | {"value": "shop.example.com"})
    assert b"Give the registrable domain" in wrong.content
    form = {"action": "end_opt_out", "_selected_action": opt_out.pk, "confirmed": "True", "reason": "called"}
    assert b"Allowed again: " in staff.post(address("scanoptout_changelist"), form, follow=True).content
    assert not ScanOptOut.objects.exists()
    assert AuditEvent.objects.get(action="scan.opt_out_ended").reason == "called"


def test_the_page_of_workers_says_who_runs_what_and_which_scanners_are_missing(staff, settings):
    settings.CRAWLER_ENABLED = True
    assert b"No worker runs a scan now." in staff.get(address("scanjob_workers")).content
    queue.add(factories.make_scannable(), by="ada")
    job = queue.claim("crawler-1")
    page = " ".join(staff.get(address("scanjob_workers")).text.split())
    assert "<td>crawler-1</td>" in page
    assert "<td>essentials</td><td>quick</td> <td>installed</td>" in page
    assert "<b>away</b>" not in page
    ScanJob.objects.filter(pk=job.pk).update(lease_until=timezone.now() - policy.LEASE)
    assert b"<b>away</b>" in staff.get(address("scanjob_workers")).content
    CrawlerStop.objects.create(by="ada")
    assert b"All scans are stopped." in staff.get(address("scanjob_workers")).content


def test_the_home_says_that_scans_are_stopped_that_a_worker_is_away_and_that_none_begins(staff):
    def shown():
        panels = staff.get("/admin/").context["panels"]
        return {str(each.label): each for panel in panels if panel.title == "Scans" for each in panel.figures}

    assert shown().keys() == {"Running", "Waiting"}
    CrawlerStop.objects.create(by="ada", resumed_at=timezone.now())
    stop = CrawlerStop.objects.create(by="ada")
    queue.add(factories.make_scannable(), by="ada")
    old = timezone.now() - 20 * policy.LEASE
    ScanJob.objects.update(due_at=old)
    late = shown()
    assert late.keys() == {"All scans are stopped", "Running", "Waiting", "Not started after 15 minutes"}
    stop.delete()
    queue.claim("crawler-1")
    ScanJob.objects.update(lease_until=old)
    late |= shown()
    for label in ("All scans are stopped", "Not started after 15 minutes", "Worker not responding"):
        assert (late[label].number, late[label].tone) == ("1", "high")
    assert staff.get(late["Worker not responding"].url).context["cl"].result_count == 1
