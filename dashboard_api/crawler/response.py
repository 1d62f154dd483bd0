"""Responses about scans, built from jobs and schedules."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from statistics import median
from typing import Any

import msgspec
from django.conf import settings
from django.utils.dateparse import parse_datetime

from dashboard_api.billing import usage
from dashboard_api.crawler import installed, policy, queue, schedules
from dashboard_api.crawler.home_page import HomePage
from dashboard_api.crawler.known_page import known_page, page_of
from dashboard_api.crawler.reasons import explanation
from dashboard_api.models import EngineRun, Entitlement, ScanJob, ScanSchedule, SiteLink
from dashboard_api.models.scan_job import PAGE_CHANGED
from dashboard_api.queries.credentials import AccountSite
from foundation.outbound.fetch import USER_AGENT
from signed_api import scans as contract
from signed_api.scans import ScansRequest

_USUAL_RUNS = 10  # newest runs of an engine that say how long it usually takes


def scan_response(job: ScanJob, account_id: int, *, already: bool) -> bytes:
    """Return the encoded ScanResponse for this account."""
    shown = scan_for_account(job, account_id)
    return msgspec.json.encode(
        contract.ScanResponse(ok=True, host=job.website.host, job=shown, already=already)
    )


def status_response(job: ScanJob, account_id: int) -> bytes:
    """Return the encoded ScanStatusResponse for this account."""
    shown = scan_for_account(job, account_id)
    return msgspec.json.encode(contract.ScanStatusResponse(ok=True, host=job.website.host, job=shown))


def scans_response(link: AccountSite, request: ScansRequest) -> bytes:
    """Return the encoded ScansResponse."""
    jobs = ScanJob.objects.filter(website=link.website_id)
    if request.finding_id:
        jobs = jobs.filter(finding=int(request.finding_id))
    start = (request.page - 1) * request.page_size
    shown = jobs.prefetch_related("runs__import_run")[start : start + request.page_size]
    usual_seconds = cache(_usual_seconds)
    answer = contract.ScansResponse(
        ok=True,
        host=link.host,
        jobs=[scan_for_account(job, link.account_id, usual_seconds) for job in shown],
        total=jobs.count(),
    )
    return msgspec.json.encode(answer)


def schedule_response(link: SiteLink, schedule: ScanSchedule, now: datetime) -> bytes:
    """Return the encoded ScanScheduleResponse."""
    entitlement = Entitlement.objects.filter(account=link.account_id).first()
    answer = contract.ScanScheduleResponse(
        ok=True,
        host=link.website.host,
        schedule=contract.ScanSchedule(
            frequency=schedule.frequency,
            profile=schedule.profile,
            start_hour=schedule.start_hour,
            hours=schedule.hours,
            time_zone=schedule.time_zone,
            paused_until=schedule.paused_until,
            pause_reason=schedule.pause_reason or None,
            by_default=schedule.changed_by == schedules.BY_DEFAULT,
        ),
        frequencies=policy.frequencies(entitlement),
        next_at=schedules.next_times(schedule, now),
        allowance=[_allowance(link, profile, entitlement, now) for profile in policy.PROFILES],
        month=contract.ScanMonth(
            used=usage.scans_of_month(link.account_id, now), limit=policy.scans_per_month(entitlement)
        ),
        consent_until=_optional_in_seconds(policy.consent_until(link.account, link.website, now)),
        origin=contract.ScanOrigin(addresses=settings.CRAWLER_ADDRESSES, user_agent=USER_AGENT),
    )
    return msgspec.json.encode(answer)


def _allowance(
    link: SiteLink, profile: str, entitlement: Entitlement | None, now: datetime
) -> contract.ScanAllowance:
    reason = None
    try:
        policy.check_included(entitlement, profile=profile, now=now)
    except policy.NotIncluded as error:
        reason = "unpaid" if error.code == "unpaid" else "not_in_plan"
    else:
        reason = _missing_proof(link, profile)
    allowed = policy.allowance(link.website, profile=profile, entitlement=entitlement, now=now)
    return contract.ScanAllowance(
        profile=profile,
        included=reason is None,
        allowed_at=_optional_in_seconds(allowed.allowed_at),
        remaining_today=allowed.remaining_today,
        reason=reason,
    )


def _missing_proof(link: SiteLink, profile: str) -> str | None:
    """Return "dns_proof_missing" if a deep scan lacks that proof."""
    try:
        policy.check_scannable(link.website, profile=profile, account=link.account)
    except policy.NotScannable as error:
        return error.code if error.code == "dns_proof_missing" else None
    return None


def scan_for_account(
    job: ScanJob, account_id: int, usual_seconds: Callable[[str], int | None] | None = None
) -> contract.Scan:
    """Return the job as the API shows it to this account."""
    runs = list(job.runs.all())
    imports = [run.import_run for run in runs if run.import_run]
    is_stored = bool(imports)
    return contract.Scan(
        job_id=str(job.pk),
        profile=job.profile,
        trigger=job.trigger,
        finding_id=str(job.finding_id) if job.finding_id else None,
        state=job.state,
        position=queue.position(job) if job.state == ScanJob.State.QUEUED else None,
        cancelling=job.ended_at is None and job.cancel_requested_at is not None,
        outcome=job.outcome or None,
        reason=job.reason or None,
        explanation=explanation(job.reason, job.protection),
        created_at=_in_seconds(job.created_at),
        started_at=_optional_in_seconds(job.started_at if job.state != ScanJob.State.QUEUED else None),
        ended_at=_optional_in_seconds(job.ended_at),
        runs=list(_runs(job, runs, usual_seconds or cache(_usual_seconds))),
        new=sum(each.new for each in imports) if is_stored else None,
        reopened=sum(each.reopened for each in imports) if is_stored else None,
        fixed=sum(each.fixed for each in imports) if is_stored else None,
        cancellable=(
            job.ended_at is None and job.cancel_requested_at is None and job.may_be_cancelled_by(account_id)
        ),
        page_change=_page_change(job),
        protection=job.protection or None,
    )


def _page_change(job: ScanJob) -> contract.PageChange | None:
    """Return the page that looked different, and the known page at that time."""
    seen = page_of(job) if job.reason == PAGE_CHANGED else None
    if seen is None:
        return None
    known = known_page(job.website_id, before=job)
    return contract.PageChange(
        known=_home_page(known) if known else None,
        seen=_home_page(seen),
        confirmed_at=_optional_in_seconds(job.page_confirmed_at),
    )


def _home_page(page: HomePage) -> contract.HomePage:
    return contract.HomePage(
        title=page.title,
        links=page.links,
        script_hosts=list(page.script_hosts),
        cookies=list(page.cookies),
        bytes_below=2**page.size,
    )


def _usual_seconds(engine: str) -> int | None:
    newest = EngineRun.objects.filter(engine=engine, state=EngineRun.State.OK).order_by("-pk")
    times = newest.values_list("started_at", "ended_at")[:_USUAL_RUNS]
    seconds = [(ended - started).total_seconds() for started, ended in times]
    return round(median(seconds)) if seconds else None


def _runs(
    job: ScanJob, runs: Iterable[EngineRun], usual_seconds: Callable[[str], int | None]
) -> Iterable[contract.ScanRun]:
    if job.ended_at is None:
        rows: Iterable[Mapping[str, Any]] = job.progress
    else:
        rows = [
            {
                "engine": run.engine,
                "state": run.state,
                "reason": run.reason,
                "started_at": run.started_at,
                "ended_at": run.ended_at,
                "run_id": run.import_run_id,
            }
            for run in runs
        ]
    titles = installed.titles()
    for row in rows:
        yield contract.ScanRun(
            engine=row["engine"],
            state=row["state"],
            reason=row.get("reason") or None,
            started_at=_moment(row.get("started_at")),
            ended_at=_moment(row.get("ended_at")),
            usual_seconds=usual_seconds(row["engine"]),
            run_id=str(row["run_id"]) if row.get("run_id") else None,
            title=titles.get(row["engine"], ""),
        )


def _moment(at: datetime | str | None) -> datetime | None:
    return _optional_in_seconds(parse_datetime(at) if isinstance(at, str) else at)


def _optional_in_seconds(at: datetime | None) -> datetime | None:
    return at and _in_seconds(at)


def _in_seconds(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(microsecond=0)
