"""The scan that decides whether findings that an account says to be fixed are gone."""

from collections.abc import Sequence
from datetime import datetime

from dashboard_api.crawler import engines, installed, policy, queue
from dashboard_api.models import Account, Finding, ScanJob, Website
from dashboard_api.queries import overview
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading.next_checks import next_report
from signed_api.answering import NextLook

_REASONS: dict[type[Exception], str] = {
    policy.OptedOut: "opted_out",
    policy.NotIncluded: "scans_not_included",
    policy.NotScannable: "not_scannable",
    policy.Stopped: "crawler_stopped",
    policy.ConsentMissing: "consent_missing",
    policy.TooManyScans: "scan_cooldown",
}
_NOT_SCANNED_HERE = "not_scanned_here"


def look_again(
    link: AccountSite, findings: Sequence[Finding], *, account: Account, website: Website, now: datetime
) -> NextLook:
    """Queue a scan that decides about ``findings``, if this deployment can; else return what decides."""
    sources = {finding.source_id for finding in findings}
    rows, runs = overview.sources(link.website_id)
    slugs = {row.slug for row in rows if row.pk in sources}
    reason = _NOT_SCANNED_HERE
    profiles = installed.profiles()
    if ours := slugs & profiles.keys() & installed.here(website.host):
        is_retest = len(findings) == 1 and slugs <= installed.sources()
        largest = max((profiles[slug] for slug in ours), key=policy.rank)
        try:
            if is_retest:
                engines.check_runs(min(slugs))
            job, _is_new = queue.add(
                website,
                by=account.ref,
                account=account,
                profile=ScanJob.Profile.QUICK if is_retest else largest,
                trigger=ScanJob.Trigger.RETEST if is_retest else ScanJob.Trigger.HAND,
                finding_id=findings[0].pk if is_retest else None,
                now=now,
            )
        except tuple(_REASONS) as error:
            reason = next(code for kind, code in _REASONS.items() if isinstance(error, kind))
        else:
            return NextLook(by="retest" if is_retest else "scan", job_id=str(job.pk))
    by_id = {row.pk: row for row in rows}
    last = [run for run in runs if run.source_id in sources]
    if not last:
        return NextLook(by="analyst", reason=reason)
    due = [
        (next_report(run.last_run_at, by_id[run.source_id].interval_days, today=now.date()), run)
        for run in last
    ]
    latest, run = max(due, key=lambda each: each[0].on or now.date())
    return NextLook(
        by="scanner",
        source_name=by_id[run.source_id].name,
        on=None if latest.is_overdue else latest.on,
        reason=reason,
    )
