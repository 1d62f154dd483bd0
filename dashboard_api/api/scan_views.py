"""The signed endpoints for scans of a linked website.

Repeating a call is safe: asking for a scan returns the one that waits or runs, and the other calls set a
state.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from audit.recording import record as audit
from dashboard_api import errors
from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.authorization import authorize
from dashboard_api.api.request import Call
from dashboard_api.api.signed import signed
from dashboard_api.crawler import engines, known_page, policy, queue, schedules
from dashboard_api.crawler.response import (
    scan_response,
    scans_response,
    schedule_response,
    status_response,
)
from dashboard_api.models import Finding, OwnershipClaim, ScanConsent, ScanJob, SiteLink
from dashboard_api.models.scan_job import PAGE_CHANGED
from dashboard_api.queries.credentials import AccountSite
from signed_api.scans import (
    PROFILES,
    SCAN,
    SCAN_CANCEL,
    SCAN_SCHEDULE,
    SCAN_STATUS,
    SCANS,
    ScanCancelRequest,
    ScanRequest,
    ScanScheduleRequest,
    ScansRequest,
    ScanStatusRequest,
)

_UNPAID = "A payment for the plan is missing: no scan can begin until it has arrived."
_MONTHLY_ONLY = "Deep scans by schedule run once a month: send the frequency monthly."
_FINDING = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


@signed(SCAN)
def site_scan(call: Call, caller: Authenticated, fields: ScanRequest) -> bytes:
    """``POST /v1/site/scan``: queue a scan, or return the one that waits or runs."""
    link = _stored_link(authorize(caller.link, fields, call.moment))
    if fields.consent:
        _record_consent(link, call.moment)
    finding = _finding_of(link, fields.finding_id) if fields.finding_id else None
    if fields.confirmed_page:
        _confirm_page(link, int(fields.confirmed_page), call.moment)
    with _policy_errors_as_api_errors(call.moment):
        if finding is not None:
            engines.check_runs(finding.source.slug)
        job, is_new = queue.add(
            link.website,
            by=link.account.ref,
            account=link.account,
            profile=fields.profile or PROFILES[0],  # quick
            trigger=ScanJob.Trigger.RETEST if finding else ScanJob.Trigger.HAND,
            finding_id=finding.pk if finding else None,
            now=call.at,
        )
    return scan_response(job, link.account_id, already=not is_new)


@signed(SCAN_STATUS)
def site_scan_status(call: Call, caller: Authenticated, fields: ScanStatusRequest) -> bytes:
    """``POST /v1/site/scan/status``: return one scan with its progress or outcome."""
    link = authorize(caller.link, fields, call.moment)
    return status_response(_job_of(link, int(fields.job_id)), link.account_id)


@signed(SCANS)
def site_scans(call: Call, caller: Authenticated, fields: ScansRequest) -> bytes:
    """``POST /v1/site/scans``: list the scans of the website, newest first."""
    return scans_response(authorize(caller.link, fields, call.moment), fields)


@signed(SCAN_CANCEL)
def site_scan_cancel(call: Call, caller: Authenticated, fields: ScanCancelRequest) -> bytes:
    """``POST /v1/site/scan/cancel``: cancel a scan; a scan that has ended does not change.

    All accounts of a website see its scans, but only the account that pays for a scan can cancel it: the
    others get UnknownScan. Every account can cancel a scan by staff.
    """
    link = authorize(caller.link, fields, call.moment)
    job = _job_of(link, int(fields.job_id))
    if not job.may_be_cancelled_by(link.account_id):
        raise errors.UnknownScan
    job.cancel(by=fields.portal_account_ref, reason=fields.reason)
    return status_response(_job_of(link, int(fields.job_id)), link.account_id)


@signed(SCAN_SCHEDULE)
def site_scan_schedule(call: Call, caller: Authenticated, fields: ScanScheduleRequest) -> bytes:
    """``POST /v1/site/scan/schedule``: return the schedule and the allowed scans; ``frequency`` sets it."""
    link = _stored_link(authorize(caller.link, fields, call.moment))
    if not fields.frequency:
        return schedule_response(link, schedules.of(link.pk), call.moment)
    if fields.consent:
        _record_consent(link, call.moment)
    with _policy_errors_as_api_errors(call.moment):
        schedule = schedules.change(link, fields, by=link.account.ref, now=call.moment)
    return schedule_response(link, schedule, call.moment)


def _stored_link(link: AccountSite) -> SiteLink:
    return SiteLink.objects.select_related("account", "website").get(pk=link.pk)


def _job_of(link: AccountSite, job_id: int) -> ScanJob:
    """Return the scan of the website; raises UnknownScan."""
    job = ScanJob.objects.select_related("website").filter(website=link.website_id, pk=job_id).first()
    if job is None:
        raise errors.UnknownScan
    return job


def _finding_of(link: SiteLink, text: str) -> Finding:
    """Return the finding of the website; raises UnknownFinding."""
    found = None
    if _FINDING.fullmatch(text):
        found = Finding.objects.select_related("source").filter(website=link.website, pk=int(text)).first()
    if found is None:
        raise errors.UnknownFinding
    return found


def _record_consent(link: SiteLink, now: datetime) -> None:
    """Record consent to deep scans, at most once a day, if the account proves the website by DNS."""
    claims = OwnershipClaim.objects.current(now).filter(account=link.account, host=link.website.host)
    if not claims.proven_by_dns().exists():
        return
    newest = ScanConsent.objects.valid_at(now).filter(link=link).first()
    if newest is None or newest.at.date() != now.date():
        consent = ScanConsent.objects.create(link=link, by=link.account.ref, at=now)
        audit("scan.consented", consent, by=link.account.ref, host=link.website.host)


def _confirm_page(link: SiteLink, job_id: int, now: datetime) -> None:
    """Record that the changed home page of a scan is the website's own; raises UnknownScan."""
    job = link.website.scan_jobs.filter(pk=job_id, reason=PAGE_CHANGED).first()
    if job is None:
        raise errors.UnknownScan
    known_page.confirm(job, by=link.account.ref, now=now)


@contextmanager
def _policy_errors_as_api_errors(now: datetime) -> Iterator[None]:
    """Turn the errors of the scan policy into errors of the API."""
    try:
        yield
    except policy.OptedOut as error:
        raise errors.OptedOut from error
    except policy.NotIncluded as error:
        if error.code == "unpaid":
            raise errors.ScansNotIncluded(_UNPAID, reason="unpaid") from error
        if error.code == "monthly_only":
            raise errors.ScansNotIncluded(_MONTHLY_ONLY, reason="monthly_only") from error
        raise errors.ScansNotIncluded from error
    except policy.NotScannable as error:
        raise errors.NotScannable(reason=error.code) from error
    except policy.Stopped as error:
        raise errors.CrawlerStopped from error
    except policy.ConsentMissing as error:
        raise errors.ConsentMissing from error
    except policy.TooManyScans as error:
        raise errors.ScanCooldown(
            seconds=int((error.allowed_at - now).total_seconds()) + 1,
            allowed_at=f"{error.allowed_at:%Y-%m-%dT%H:%M:%SZ}",
            remaining_today=error.remaining_today,
        ) from error
