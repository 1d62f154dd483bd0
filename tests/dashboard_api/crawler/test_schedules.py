"""Scans by schedule: when they begin, and what pauses them."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from dashboard_api.crawler import policy, schedules
from dashboard_api.models import (
    Entitlement,
    OwnershipClaim,
    ScanJob,
    ScanOptOut,
    ScanSchedule,
    SiteLink,
    Website,
)
from signed_api.scans import ScanScheduleRequest
from tests import factories

NAMES = {"host": "shop.example.com", "link_id": "x", "portal_account_ref": "acct"}
NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)  # a Friday, nine days before the clocks change


@pytest.fixture(autouse=True)
def _crawler(settings):
    settings.CRAWLER_ENABLED = True


def schedule(**fields):
    values = {"frequency": "daily", "anchor": NOW.date(), "time_zone": "Europe/Berlin"}
    return ScanSchedule(**values | ({} if "link" in fields else {"link_id": 7}) | fields)


def local(at):
    return at.astimezone(ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("fields", "days"),
    [
        ({}, [21, 22, 23]),
        ({"frequency": "weekly"}, [27, 3, 10]),
        ({"frequency": "monthly", "anchor": date(2026, 1, 31)}, [28, 28, 28]),
        ({"paused_until": date(2026, 3, 25)}, [25, 26, 27]),
        ({"paused_until": date(2028, 5, 8)}, [8, 9, 10]),
        ({"frequency": "monthly", "paused_until": date(2028, 5, 8)}, [20, 20, 20]),
        ({"paused_until": date.max}, []),
        ({"frequency": "off"}, []),
        ({"pause_reason": "blocked"}, []),
    ],
)
def test_the_next_times_are_on_the_days_of_the_schedule(fields, days):
    assert [local(at).day for at in schedules.next_times(schedule(**fields), NOW)] == days


def test_each_time_is_in_its_window_of_the_owners_zone_also_after_the_clocks_change():
    plan = schedule(start_hour=22, hours=3)
    found = [local(at) for at, _ in zip(schedules.times(plan, NOW), range(20), strict=False)]
    assert {at.hour for at in found} <= {22, 23, 0}
    assert len({(at.hour, at.minute) for at in found}) > 5


def test_websites_are_spread_over_the_window():
    first = {next(schedules.times(schedule(link_id=number), NOW)) for number in range(50)}
    assert len(first) > 30


@pytest.mark.django_db
def test_a_due_scan_is_queued_once_and_the_next_time_is_set():
    link = factories.make_link()
    due = timezone.now() - timedelta(minutes=1)
    plan = schedule(link=link, frequency="weekly", next_at=due, profile="standard")
    plan.save()
    assert [schedules.queue_due(timezone.now()) for _ in range(2)] == [1, 0]
    job = ScanJob.objects.get()
    assert (job.trigger, job.profile, job.account) == ("schedule", "standard", link.account)
    plan.refresh_from_db()
    assert plan.next_at > timezone.now()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("first", "waits"),
    [
        ({"trigger": "retest", "profile": "standard"}, True),
        ({"trigger": "hand", "profile": "quick"}, True),
        ({"trigger": "hand", "profile": "standard"}, False),
    ],
)
def test_a_due_scan_waits_for_a_smaller_one_of_the_website_and_is_not_left_out(first, waits):
    link, now = factories.make_link(), timezone.now()
    plan = schedule(link=link, frequency="monthly", next_at=now - timedelta(minutes=1), profile="standard")
    plan.save()
    job = ScanJob.objects.create(website=link.website, **first)
    assert schedules.queue_due(now) == 0
    plan.refresh_from_db()
    assert (plan.next_at < now) == waits
    ScanJob.objects.filter(pk=job.pk).update(state="finished", ended_at=now)
    assert schedules.queue_due(now) == int(waits)


@pytest.mark.django_db
def test_a_due_scan_also_waits_for_a_smaller_one_that_is_queued_at_the_same_time(monkeypatch):
    now = timezone.now()
    plan = schedule(link=factories.make_link(), next_at=now, profile="standard")
    plan.save()
    monkeypatch.setattr(policy, "check_plan", lambda link, **_: ScanJob.objects.create(website=link.website))
    assert schedules.queue_due(now) == 0
    plan.refresh_from_db()
    assert plan.next_at == now


@pytest.mark.django_db
def test_scans_of_one_account_that_wait_do_not_keep_those_of_others_waiting():
    large, other = (factories.make_account(f"acct_000{number}") for number in (1, 2))
    Entitlement.objects.filter(account=large).update(sites_limit=101)
    now = timezone.now()
    sites = [factories.make_website(f"w{number}.example.com") for number in range(101)]
    for site in sites:
        link = factories.make_link(large, site)
        schedule(link=link, profile="standard", next_at=now - timedelta(hours=2)).save()
    ScanJob.objects.bulk_create(ScanJob(website=site, account=large) for site in sites)
    schedule(link=factories.make_link(other), frequency="weekly", next_at=now - timedelta(hours=1)).save()
    assert schedules.queue_due(now) == 1
    assert ScanJob.objects.get(trigger="schedule").account == other


@pytest.mark.django_db
@pytest.mark.parametrize("ended", ["plan", "link", "website"])
def test_nothing_is_queued_after_the_end_of_the_plan_the_link_or_the_website(ended):
    link, now = factories.make_link(), timezone.now()
    schedule(link=link, frequency="weekly", next_at=now).save()
    if ended == "plan":
        link.account.entitlement.delete()
    elif ended == "link":
        link.revoke(by="ada", reason="left", now=now)
    else:
        link.website.archive(by="ada", reason="gone", now=now)
    assert schedules.queue_due(now) == 0


@pytest.mark.django_db
def test_three_scans_in_a_row_that_the_website_refused_pause_the_schedule():
    link = factories.make_link()
    plan = schedule(link=link, next_at=timezone.now())
    plan.save()
    for reason in ("blocked", "", "blocked", "connect_failed", "blocked"):
        plan.refresh_from_db()
        assert plan.pause_reason == ""
        job = ScanJob(website=link.website, account=link.account, trigger="schedule", reason=reason)
        schedules.note_end(job)
    plan.refresh_from_db()
    assert (plan.pause_reason, plan.next_at) == ("blocked", None)


@pytest.mark.django_db
@pytest.mark.parametrize("paused_until", [None, date(2020, 1, 1)])
def test_a_time_from_a_clock_that_was_ahead_is_corrected_without_a_scan(paused_until):
    now = timezone.now()
    plan = schedule(link=factories.make_link(), paused_until=paused_until, next_at=now + timedelta(days=300))
    plan.save()
    assert schedules.queue_due(now) == 0
    plan.refresh_from_db()
    assert now < plan.next_at < now + timedelta(days=3)


@pytest.mark.django_db
def test_the_time_after_a_long_pause_stays():
    now = timezone.now()
    plan = schedule(link=factories.make_link(), paused_until=now.date() + timedelta(days=500))
    plan.next_at = at = next(schedules.times(plan, now))
    plan.save()
    assert schedules.queue_due(now) == 0
    plan.refresh_from_db()
    assert plan.next_at == at


@pytest.mark.django_db
@pytest.mark.parametrize(("stored", "is_kept"), [(-1, True), (None, False), (300, False)])
def test_the_same_values_again_correct_a_wrong_time_and_keep_one_that_is_due(stored, is_kept):
    account, now = factories.make_account(), timezone.now()
    link = factories.make_link(account, factories.make_scannable(account=account))
    request = ScanScheduleRequest(
        host=link.website.host, link_id=str(link.pk), portal_account_ref=account.ref, frequency="weekly"
    )
    plan = schedules.change(link, request, by="ada", now=now)
    planned = plan.next_at
    plan.next_at = None if stored is None else now + timedelta(days=stored)
    plan.save()
    again = schedules.change(link, request, by="ada", now=now)
    assert again.next_at == (plan.next_at if is_kept else planned)
    assert schedules.change(link, request, by="eve", now=now).changed_by == "ada"


def proven_link(host="shop.example.com", **terms):
    """Return a link whose website its owner has proven; it has no schedule."""
    account = factories.make_account(f"acct of {host}", secrets=())
    link = factories.make_link(account, factories.make_website(host=host))
    OwnershipClaim.objects.update(method="file", strength="file")
    Entitlement.objects.filter(account=link.account).update(**terms)
    return link


@pytest.mark.django_db
def test_a_proven_website_is_scanned_weekly_at_night_unless_its_owner_chooses_otherwise():
    link = proven_link()
    now = timezone.now()
    assert [schedules.add_defaults(now), schedules.add_defaults(now)] == [1, 0]
    schedule = ScanSchedule.objects.get()
    assert (schedule.frequency, schedule.profile, schedule.hours) == ("weekly", "standard", 2)
    assert now < schedule.next_at <= now + timedelta(days=8)
    assert schedule.changed_by == schedules.BY_DEFAULT
    same = ScanScheduleRequest(
        frequency="weekly", profile="standard", start_hour=schedule.start_hour, hours=2, **NAMES
    )
    assert schedules.change(link, same, by="ada", now=now).changed_by == "ada"  # also without a change
    off = ScanScheduleRequest(frequency="off", **NAMES)
    schedules.change(link, off, by="ada", now=now)
    assert not schedules.add_defaults(now)
    assert ScanSchedule.objects.get().frequency == "off"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("terms", "is_added"),
    [
        ({"scans_per_month": 4}, True),
        ({"scans_per_month": 3}, False),
        ({"scans_per_month": 0}, False),
        ({"status": "past_due", "past_due_since": date(2026, 1, 1)}, False),
        ({"starts_on": date(2019, 1, 1), "ends_on": date(2020, 1, 1)}, False),
        ({"starts_on": date(2100, 1, 1), "ends_on": date(2101, 1, 1)}, False),
    ],
)
def test_weekly_scans_by_default_need_a_plan_that_includes_them(terms, is_added):
    proven_link(**terms)
    assert schedules.add_defaults(timezone.now()) == is_added


@pytest.mark.django_db
def test_a_plan_that_is_too_small_for_all_websites_has_no_weekly_scans_by_default():
    link = proven_link(scans_per_month=7)
    factories.make_link(account=link.account, website=factories.make_website(host="b.example.com"))
    assert not schedules.add_defaults(timezone.now())


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["by hand", "archived", "paused", "opted out", "proof lost"])
def test_a_website_that_may_not_be_scanned_has_no_schedule_by_default(what):
    proven_link()
    now = timezone.now()
    if what == "by hand":
        OwnershipClaim.objects.update(method="manual")
    elif what == "archived":
        Website.objects.update(archived_at=now, archived_by="ada", archive_reason="Sold.")
    elif what == "paused":
        SiteLink.objects.update(paused_at=now)
    elif what == "opted out":
        ScanOptOut.objects.create(kind="host", value="shop.example.com", reason="Asked.", by="ada")
    else:
        OwnershipClaim.objects.update(state="failing", missed_at=now - timedelta(days=30))
    assert not schedules.add_defaults(now)


@pytest.mark.django_db
def test_default_schedules_are_spread_over_the_nights_of_the_week():
    now = timezone.now()
    for number in range(30):
        proven_link(f"shop{number}.example.com")
    assert schedules.add_defaults(now) == 30
    slots = {(each.anchor.weekday(), each.start_hour) for each in ScanSchedule.objects.all()}
    assert len(slots) > 15
    assert {hour for _day, hour in slots} <= set(range(6))
