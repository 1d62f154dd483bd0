"""The queue: rows of ScanJob, which workers claim under a lease.

A claim increments ``attempt``, so a worker that lost its lease no longer matches the row.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import connections, router, transaction
from django.db.models import F, Q
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.crawler import installed, policy
from dashboard_api.models import Account, CrawlerStop, Entitlement, Finding, ScanJob, Website
from dashboard_api.models.scan_job import ScanJobQuerySet

_CLAIM = """
    UPDATE dashboard_api_scanjob
    SET state = 'running', worker = %s, lease_until = %s, started_at = %s, attempt = attempt + 1
    WHERE id = (
        SELECT waiting.id FROM dashboard_api_scanjob AS waiting
        WHERE state = 'queued' AND due_at <= %s AND {running} < {max_running}
        ORDER BY priority DESC, {running}, due_at, id LIMIT 1 {locking}
    ) AND state = 'queued'
    RETURNING id
"""
# Running scans of the same account; 0 for scans by staff, because their account is NULL.
_RUNNING = """(
    SELECT COUNT(*) FROM dashboard_api_scanjob AS running
    WHERE running.state = 'running' AND running.account_id = waiting.account_id
)"""
_ADVISORY_LOCK = 7_320_118  # arbitrary, but unique among the advisory locks of this database
PRIORITIES: dict[str, int] = {
    ScanJob.Trigger.FIRST: ScanJob.Priority.FIRST,
    ScanJob.Trigger.RETEST: ScanJob.Priority.RETEST,
    ScanJob.Trigger.HAND: ScanJob.Priority.NORMAL,
    ScanJob.Trigger.SCHEDULE: ScanJob.Priority.SCHEDULED,
}


class LostLease(Exception):
    """Another worker may own the job: this worker must stop without storing results."""


@transaction.atomic
def add(
    website: Website,
    *,
    by: str,
    account: Account | None = None,
    profile: str = ScanJob.Profile.QUICK,
    trigger: str = ScanJob.Trigger.HAND,
    finding_id: int | None = None,
    now: datetime | None = None,
) -> tuple[ScanJob, bool]:
    """Return the unended job of the website or a new job, and whether it is new.

    A retest that ended in the last minute is returned again, so a repeated call adds no job. ``account`` pays
    for the scan; without it, the scan is by staff. Raises OptedOut, NotScannable, NotIncluded,
    ConsentMissing, Stopped and TooManyScans.
    """
    now = now or timezone.now()
    website = Website.objects.select_for_update(no_key=True).get(pk=website.pk)
    policy.check_opted_out(website)
    entitlement = None
    if account is not None:
        Account.objects.select_for_update().get(pk=account.pk)  # so that two calls cannot exceed its quota
        entitlement = Entitlement.objects.filter(account=account).first()
        policy.check_included(entitlement, profile=profile, now=now)
    policy.check_scannable(website, profile=profile, account=account)
    existing = ScanJob.objects.unended().filter(website=website).first()
    if existing is None and trigger == ScanJob.Trigger.RETEST:
        existing = ScanJob.objects.recent_retests(finding_id, now - policy.REPEATED_WITHIN).first()
    if existing is not None:
        return existing, False
    if account is not None:
        policy.check_running()
        policy.check_cancelled(website, account, now)
    if profile == ScanJob.Profile.DEEP:
        policy.check_consent(account, website, now)
    if trigger == ScanJob.Trigger.RETEST:
        policy.check_retests(website, now)
    else:
        policy.check_quota(website, profile=profile, entitlement=entitlement, now=now)
    job = ScanJob.objects.create(
        website=website,
        account=account,
        profile=profile,
        trigger=trigger,
        finding_id=finding_id,
        priority=_priority(trigger, finding_id),
        by=by,
        created_at=now,
        due_at=now,
    )
    audit("scan.queued", job, by=by, host=website.host, after={"profile": profile, "trigger": trigger})
    return job, True


def _priority(trigger: str, finding_id: int | None) -> int:
    """Return the priority of a new job; a retest by a slow scanner waits like a scheduled scan."""
    if trigger == ScanJob.Trigger.RETEST:
        source = Finding.objects.filter(pk=finding_id or 0).values_list("source__slug", flat=True).first()
        if installed.profiles().get(source or "", ScanJob.Profile.QUICK) != ScanJob.Profile.QUICK:
            return ScanJob.Priority.SCHEDULED
    return PRIORITIES[trigger]


def claim(worker: str) -> ScanJob | None:
    """Claim the next job for ``worker`` in one statement, unless all scans are stopped."""
    if CrawlerStop.objects.current():
        return None
    connection = connections[router.db_for_write(ScanJob)]
    locking = "FOR UPDATE OF waiting SKIP LOCKED" if connection.vendor == "postgresql" else ""
    with _one_at_a_time(), connection.cursor() as cursor:
        now = timezone.now()
        times = [connection.ops.adapt_datetimefield_value(time) for time in (now + policy.LEASE, now, now)]
        cursor.execute(
            _CLAIM.format(locking=locking, running=_RUNNING, max_running=policy.MAX_RUNNING), [worker, *times]
        )
        row = cursor.fetchone()  # its id
    return ScanJob.objects.select_related("website").get(pk=row[0]) if row else None


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Make other workers wait before they count running scans; SQLite does so without this lock."""
    connection = connections[router.db_for_write(ScanJob)]
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ADVISORY_LOCK])
        yield


def renew(job: ScanJob) -> None:
    """Renew the lease and reload ``cancel_requested_at``; raise LostLease."""
    _update(job, lease_until=timezone.now() + policy.LEASE)
    job.refresh_from_db(fields=["cancel_requested_at"])


def note_address(job: ScanJob, address: str) -> bool:
    """Store the scanned address; return False if too many scans run there. Raise LostLease."""
    running = ScanJob.objects.filter(state=ScanJob.State.RUNNING, address=address).exclude(pk=job.pk)
    with _one_at_a_time():
        if running.count() >= policy.MAX_RUNNING:
            return False
        _update(job, address=address)
    return True


def note_progress(job: ScanJob, progress: list[dict[str, Any]]) -> None:
    """Store the progress of each engine; raise LostLease."""
    _update(job, progress=progress)


def end(
    job: ScanJob,
    state: str,
    *,
    reason: str = "",
    outcome: str = "",
    page: dict[str, Any] | None = None,
    protection: str = "",
) -> None:
    """End the job; raise LostLease. In a transaction, the row is locked until the commit."""
    _update(
        job,
        state=state,
        reason=reason,
        outcome=outcome,
        page=page,
        protection=protection,
        ended_at=timezone.now(),
    )


def give_back(job: ScanJob, *, wait: timedelta = timedelta()) -> None:
    """Undo the claim: queue the job again, after ``wait``, unless this worker lost it."""
    due_at = timezone.now() + wait if wait else job.due_at
    _owned(job).update(state=ScanJob.State.QUEUED, attempt=F("attempt") - 1, due_at=due_at, progress=[])


def position(job: ScanJob) -> int:
    """Return the position of a waiting job, from 1."""
    earlier = Q(priority=job.priority, due_at__lt=job.due_at) | Q(
        priority=job.priority, due_at=job.due_at, pk__lt=job.pk
    )
    waiting = ScanJob.objects.filter(state=ScanJob.State.QUEUED)
    return waiting.filter(Q(priority__gt=job.priority) | earlier).count() + 1


@transaction.atomic
def release_lost() -> int:
    """Queue jobs with an expired lease again, or fail them the second time; return their number.

    A job is cancelled instead if that was requested. A worker that stores reports locks its job, so the job
    is not lost.
    """
    now = timezone.now()
    lost = ScanJob.objects.filter(state=ScanJob.State.RUNNING, lease_until__lt=now)
    ids = list(lost.select_for_update(skip_locked=True).values_list("pk", flat=True))
    lost = lost.filter(pk__in=ids)  # still only running jobs: each update below leaves the rest
    lost.exclude(cancel_requested_at=None).update(
        state=ScanJob.State.CANCELLED, reason="cancelled", ended_at=now
    )
    lost.filter(attempt__gte=policy.MAX_ATTEMPTS).update(
        state=ScanJob.State.FAILED, reason="worker_lost", ended_at=now
    )
    lost.update(state=ScanJob.State.QUEUED, progress=[])
    return len(ids)


def _update(job: ScanJob, **values: Any) -> None:
    """Update the job in the database and in memory; raise LostLease."""
    if not _owned(job).update(**values):
        raise LostLease
    for name, value in values.items():
        setattr(job, name, value)


def _owned(job: ScanJob) -> ScanJobQuerySet:
    return ScanJob.objects.filter(
        pk=job.pk, state=ScanJob.State.RUNNING, worker=job.worker, attempt=job.attempt
    )
