"""The endpoints that receive scanner reports and return the outcome of their import."""

import json
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from dashboard_api import errors, limits
from dashboard_api.api import report_request
from dashboard_api.api.request import Reply, check_https, json_endpoint
from dashboard_api.importing import report_files, report_jobs
from dashboard_api.importing.report_files import StoredReport
from dashboard_api.models import ReportJob
from foundation.operations.places import Places

logger = logging.getLogger(__name__)

_places = Places(limits.MAX_REPORTS_AT_ONCE)
# The errors that the import of a report can end with, by code
_ERRORS: dict[str, type[errors.ApiError]] = {
    error.code: error
    for error in (errors.RefusedReport, errors.OtherScanner, errors.InvalidToken, errors.LostReport)
}


@json_endpoint
def send_report(request: HttpRequest) -> Reply:
    """``POST /v1/reports``: store a report, start its import, and wait a few seconds for the outcome."""
    check_https(request)
    if request.META["REQUEST_METHOD"] != "POST":
        raise errors.MethodNotAllowed
    now = timezone.now()
    token = report_request.authenticate(request, now)
    sent = report_request.read_request(request)
    website = report_request.authorize(token, sent.host, now)
    with a_place(token.account_id):
        report_jobs.check_room(token, key=sent.key, now=now)
        token.note_use(now)
        stored = _store(request, sent.options["format_name"])
        try:
            job = report_jobs.add(token, website, stored, sent.options, key=sent.key)
        except Exception:
            report_files.delete(stored.id)
            raise
        report_jobs.run_and_wait(job, seconds=limits.REPORT_WAIT_SECONDS)
    return _reply(job)


@json_endpoint
def sent_report(request: HttpRequest, job: uuid.UUID) -> Reply:
    """``GET /v1/reports/<id>``: return the current outcome; resumes an import that was interrupted."""
    check_https(request)
    if request.META["REQUEST_METHOD"] != "GET":
        raise errors.MethodNotAllowed("GET")
    token = report_request.authenticate(request, timezone.now())
    found = ReportJob.objects.filter(pk=job, token=token).first()
    if found is None:
        raise errors.UnknownReport
    report_jobs.run_and_wait(found, seconds=0)
    return _reply(found)


@contextmanager
def a_place(account_id: int) -> Iterator[None]:
    """Hold one of this process's places for reports; raises TooManyReports or BusyWithReports."""
    if not _places.take(account_id):
        if _places.holds(account_id):
            raise errors.TooManyReports(errors.TooManyReports.AT_ONCE)
        raise errors.BusyWithReports
    try:
        yield
    finally:
        _places.give_back(account_id)


def _store(request: HttpRequest, format_name: str) -> StoredReport:
    parts = report_request.body_of(request, format_name)
    try:
        return report_files.store(parts)
    except OSError as error:
        logger.exception("a report cannot be stored in REPORTS_FOLDER")
        raise errors.CannotStoreReport from error


def _reply(job: ReportJob) -> Reply:
    """Return the outcome of the job, or 202 with the address to fetch it from; raises its ApiError."""
    if job.finished_at is None:
        address = reverse("dashboard_api:sent-report", args=[job.pk])
        headers = {"Location": address, "Retry-After": str(limits.REPORT_RETRY_AFTER_SECONDS)}
        return _json(job, 202, headers, state="waiting", passed=None, reports=[])
    outcome = job.outcome or {}
    if job.status == 200:
        return _json(job, 200, {}, state="done", **outcome)
    # InvalidToken and LostReport have no reasons.
    details = {} if job.status in (401, 500) else {"reasons": outcome["reasons"]}
    error = _ERRORS[outcome["code"]](outcome["message"], **details)
    raise error


def _json(job: ReportJob, status: int, headers: dict[str, str], **members: object) -> Reply:
    body = json.dumps({"ok": True, "id": str(job.pk), **members}, separators=(",", ":"), ensure_ascii=False)
    return Reply(body.encode(), status, headers)
