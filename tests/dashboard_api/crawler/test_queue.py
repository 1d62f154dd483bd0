"""The queue: one claim for a job, leases, and what may be queued."""

from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.crawler import policy, queue
from dashboard_api.models import OwnershipClaim, ScanConsent, ScanJob, SiteLink
from tests import factories
from tests.racing import race

pytestmark = pytest.mark.django_db


def queued(host="shop.example.com", **options):
    website = factories.make_scannable(host, account=options.get("account"))
    return queue.add(website, by="ada", **options)[0]


def lose(job):
    ScanJob.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_job_is_on_record_with_its_website():
    queued()
    event = AuditEvent.objects.get(action="scan.queued")
    assert event.host == "shop.example.com"


def test_a_website_has_one_unended_job():
    job = queued()
    assert queue.add(job.website, by="bob") == (job, False)
    with pytest.raises(IntegrityError):
        ScanJob.objects.create(website=job.website, by="bob")


def test_a_website_that_is_not_verified_or_archived_is_refused():
    with pytest.raises(policy.NotScannable, match="verify its ownership"):
        queue.add(factories.make_website(verified=False), by="ada")
    archived = factories.make_website("old.example.com")
    archived.archive(by="ada", reason="gone", now=timezone.now())
    with pytest.raises(policy.NotScannable, match="archived"):
        queue.add(archived, by="ada")


def test_a_website_is_refused_that_no_account_has_proven():
    with pytest.raises(policy.NotScannable, match="no current proof") as refusal:
        queue.add(factories.make_website(), by="ada")
    assert refusal.value.code == "proof_missing"


def test_the_proof_of_another_account_does_not_count_for_a_scan():
    website = factories.make_scannable()
    with pytest.raises(policy.NotScannable, match="no current proof"):
        queue.add(website, by="ada", account=factories.make_account())


def test_staff_queue_a_deep_scan_only_with_the_consent_of_an_account_that_dns_proves():
    link = factories.make_link()
    other = factories.make_link(factories.make_account("acct_0002"), link.website)
    with pytest.raises(policy.NotScannable) as refusal:
        queue.add(link.website, by="staff", profile="deep")
    assert refusal.value.code == "dns_proof_missing"
    OwnershipClaim.objects.filter(account=link.account).update(method="dns", strength="dns")
    ScanConsent.objects.create(link=other, by="bob")  # it has no proof by DNS
    own = ScanConsent.objects.create(link=link, by="ada", at=timezone.now() - timedelta(days=365))
    with pytest.raises(policy.ConsentMissing):
        queue.add(link.website, by="staff", profile="deep")
    ScanConsent.objects.filter(pk=own.pk).update(at=timezone.now())
    SiteLink.objects.filter(pk=link.pk).update(revoked_at=timezone.now())
    with pytest.raises(policy.ConsentMissing):
        queue.add(link.website, by="staff", profile="deep")
    SiteLink.objects.update(revoked_at=None)
    assert queue.add(link.website, by="staff", profile="deep")[0].profile == "deep"


def test_a_scan_waits_for_the_cooldown_and_for_the_quota_of_a_day():
    website, now = factories.make_scannable(), timezone.now()

    def scan(at):
        job, _ = queue.add(website, by="ada", now=at)
        ScanJob.objects.filter(pk=job.pk).update(state="finished", ended_at=at)

    scan(now)
    quick = policy.PROFILES["quick"]
    with pytest.raises(policy.TooManyScans, match="can begin at"):
        scan(now + quick.cooldown - timedelta(seconds=1))
    for number in range(1, quick.by_hand):
        scan(now + number * quick.cooldown)
    with pytest.raises(policy.TooManyScans):
        scan(now + timedelta(hours=23))
    scan(now + timedelta(days=1))


def test_an_account_that_cancelled_fifty_scans_before_they_began_waits_a_day_for_the_next(settings):
    settings.CRAWLER_ENABLED, now = True, timezone.now()
    account = factories.make_account()
    website = factories.make_scannable(account=account)
    for _ in range(policy.CANCELLED_A_DAY):
        queue.add(website, by="ada", account=account, now=now)[0].cancel(by="ada")
    with pytest.raises(policy.TooManyScans):
        queue.add(website, by="ada", account=account, now=now)
    job, is_new = queue.add(website, by="staff", now=now)
    assert is_new
    job.cancel(by="staff")
    assert queue.add(website, by="ada", account=account, now=now + timedelta(days=1))[1]


def test_jobs_are_claimed_by_priority_then_by_age():
    old, young = queued("a.example.com"), queued("b.example.com")
    first = queued("c.example.com", trigger=ScanJob.Trigger.FIRST)
    later = queued("d.example.com", now=timezone.now() + timedelta(hours=1))
    assert [queue.claim("w") for _ in range(4)] == [first, old, young, None]
    later.refresh_from_db()
    assert later.state == "queued"


@pytest.mark.parametrize(("source", "first"), [("essentials", "retest"), ("testssl", "hand")])
def test_a_retest_by_a_slow_scanner_waits_its_turn(settings, source, first):
    settings.CRAWLER_ENABLED = True
    waiting, website = factories.make_scannable("waits.example.org"), factories.make_scannable()
    queue.add(waiting, by="ada")
    finding = factories.make_finding(website, source=factories.make_source(source))
    queue.add(website, by="ada", trigger=ScanJob.Trigger.RETEST, finding_id=finding.pk)
    assert queue.claim("a").trigger == first


@pytest.mark.django_db(transaction=True)
def test_simultaneous_workers_claim_each_job_once():
    jobs = {queued(f"host-{number}.example.com") for number in range(12)}
    claimed = [
        job for found in race(lambda n: [queue.claim(f"w{n}") for _ in range(4)], times=4) for job in found
    ]
    found = [job for job in claimed if job]
    found += iter(lambda: queue.claim("last"), None)
    assert (set(found), len(found)) == (jobs, 12)


@pytest.mark.django_db(transaction=True)
def test_simultaneous_workers_run_two_scans_of_an_account_and_to_an_address(settings):
    settings.CRAWLER_ENABLED = True
    account = factories.make_account()
    for number in range(8):
        queued(f"host-{number}.example.com", account=account)
    jobs = [job for job in race(lambda n: queue.claim(f"w{n}"), times=8) if job]
    assert len(jobs) == policy.MAX_RUNNING
    ScanJob.objects.update(account=None)
    jobs += [queue.claim("w") for _ in range(6)]
    noted = race(lambda n: queue.note_address(jobs[n], "192.0.2.10"), times=8)
    assert sorted(noted) == [False] * 6 + [True] * 2


def test_a_lost_job_is_queued_again_once_and_then_fails():
    queued()
    for state, reason in (("queued", ""), ("failed", "worker_lost")):
        job = queue.claim("w")
        assert queue.release_lost() == 0
        lose(job)
        assert queue.release_lost() == 1
        job.refresh_from_db()
        assert (job.state, job.reason) == (state, reason)


def test_a_worker_without_its_lease_changes_nothing():
    queued()
    slow = queue.claim("slow")
    lose(slow)
    queue.release_lost()
    for claim in (lambda: None, lambda: queue.claim("fast")):
        claim()
        with pytest.raises(queue.LostLease):
            queue.renew(slow)
        with pytest.raises(queue.LostLease):
            queue.end(slow, ScanJob.State.FINISHED)
        queue.give_back(slow)
    assert ScanJob.objects.get().worker == "fast"


def test_a_waiting_job_is_cancelled_at_once_a_running_one_by_its_worker():
    job = queued()
    assert job.cancel(by="ada")
    assert not job.cancel(by="ada")
    job.refresh_from_db()
    assert job.state == "cancelled"
    queued("b.example.com")
    running = queue.claim("w")
    assert running.cancel(by="ada", reason="too early")
    queue.renew(running)
    assert running.cancel_requested_at
    lose(running)
    queue.release_lost()
    running.refresh_from_db()
    assert running.state == "cancelled"
    assert AuditEvent.objects.filter(action="scan.cancelled").count() == 2
