"""The known page of a website, and whether the page that answers now is the same.

Protections and placeholders also answer with status 200. A scan of such a page must neither fix nor add
findings.
"""

from collections.abc import Collection
from datetime import UTC, datetime, time

import msgspec
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.crawler.home_page import HomePage
from dashboard_api.models import Finding, ImportRun, ScanJob
from dashboard_api.models.scan_job import PAGE_CHANGED

FIRST_LOOK = "first_look"  # a reason: no earlier scan says what the page looked like


def known_page(website_id: int, *, before: ScanJob | None = None) -> HomePage | None:
    """Return the known page of the website, as of the job ``before`` if there is one."""
    return page_of(_known_job(website_id, before))


def judge(job: ScanJob, page: HomePage, sources: Collection[str]) -> str:
    """Return PAGE_CHANGED if the page may be another website's, FIRST_LOOK if the scan may not fix findings.

    ``sources`` are the sources of this scan's engines. A page that looks different is accepted if it can be a
    redesign, and if no finding can vanish or a scan on an earlier day saw it. Retests accept no such page.
    """
    known_job = _known_job(job.website_id, job)
    known = page_of(known_job)
    if known is not None and known.looks_like(page):
        return ""
    if known is not None and job.trigger == ScanJob.Trigger.RETEST:
        return PAGE_CHANGED
    has_findings = _has_findings(job.website_id, sources)
    if known is None:
        if not has_findings:
            return ""
        return FIRST_LOOK if page.has_content else PAGE_CHANGED
    if page.can_replace(known) and (not has_findings or _was_seen_earlier(job, page, known_job)):
        return ""
    return PAGE_CHANGED


@transaction.atomic
def confirm(job: ScanJob, *, by: str, now: datetime) -> bool:
    """Make the page of a job that looked different the known page; return whether that is new."""
    different = ScanJob.objects.filter(pk=job.pk, reason=PAGE_CHANGED, page__isnull=False)
    is_new = bool(different.filter(page_confirmed_at=None).update(page_confirmed_at=now))
    if is_new:
        audit("scan.page_confirmed", job, by=by, host=job.website.host, after=job.page)
    return is_new


def _known_job(website_id: int, before: ScanJob | None) -> ScanJob | None:
    jobs = ScanJob.objects.filter(website=website_id).with_known_page()  # newest first
    if before is not None:
        jobs = jobs.exclude(pk=before.pk).filter(created_at__lte=before.created_at)
    return jobs.first()


def _has_findings(website_id: int, sources: Collection[str]) -> bool:
    """Return whether these sources, or the sources of earlier scans, have findings that are not fixed."""
    scanned = ImportRun.objects.filter(website=website_id, engine_runs__isnull=False).values("source")
    findings = Finding.objects.filter(website=website_id).exclude(status=Finding.Status.FIXED)
    return findings.filter(Q(source__slug__in=sources) | Q(source__in=scanned)).exists()


def _was_seen_earlier(job: ScanJob, page: HomePage, known_job: ScanJob | None) -> bool:
    """Return whether a scan after the known page, on an earlier day, saw this page."""
    midnight = datetime.combine(timezone.now().astimezone(UTC), time(), tzinfo=UTC)
    jobs = ScanJob.objects.filter(website=job.website_id, reason=PAGE_CHANGED, ended_at__lt=midnight)
    if known_job is not None:
        jobs = jobs.filter(created_at__gt=known_job.created_at)
    earlier = page_of(jobs.exclude(page=None).first())
    return earlier is not None and earlier.has_content and earlier.looks_like(page)


def page_of(job: ScanJob | None) -> HomePage | None:
    """Return the home page that this scan stored, if any."""
    return msgspec.convert(job.page, HomePage) if job is not None and job.page else None
