"""Stopping and resuming all scans; storing and ending opt-outs."""

from django.db import transaction
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.models import CrawlerStop, ScanJob, ScanOptOut


def stop_all(*, by: str, reason: str = "") -> int:
    """Keep scans from beginning, and cancel unended ones; return their number. Repeatable."""
    with transaction.atomic():
        if CrawlerStop.objects.current() is None:
            stop = CrawlerStop.objects.create(by=by, reason=reason)
            audit("scan.all_stopped", stop, by=by, reason=reason)
    jobs = ScanJob.objects.unended().select_related("website")
    return sum(job.cancel(by=by, reason=reason) for job in jobs)


@transaction.atomic
def resume(*, by: str) -> bool:
    """Let scans begin again; return whether they were stopped."""
    stop = CrawlerStop.objects.current()
    if stop is None:
        return False
    CrawlerStop.objects.filter(resumed_at=None).update(resumed_at=timezone.now(), resumed_by=by)
    audit("scan.all_resumed", stop, by=by)
    return True


@transaction.atomic
def opt_out(asked: ScanOptOut) -> int | None:
    """Store a cleaned opt-out and cancel the scans that it covers; return their number.

    Return None if the opt-out was stored before.
    """
    if ScanOptOut.objects.filter(kind=asked.kind, value=asked.value).exists():
        return None
    asked.save()
    audit("scan.opted_out", asked, by=asked.by, reason=asked.reason)
    unended = ScanJob.objects.unended().select_related("website")
    covered = [
        job
        for job in unended
        if ScanOptOut.objects.of(job.website.host, [job.address] if job.address else [])
    ]
    return sum(job.cancel(by=asked.by, reason=asked.reason) for job in covered)


@transaction.atomic
def end_opt_out(asked: ScanOptOut, *, by: str, reason: str) -> bool:
    """Delete the opt-out of this kind and value; return whether there was one."""
    stored = ScanOptOut.objects.filter(kind=asked.kind, value=asked.value).first()
    if stored is None:
        return False
    audit("scan.opt_out_ended", stored, by=by, reason=reason)
    stored.delete()
    return True
