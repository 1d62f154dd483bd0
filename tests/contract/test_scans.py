"""A member scans a website in the portal; the service's rules are what the page says."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.crawler import queue
from dashboard_api.crawler.reasons import _WORDS, explanation
from dashboard_api.models import (
    CrawlerStop,
    Entitlement,
    Finding,
    OwnershipClaim,
    ScanConsent,
    ScanJob,
    ScanSchedule,
    Source,
    Website,
)
from portal.models import Membership, WebsiteSummary
from portal.scans import labels
from signed_api.errors import ScanRefused
from tests.factories import (
    make_account,
    make_coverage,
    make_engine_run,
    make_finding,
    make_import_run,
    make_link,
    make_membership,
    make_source,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/sites/shop.example.com/scans/"


@pytest.fixture(autouse=True)
def direct(settings):
    settings.CRAWLER_ENABLED = True


@pytest.fixture
def service(service, settings):
    settings.DASHBOARD_BASE_URL = ""
    return service


def text_of(response):
    return " ".join(response.content.decode().split())


def start(client, profile="quick", **fields):
    return client.post(f"{PAGE}start/", {"profile": profile} | fields, follow=True)


def test_an_owner_starts_and_cancels_a_scan(owner, website):
    shown = text_of(start(owner))
    start(owner)
    job = ScanJob.objects.get()
    assert (job.profile, job.trigger, job.state) == ("quick", "hand", "queued")
    assert AuditEvent.objects.filter(action="website.scanned").count() == 1
    assert 'hx-trigger="every 3s"' in shown
    assert "Quick scan: waiting" in shown
    assert "Cancel the scan" in shown
    assert "Scan now" not in shown
    assert "The scan is cancelled." in text_of(owner.post(f"{PAGE}{job.pk}/cancel/", follow=True))
    actions = AuditEvent.objects.filter(action__startswith="website.scan").order_by("pk")
    assert [each.action for each in actions] == ["website.scanned", "website.scan_cancelled"]
    assert {each.host for each in actions} == {"shop.example.com"}
    ended = text_of(owner.get(PAGE))
    assert "hx-get" not in ended
    assert "Cancelled" in ended


def test_a_scan_of_another_account_of_the_website_is_shown_and_not_cancelled(owner, website):
    theirs = make_account("acct_0099")
    link = make_link(theirs, Website.objects.get())
    job, _ = queue.add(link.website, by="acct_0099", account=theirs)
    shown = text_of(owner.get(PAGE))
    assert "Quick scan: waiting" in shown
    assert "Cancel the scan" not in shown
    assert owner.post(f"{PAGE}{job.pk}/cancel/").status_code == 404
    job.refresh_from_db()
    assert job.state == "queued"


def test_a_poll_of_a_running_scan_is_one_call_and_the_last_one_offers_a_new_scan(owner, website, monkeypatch):
    start(owner)
    htmx = {"HX-Request": "true", "HX-Target": "scans"}
    assert "Scan now" not in text_of(owner.get(PAGE, headers=htmx))
    now = timezone.now()
    ScanJob.objects.update(state="finished", outcome="complete", started_at=now, ended_at=now)
    assert "Scan now" in text_of(owner.get(PAGE, headers=htmx))


def test_another_scan_than_the_one_that_waits_is_not_started_and_the_page_says_so(owner, website):
    assert "Another scan" not in text_of(start(owner)) + text_of(start(owner))
    shown = text_of(start(owner, "standard"))
    assert "Another scan of this website waits or runs, so this one was not started." in shown
    assert ScanJob.objects.get().profile == "quick"


def test_a_website_that_was_just_scanned_says_when_the_next_scan_can_begin(owner, website):
    start(owner)
    now = timezone.now()
    ScanJob.objects.update(state="finished", outcome="complete", started_at=now, ended_at=now)
    shown = text_of(start(owner))
    assert "This website was scanned a short while ago. The next scan can begin at" in shown
    assert "Possible again:" in shown
    assert ScanJob.objects.count() == 1


def test_stopped_scans_are_no_outage(owner, website):
    CrawlerStop.objects.create(by="Robin")
    assert "No website is scanned for now." in text_of(start(owner))


def test_a_viewer_sees_scans_and_starts_none(owner, website):
    start(owner)
    Membership.objects.update(role="viewer")
    shown = text_of(owner.get(PAGE))
    assert "Quick scan: waiting" in shown
    assert "Cancel the scan" not in shown
    assert "We scan only by hand." in text_of(owner.get(PAGE))
    assert "Save the schedule" not in text_of(owner.get(PAGE))
    assert owner.post(f"{PAGE}start/").status_code == 404
    assert schedule(owner).status_code == 404
    assert owner.post(f"{PAGE}{ScanJob.objects.get().pk}/cancel/").status_code == 404


def test_strangers_neither_scan_nor_see_nor_cancel(owner, website, client):
    other = make_link(make_account("acct_0002"), make_website("other.example.com"))
    theirs = ScanJob.objects.create(website=other.website, by="acct_0002")
    assert owner.post(f"{PAGE}{theirs.pk}/cancel/").status_code == 404
    assert owner.post("/sites/other.example.com/scans/start/").status_code == 404
    client.force_login(make_membership(make_user("eve"), website.account, role="owner").user)
    Membership.objects.filter(user__username="eve").delete()
    assert client.get(PAGE).status_code == 404
    assert start(client).status_code == 404
    theirs.refresh_from_db()
    assert theirs.cancel_requested_at is None
    assert ScanJob.objects.count() == 1


def test_the_page_of_the_website_leads_to_its_scans(owner, website):
    assert f'href="{PAGE}"' in text_of(owner.get("/sites/shop.example.com/"))
    assert owner.post(f"{PAGE}start/", {"profile": "attack"}).status_code == 400
    assert owner.get(f"{PAGE}?page=999999").status_code == 200


WEEKLY = {
    "frequency": "weekly",
    "profile": "quick",
    "start_hour": "3",
    "hours": "2",
    "time_zone": "Europe/Berlin",
}


def schedule(client, **fields):
    return client.post(f"{PAGE}schedule/", WEEKLY | fields, follow=True)


def test_an_owner_sets_a_schedule_and_sees_the_next_times(owner, website):
    assert "We scan only by hand." in text_of(owner.get(PAGE))
    shown = text_of(schedule(owner, paused_until="2099-01-01"))
    assert "Saved." in shown
    assert re.search(r"Every \w+day: Quick scan, begins between 03:00 and 05:00 \(Europe/Berlin\)\.", shown)
    assert "Paused until 1 Jan 2099." in shown
    assert 'value="2099-01-01"' in shown
    assert shown.count('<li><time datetime="2099-01-') == 3
    last = text_of(schedule(owner, paused_until="9999-12-31"))
    assert ("Saved." in last, last.count("<li><time")) == (True, 0)
    assert text_of(schedule(owner, paused_until="9990-12-31")).count("<li><time") == 3
    assert text_of(schedule(owner)).count("<li><time") == 3
    stored = ScanSchedule.objects.get()
    assert (stored.start_hour, stored.hours, stored.paused_until) == (3, 2, None)
    event = AuditEvent.objects.filter(action="website.scans_scheduled").latest("pk")
    assert (event.host, event.after["frequency"]) == ("shop.example.com", "weekly")


def test_a_schedule_that_cannot_be_is_refused_with_a_reason(owner, website):
    shown = text_of(schedule(owner, frequency="daily"))
    assert "Nothing was changed" in shown
    assert "Your plan does not include these scans" in shown
    assert 'value="daily" selected' in shown
    Entitlement.objects.update(features=["deep_scans"])
    shown = text_of(schedule(owner, profile="deep", consent="yes"))
    assert "Nothing was changed" in shown
    assert "Deep scans by schedule run once a month." in shown
    assert "Deep scan (monthly only)" in shown
    assert not ScanConsent.objects.exists()
    assert not ScanSchedule.objects.exists()
    assert not AuditEvent.objects.filter(action="website.scans_scheduled").exists()


def test_a_refused_schedule_comes_back_as_it_was_sent_with_each_error_at_its_field(owner, website):
    schedule(owner, frequency="monthly")
    sent = {"time_zone": "Berlin", "hours": "25", "start_hour": "22", "paused_until": "2099-12-24"}
    response = schedule(owner, **sent)
    form = response.context["page"].schedule.form
    assert {name: form[name].value() for name in WEEKLY | sent} == WEEKLY | sent
    assert list(form.errors) == ["hours", "time_zone"]
    shown = text_of(response)
    assert "Nothing was changed" in shown
    for text in ("less than or equal to 24", "Choose a time zone from the list", 'value="weekly" selected'):
        assert text in shown
    assert "Every month: Quick scan" in shown  # the schedule that holds
    assert f'action="{PAGE}schedule/"' in shown


def test_a_pause_that_has_passed_is_refused_and_a_stored_one_is_in_no_ones_way(owner, website):
    shown = text_of(schedule(owner, paused_until="2026-01-01"))
    assert "Nothing was changed" in shown
    assert "Choose a day after today." in shown
    assert 'value="2026-01-01"' in shown
    schedule(owner, paused_until="2099-01-01")
    ScanSchedule.objects.update(paused_until="2026-01-01")
    assert 'value="2026-01-01"' not in text_of(owner.get(PAGE))


def test_deep_scans_need_the_consent_of_an_owner_and_a_proof_by_dns(owner, website):
    Entitlement.objects.update(features=["deep_scans"])
    deep = {"profile": "deep", "frequency": "monthly"}
    shown = owner.get(PAGE).text
    claim = OwnershipClaim.objects.get()
    assert shown.count("A deep scan needs a proof by DNS.") == 2  # by hand and by schedule
    assert f'href="/websites/{website.account_id}/claims/{claim.pk}/"' in shown
    assert 'name="consent"' not in shown
    assert 'value="deep"' not in shown
    agreed = AuditEvent.objects.filter(action="website.deep_scans_agreed")
    assert "needs a proof by DNS" in text_of(schedule(owner, **deep, consent="yes"))
    start(owner, "deep", consent="yes")
    start(owner, "quick", consent="yes")
    ScanJob.objects.all().delete()
    Entitlement.objects.update(features=[])
    start(owner, "deep", consent="yes")
    Entitlement.objects.update(features=["deep_scans"])
    assert not agreed.exists()
    OwnershipClaim.objects.update(method="dns", strength="dns")
    Membership.objects.update(role="manager")
    assert 'name="consent"' not in text_of(owner.get(PAGE))
    assert "has agreed to deep scans of this website yet" in text_of(schedule(owner, **deep, consent="yes"))
    assert not ScanConsent.objects.exists()
    Membership.objects.update(role="owner")
    assert 'name="consent"' in text_of(owner.get(PAGE))
    before = agreed.count()
    schedule(owner, consent="yes")  # ticked, and then another scan was chosen
    assert (agreed.count(), ScanConsent.objects.exists()) == (before, False)
    shown = text_of(schedule(owner, **deep, consent="yes"))
    assert "An owner has agreed to deep scans until" in shown
    assert 'name="consent"' not in shown
    assert agreed.count() == before + 1
    Membership.objects.update(role="manager")
    start(owner, "deep")
    assert ScanJob.objects.get().profile == "deep"


@pytest.fixture
def finding(link):
    return make_finding(link.website, source=make_source("essentials"))


def test_a_finding_is_checked_again_from_its_page(owner, website, finding, settings):
    page = f"/sites/shop.example.com/findings/{finding.pk}/"
    check = f"{page}check/"
    assert f'hx-get="{check}"' in text_of(owner.get(page))
    asked = text_of(owner.post(check, follow=True))
    assert "Retesting." in asked
    assert 'hx-trigger="every 3s"' in asked
    job = ScanJob.objects.get()
    assert (job.trigger, job.finding_id) == ("retest", finding.pk)
    event = AuditEvent.objects.get(action="website.finding_retested")
    assert event.after == {"finding": str(finding.pk)}
    now = timezone.now()
    for outcome, words in (
        ("gone", "The problem is gone"),
        ("still_there", "The problem is still there"),
        ("inconclusive", "No clear result"),
    ):
        ScanJob.objects.update(state="finished", outcome=outcome, started_at=now, ended_at=now)
        shown = text_of(owner.get(check))
        assert words in shown
        assert 'hx-trigger="every' not in shown
    Membership.objects.update(role="viewer")
    assert "No clear result" in text_of(owner.get(check))
    assert owner.post(check).status_code == 404
    Membership.objects.update(role="owner")
    assert "less than a minute ago" in text_of(owner.post(check, follow=True))
    assert (ScanJob.objects.count(), AuditEvent.objects.filter(action=event.action).count()) == (1, 1)
    Membership.objects.update(role="viewer")
    settings.CRAWLER_ENABLED = False
    assert check not in text_of(owner.get(page))


def test_the_page_of_a_finding_and_the_list_follow_the_result_of_its_check(owner, website, finding):
    page, now = f"/sites/shop.example.com/findings/{finding.pk}/", timezone.now()
    owner.get("/")
    asked = owner.post(f"{page}check/", follow=True, headers={"HX-Request": "true"})
    poll = f"{page}check/?running=1"
    assert f'hx-get="{poll}"' in asked.content.decode()
    assert "HX-Refresh" not in owner.get(poll, headers={"HX-Request": "true"})
    ScanJob.objects.update(state="finished", outcome="gone", started_at=now, ended_at=now)
    Finding.objects.filter(pk=finding.pk).update(status="fixed", fixed_at=now)
    assert owner.get(poll, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert "HX-Refresh" not in owner.get(f"{page}check/", headers={"HX-Request": "true"})
    shown = text_of(owner.get(page))
    assert "<b>Fixed</b>" in shown
    assert "check/" not in shown
    assert WebsiteSummary.objects.get().headline.summary.open == 32
    owner.get("/")
    assert WebsiteSummary.objects.get().headline.summary.open == 31


def test_a_finding_that_cannot_be_checked_again_says_why(owner, website, finding, link):
    other = make_finding(link.website)  # its scanner does not run here
    assert "check/" not in text_of(owner.get(f"/sites/shop.example.com/findings/{other.pk}/"))
    shown = text_of(owner.post(f"/sites/shop.example.com/findings/{other.pk}/check/", follow=True))
    assert "does not run here" in shown
    assert owner.post("/sites/shop.example.com/findings/999999/check/").status_code == 404
    start(owner)
    shown = text_of(owner.post(f"/sites/shop.example.com/findings/{finding.pk}/check/", follow=True))
    assert "Another scan of this website is running." in shown
    assert not AuditEvent.objects.filter(action="website.finding_retested").exists()


def test_every_refusal_of_the_service_has_words_in_the_portal():
    assert set(labels.REFUSALS) == set(ScanRefused.codes)
    assert explanation("blocked")


def test_every_reason_of_a_scan_has_words_in_the_portal_or_is_a_failure_of_ours():
    ours = {
        "engine_crashed",
        "no_report",
        "out_of_memory",
        "report_unreadable",
        "too_much_output",
    }
    assert set(_WORDS) - set(labels.REASONS) == ours
    assert set(labels.REASONS) <= set(_WORDS)


def test_scans_that_run_elsewhere_are_listed_with_who_runs_them(owner, website, link):
    now = timezone.now()
    partial = {"state": "partial", "detail": "Stopped early.", "last_run_at": now - timedelta(days=2)}
    make_coverage(link.website, source=make_source("zap", name="ZAP", interval_days=7), **partial)
    shown = text_of(owner.get(PAGE))
    assert "ZAP, run elsewhere, next report by" in shown
    assert "Partly complete" in shown
    assert "Stopped early." in shown
    assert "our team or your own systems run the scanner" in shown
    assert "We scan only by hand." in shown
    assert "No scan has ended yet." not in shown
    run = make_import_run(link.website, source=Source.objects.get(slug="zap"))
    job = ScanJob.objects.create(
        website=link.website, by="tests", state="finished", outcome="complete", started_at=now, ended_at=now
    )
    make_engine_run(job, import_run=run)
    make_finding(link.website)  # a new version of the website's data
    assert "ZAP, run elsewhere" not in text_of(owner.get(PAGE))


def different(website, **fields):
    now = timezone.now()
    page = {"title": "<b>For sale</b>", "links": 0, "script_hosts": [], "cookies": [], "size": 9}
    ended = {"state": "finished", "outcome": "different", "reason": "page_changed", "page": page}
    job = ScanJob.objects.create(website=website, by="ada", started_at=now, ended_at=now, **ended | fields)
    ScanJob.objects.update(created_at=now - timezone.timedelta(hours=1))
    return job


def test_an_owner_compares_both_pages_and_confirms_the_one_that_looked_different(owner, website, link):
    known = {
        "title": "Shop",
        "links": 12,
        "script_hosts": ["cdn.example.net"],
        "cookies": ["sid"],
        "size": 14,
    }
    different(link.website, outcome="complete", reason="", page=known)
    job = different(link.website)
    address = f"{PAGE}{job.pk}/page/"
    shown = text_of(owner.get(PAGE))
    assert "The page looks different, so the last scan does not count." in shown
    assert f'href="{address}"' in shown
    compared = text_of(owner.get(address))
    for text in ("Shop", "12", "cdn.example.net", "sid", "less than 16 KB", "&lt;b&gt;For sale&lt;/b&gt;"):
        assert text in compared
    assert "Confirm: this is our page" in compared
    assert "Confirmed. This scan decides." in text_of(owner.post(address, follow=True))
    event = AuditEvent.objects.get(action="website.page_confirmed")
    assert (event.host, event.after) == ("shop.example.com", {"scan": str(job.pk)})
    assert AuditEvent.objects.filter(action="scan.page_confirmed").count() == 1
    assert "Confirm: this is our page" not in text_of(owner.get(address))
    assert ScanJob.objects.unended().count() == 1


def test_a_confirmation_is_kept_where_no_scan_can_begin_and_the_page_says_when(owner, website, link):
    job = different(link.website)
    ScanJob.objects.update(created_at=timezone.now())
    shown = text_of(owner.post(f"{PAGE}{job.pk}/page/", follow=True))
    assert "Confirmed. The next scan decides. This website was scanned a short while ago." in shown
    assert ScanJob.objects.get().page_confirmed_at is not None


def test_only_owners_and_managers_confirm_a_page_and_strangers_do_not_see_it(owner, website, link, client):
    job = different(link.website)
    same = different(link.website, outcome="complete", reason="")
    theirs = different(make_link(make_account("acct_0002"), make_website("other.example.com")).website)
    address = f"{PAGE}{job.pk}/page/"
    for each in (same, theirs):
        assert owner.get(f"{PAGE}{each.pk}/page/").status_code == 404
        assert owner.post(f"{PAGE}{each.pk}/page/").status_code == 404
    Membership.objects.update(role="viewer")
    shown = text_of(owner.get(address))
    assert "Owners and managers can confirm it." in shown
    assert "Confirm: this is our page" not in shown
    assert owner.post(address).status_code == 404
    Membership.objects.update(role="manager")
    assert "Confirm: this is our page" in text_of(owner.get(address))
    client.force_login(make_user("eve"))
    assert client.get(address).status_code == client.post(address).status_code == 404
    assert not ScanJob.objects.exclude(page_confirmed_at=None).exists()


def test_a_retest_that_met_another_page_leads_to_both(owner, website, link, finding):
    job = different(link.website, trigger="retest", finding=finding, outcome="inconclusive")
    shown = text_of(owner.get(f"/sites/shop.example.com/findings/{finding.pk}/check/"))
    assert "The page looks different" in shown
    assert f'href="{PAGE}{job.pk}/page/"' in shown
