"""Jobs that import the reports sent over HTTP, each once and as a whole.

The transaction of the import also records the outcome. A process that dies leaves the job unfinished and its
file unlocked; then the next process that asks for the job imports the file.
"""

import dataclasses
import logging
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from datetime import datetime, timedelta
from math import ceil
from threading import Lock
from typing import Any, BinaryIO

import msgspec
from django.db import connections, transaction
from django.db.models import Count, Sum
from django.utils.dateparse import parse_datetime

from audit.recording import Acting, Person, acting
from dashboard_api import errors, limits
from dashboard_api.importing import report_files
from dashboard_api.importing.ingest import ImportResult, ReportOptions
from dashboard_api.importing.report_files import StoredReport
from dashboard_api.importing.service import (
    EmptyRefusal,
    ImportOptions,
    OtherSource,
    RefusedReport,
    import_file,
)
from dashboard_api.models import Account, ReportJob, ReportToken, Severity, Website
from dashboard_api.scanners.report import Budget
from foundation.operations.operator_command import wait_for_writers

logger = logging.getLogger(__name__)

# Fields of ReportOptions in the options of a job; "dry_run" and "fail_on" are not about the report.
IMPORT_OPTIONS = ("format_name", "complete", "scanned_at", "base_url", "targets", "category")
FILE_NAME = "sent over HTTP"
_threads = ThreadPoolExecutor(max_workers=limits.MAX_REPORTS_AT_ONCE, thread_name_prefix="reports")
_running: dict[uuid.UUID, Future[None]] = {}  # by job; guarded by the lock
_lock = Lock()
_DAY = timedelta(days=1)


class _LostRight(RefusedReport):
    """A report from a sender who may no longer report about the website."""


def add(
    token: ReportToken, website: Website, report: StoredReport, options: Mapping[str, Any], *, key: str
) -> ReportJob:
    """Create a job for the report, or return the job that ``key`` already names.

    Raises ReusedKey if that job has another website, body or options, and TooManyReports.
    """
    with transaction.atomic():
        Account.objects.select_for_update().get(pk=token.account_id)  # one request at a time decides
        existing = ReportJob.objects.filter(token=token, idempotency_key=key).first() if key else None
        if existing is None:
            _check_unfinished(token.account_id)
            return ReportJob.objects.create(
                id=report.id,
                token=token,
                website=website,
                idempotency_key=key,
                digest=report.digest,
                options=dict(options),
            )
    report_files.delete(report.id)  # the existing job has a file of its own
    if (existing.website_id, existing.digest, existing.options) != (website.pk, report.digest, dict(options)):
        raise errors.ReusedKey
    return existing


def check_room(token: ReportToken, *, key: str, now: datetime) -> None:
    """Raise TooManyReports if the account has its limit of unfinished reports, or of bytes in a day.

    A repeated request needs no room: its ``key`` names a job.
    """
    if key and ReportJob.objects.filter(token=token, idempotency_key=key).exists():
        return
    _check_unfinished(token.account_id)
    since = now - _DAY
    sent_jobs = ReportJob.objects.filter(token__account=token.account_id, created_at__gt=since)
    room = limits.MAX_SENT_BYTES_A_DAY
    sums = sent_jobs.aggregate(bytes=Sum("length", default=0), reports=Count("pk"))
    if sums["bytes"] + sums["reports"] * limits.EXTRA_BYTES_A_REPORT < room:
        return
    # There is room again when the oldest of the newest reports that fill the limit is a day old.
    for length, sent_at in sent_jobs.order_by("-created_at").values_list("length", "created_at"):
        room -= length + limits.EXTRA_BYTES_A_REPORT
        if room <= 0:
            raise errors.TooManyReports(
                errors.TooManyReports.IN_A_DAY, seconds=ceil((sent_at - since).total_seconds())
            )


def _check_unfinished(account_id: int) -> None:
    unfinished = ReportJob.objects.unfinished().filter(token__account=account_id)
    if unfinished.count() >= limits.MAX_UNFINISHED_REPORTS:
        raise errors.TooManyReports


def run_and_wait(job: ReportJob, *, seconds: float) -> None:
    """Import the report in a thread, wait for its end at most ``seconds``, and reload ``job``."""
    if job.finished_at is None:
        wait_for([_start_once(job.pk)], timeout=seconds)
        job.refresh_from_db()


def run(job_id: uuid.UUID) -> bool:
    """Import the report; return False if its file is missing or another process imports it."""
    with report_files.locked(job_id) as file:
        if file is None:
            return False
        job = ReportJob.objects.unfinished().select_related("token", "website").filter(pk=job_id).first()
        if job is not None:
            _run(job, file)
        report_files.delete(job_id)
    return True


def run_all() -> list[ReportJob]:
    """Import reports that dead processes left, the oldest first; return the finished jobs."""
    waiting = ReportJob.objects.unfinished().filter(pk__in=report_files.stored_jobs())
    finished = [pk for pk in waiting.values_list("pk", flat=True) if _try_to_run(pk)]
    return list(ReportJob.objects.filter(pk__in=finished).select_related("website", "token__account"))


def prune(now: datetime) -> int:
    """Fail jobs with a lost file, and delete stale files and old jobs; return the number of deleted jobs."""
    lost_since = now - limits.LOST_REPORT_PERIOD
    report_files.delete_unfinished(before=lost_since)
    stored = set(report_files.stored_jobs())
    for job in ReportJob.objects.unfinished().filter(created_at__lt=lost_since).exclude(pk__in=stored):
        _fail(job)
    for pk in stored - set(ReportJob.objects.unfinished().values_list("pk", flat=True)):
        report_files.delete_orphan(pk, before=lost_since)
    old = ReportJob.objects.filter(finished_at__lt=now - limits.REPORT_JOB_LIFETIME)
    number, _by_model = old.delete()
    return number


def _start_once(job_id: uuid.UUID) -> Future[None]:
    """Return the running import of the job in this process, or start it."""
    with _lock:
        if job_id not in _running:
            _running[job_id] = _threads.submit(_run_in_thread, job_id)
        return _running[job_id]


def _run_in_thread(job_id: uuid.UUID) -> None:
    try:
        wait_for_writers()
        _try_to_run(job_id)
    finally:
        with _lock:
            del _running[job_id]
        connections.close_all()


def _try_to_run(job_id: uuid.UUID) -> bool:
    """Call ``run`` and log unforeseen errors; the job is then unfinished, and the next call tries again."""
    try:
        return run(job_id)
    except Exception:
        logger.exception("report %s: the import failed", job_id)
        return False


def _run(job: ReportJob, file: BinaryIO) -> None:
    """Import the report and finish the job; raises OperationalError if the database fails."""
    if job.attempts >= limits.MAX_REPORT_ATTEMPTS:
        _fail(job)
        return
    job.attempts += 1
    job.save(update_fields=["attempts"])
    try:
        _check_right(job)
        _import(job, file)
    except _LostRight as error:
        job.finish(errors.InvalidToken.status, _refusal(errors.InvalidToken, str(error)))
    except EmptyRefusal as error:
        text = f"{error} Send complete=true and format."
        job.finish(errors.RefusedReport.status, _refusal(errors.RefusedReport, text))
    except OtherSource as error:
        job.finish(errors.OtherScanner.status, _refusal(errors.OtherScanner, str(error)))
    except RefusedReport as error:
        job.finish(errors.RefusedReport.status, _refusal(errors.RefusedReport, str(error)))


def _check_right(job: ReportJob) -> None:
    """Raise _LostRight if the token or the link of the website was revoked; take no lock."""
    if not ReportToken.objects.filter(pk=job.token_id, revoked_at=None).exists():
        raise _LostRight("The token was revoked.")
    if not job.token.account.links.not_revoked().filter(website=job.website_id).exists():
        raise _LostRight("The link of the website was revoked.")


def _import(job: ReportJob, file: BinaryIO) -> None:
    dry_run, fail_on = job.options["dry_run"], job.options["fail_on"]
    budget = Budget()

    def finish(results: list[ImportResult]) -> None:
        _check_right(job)  # again, because reading the report may have taken minutes
        job.length = budget.length
        job.finish(200, _outcome(results, dry_run=dry_run, fail_on=fail_on))

    by = f"{job.token.name} (token {job.token.pk})"
    try:
        with acting(Acting(person=lambda: Person(None, by), account=job.token.account.ref)):
            options = ImportOptions(
                file_name=FILE_NAME,
                by=by,
                report=_report_options(job.options),
                dry_run=dry_run,
                sources=job.token.sources,
                reserved_sources=limits.OWN_SOURCES,
                max_bytes=limits.MAX_SENT_REPORT_BYTES,
                budget=budget,
                before_commit=finish,
            )
            results = import_file(file, job.website, options)
    except RefusedReport:
        job.length = budget.length
        raise
    if dry_run:  # the outcome was rolled back with the findings
        finish(results)


def _report_options(options: Mapping[str, Any]) -> ReportOptions:
    at = options["scanned_at"]
    values = {name: options[name] for name in IMPORT_OPTIONS}
    return ReportOptions(**values | {"scanned_at": parse_datetime(at) if at else None})


def _outcome(results: Sequence[ImportResult], *, dry_run: bool, fail_on: str) -> dict[str, Any]:
    """Return the members of the response; ``passed`` is false if a finding is as severe as ``fail_on``.

    Findings at unclear locations count, although they are not stored. So do unreadable rows, because they may
    be findings of any severity.
    """
    failing = {severity.label for severity in Severity if fail_on and severity >= Severity[fail_on.upper()]}
    reports = [dataclasses.asdict(result) | {"dry_run": dry_run} for result in results]
    reported = {label for result in results for label in (*result.new_severities, *result.unclear_severities)}
    may_be_failing = bool(fail_on) and any(result.unknown_severities for result in results)
    return {
        "passed": not (failing & reported or may_be_failing),
        "reports": msgspec.to_builtins(reports),
    }


def _refusal(error: type[errors.ApiError], text: str) -> dict[str, Any]:
    """Return the members of the response; the lines after the first are reasons for rows."""
    message, *reasons = text.splitlines()
    return {"code": error.code, "message": message, "reasons": reasons}


def _fail(job: ReportJob) -> None:
    logger.error("report %s was given up after %d attempts", job.pk, job.attempts)
    job.finish(errors.LostReport.status, _refusal(errors.LostReport, errors.LostReport.message))
