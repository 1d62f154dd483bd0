"""The queue: rows of ScanJob, which workers claim under a lease.

A claim raises ``attempt``; a worker that lost its lease no longer matches the row, so it changes nothing.
"""

from datetime import datetime

from django.db import connections, router, transaction
from django.db.models import F
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.crawler import policy
from dashboard_api.models import ScanJob, Website
from dashboard_api.models.scan_job import ScanJobQuerySet

_CLAIM = """
    UPDATE dashboard_api_scanjob
    SET state = 'running', worker = %s, lease_until = %s, started_at = %s, attempt = attempt + 1
    WHERE id = (
        SELECT id FROM dashboard_api_scanjob WHERE state = 'queued' AND due_at <= %s
        ORDER BY priority DESC, due_at, id LIMIT 1 {locking}
    ) AND state = 'queued'
    RETURNING id
"""


class LostLease(Exception):
    """Another worker may own the job: this one must stop, and store nothing."""


@transaction.atomic
def add(
    website: Website, *, by: str, priority: int = ScanJob.Priority.NORMAL, now: datetime | None = None
) -> tuple[ScanJob, bool]:
    """Return the unended job of the website, or a new one, and whether it is new.

    Raises NotScannable and TooManyScans.
    """
    now = now or timezone.now()
    website = Website.objects.select_for_update().get(pk=website.pk)
    policy.check_scannable(website)
    existing = ScanJob.objects.unended().filter(website=website).first()
    if existing is not None:
        return existing, False
    policy.check_quota(website, now)
    job = ScanJob.objects.create(website=website, by=by, priority=priority, created_at=now, due_at=now)
    audit("scan.queued", job, by=by, host=website.host)
    return job, True


def claim(worker: str) -> ScanJob | None:
    """Claim the next job for ``worker``, in one statement."""
    now = timezone.now()
    connection = connections[router.db_for_write(ScanJob)]
    locking = "FOR UPDATE SKIP LOCKED" if connection.vendor == "postgresql" else ""
    times = [connection.ops.adapt_datetimefield_value(time) for time in (now + policy.LEASE, now, now)]
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM.format(locking=locking), [worker, *times])
        row = cursor.fetchone()
    return ScanJob.objects.select_related("website").get(pk=row[0]) if row else None


def renew(job: ScanJob) -> None:
    """Renew the lease, and reload whether the job is to be cancelled; raise LostLease."""
    if not _owned(job).update(lease_until=timezone.now() + policy.LEASE):
        raise LostLease
    job.refresh_from_db(fields=["cancel_requested_at"])


def end(job: ScanJob, state: str, *, reason: str = "", outcome: str = "") -> None:
    """End the job; raise LostLease. In a transaction, the row stays locked until its end."""
    now = timezone.now()
    if not _owned(job).update(state=state, reason=reason, outcome=outcome, ended_at=now):
        raise LostLease


def give_back(job: ScanJob) -> None:
    """Queue the job again, as if this worker had not claimed it; a lost job stays unchanged."""
    _owned(job).update(state=ScanJob.State.QUEUED, attempt=F("attempt") - 1)


@transaction.atomic
def release_lost() -> int:
    """Queue jobs again whose worker let the lease end; fail those that lost a second one.

    Return their number. A job whose reports are being stored is locked, and not lost.
    """
    now = timezone.now()
    lost = ScanJob.objects.filter(state=ScanJob.State.RUNNING, lease_until__lt=now)
    ids = list(lost.select_for_update(skip_locked=True).values_list("pk", flat=True))
    lost = lost.filter(pk__in=ids)
    lost.exclude(cancel_requested_at=None).update(
        state=ScanJob.State.CANCELLED, reason="cancelled", ended_at=now
    )
    lost.filter(attempt__gte=policy.MAX_ATTEMPTS).update(
        state=ScanJob.State.FAILED, reason="worker_lost", ended_at=now
    )
    lost.update(state=ScanJob.State.QUEUED)
    return len(ids)


def _owned(job: ScanJob) -> ScanJobQuerySet:
    return ScanJob.objects.filter(
        pk=job.pk, state=ScanJob.State.RUNNING, worker=job.worker, attempt=job.attempt
    )
