"""The worker: claims a job, runs its engines, and stores what they report, all of it or nothing."""

import logging
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from dashboard_api.crawler import policy, process, queue
from dashboard_api.crawler.addresses import address_of
from dashboard_api.crawler.engines import Engine
from dashboard_api.importing.ingest import ImportOptions
from dashboard_api.importing.service import RefusedReport, import_file
from dashboard_api.models import Coverage, EngineRun, ImportRun, ScanJob, Website
from dashboard_api.scanners.redaction import redact_headers
from foundation.outbound.names import NoAddress

logger = logging.getLogger(__name__)

_SIGNALS = {-24: "engine_timeout", -25: "too_much_output"}  # SIGXCPU, SIGXFSZ


class Stopped(Exception):
    """The worker is to end: its job goes back to the queue."""


class _Cancelled(Exception):
    """The job is to be cancelled."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """A run that has ended, whose report is not imported yet."""

    engine: Engine
    row: EngineRun
    report: Path


class Worker:
    """A worker named ``name``; ``is_stopping`` is asked while an engine runs."""

    def __init__(self, name: str, engines: Sequence[Engine], is_stopping: Callable[[], bool]) -> None:
        self.name, self.engines, self._is_stopping = name, engines, is_stopping

    def run_one(self) -> ScanJob | None:
        """Run the next job to its end, and return it; None if there is none."""
        queue.release_lost()
        job = queue.claim(self.name)
        if job is not None:
            try:
                self._run(job)
            except queue.LostLease:
                logger.warning("scan %s: the lease was lost, so nothing was stored", job.pk)
            except Stopped:
                queue.give_back(job)
            job.refresh_from_db()
        return job

    def _run(self, job: ScanJob) -> None:
        website = Website.objects.get(pk=job.website_id)
        try:
            policy.check_scannable(website)
            address = address_of(website.host)
        except ValidationError:
            queue.end(job, ScanJob.State.FAILED, reason="ownership_lapsed")
        except NoAddress as error:
            queue.end(job, ScanJob.State.FAILED, reason=error.reason)
        else:
            with tempfile.TemporaryDirectory(prefix="scan-", ignore_cleanup_errors=True) as folder:
                self._run_engines(job, address, Path(folder))

    def _run_engines(self, job: ScanJob, address: str, folder: Path) -> None:
        """Run the engines, and store their reports; what ended before a cancellation is kept."""
        runs: list[_Run] = []
        tick = _Tick(job, self._is_stopping)
        cancelled = False
        try:
            for engine in self.engines:
                tick.check()
                runs.append(_run_engine(job, engine, address, folder / engine.name, tick))
            tick.check()
        except _Cancelled:
            cancelled = True
        _store(job, runs, cancelled=cancelled)


class _Tick:
    """Renews the lease, and notices a cancellation and the end of the worker."""

    def __init__(self, job: ScanJob, is_stopping: Callable[[], bool]) -> None:
        self._job, self._is_stopping = job, is_stopping
        self._checked = time.monotonic()

    def __call__(self) -> None:
        """Check from time to time."""
        if self._is_stopping() or time.monotonic() - self._checked > policy.RENEWAL_SECONDS:
            self.check()

    def check(self) -> None:
        """Raise Stopped, LostLease or _Cancelled."""
        if self._is_stopping():
            raise Stopped
        queue.renew(self._job)
        self._checked = time.monotonic()
        if self._job.cancel_requested_at is not None:
            raise _Cancelled


def _run_engine(job: ScanJob, engine: Engine, address: str, folder: Path, tick: Callable[[], object]) -> _Run:
    folder.mkdir()
    report, started = folder / "report", timezone.now()
    program = engine.program()
    row = EngineRun(job=job, engine=engine.name, address=address, started_at=started, ended_at=started)
    if program is None:
        row.state, row.reason = EngineRun.State.SKIPPED, "engine_missing"
        return _Run(engine=engine, row=row, report=report)
    arguments = engine.arguments(host=job.website.host, address=address, report=report)
    mark = f"{job.worker}/{job.pk}-{job.attempt}"
    ended = process.run(engine, program, arguments, folder=folder, mark=mark, tick=tick)
    row.exit_code, row.ended_at, row.log = ended.exit_code, timezone.now(), redact_headers(ended.log)
    row.state, row.reason = _judged(engine, ended, report)
    return _Run(engine=engine, row=row, report=report)


def _judged(engine: Engine, ended: process.Ended, report: Path) -> tuple[str, str]:
    """Return state and reason of a run; whether its report is readable is seen when it is imported."""
    if ended.reason:
        state = EngineRun.State.TIMED_OUT if ended.reason == "engine_timeout" else EngineRun.State.FAILED
        return state, ended.reason
    code = ended.exit_code or 0
    if report.is_file() and not report.is_symlink() and report.stat().st_size and code >= 0:
        return EngineRun.State.OK, ""
    known = engine.exit_codes.get(str(code)) or _SIGNALS.get(code)
    return EngineRun.State.FAILED, known or ("engine_crashed" if code else "no_report")


def _store(job: ScanJob, runs: Sequence[_Run], *, cancelled: bool) -> None:
    """Import the reports and end the job in one transaction; raise LostLease, and change nothing."""
    with transaction.atomic():
        queue.renew(job)  # locks the row: no other worker takes the job until the end
        whole = [_import(job, run) for run in runs]
        EngineRun.objects.bulk_create(run.row for run in runs)
        ok = [run for run in runs if run.row.state == EngineRun.State.OK]
        if cancelled:
            queue.end(job, ScanJob.State.CANCELLED, reason="cancelled")
        elif ok:
            outcome = ScanJob.Outcome.COMPLETE if all(whole) else ScanJob.Outcome.PARTIAL
            queue.end(job, ScanJob.State.FINISHED, outcome=outcome)
        else:
            queue.end(job, ScanJob.State.FAILED, reason=runs[0].row.reason if runs else "engine_missing")


def _import(job: ScanJob, run: _Run) -> bool:
    """Import the report of a run, if there is one; return whether its part of the scan is complete."""
    if run.row.state != EngineRun.State.OK:
        return run.engine.optional and run.row.state == EngineRun.State.SKIPPED
    try:
        with run.report.open("rb") as file:
            results = import_file(
                file,
                job.website,
                _options(run, run.row.started_at),
                file_name=f"{run.engine.name}, scan {job.pk}",
                by=f"scan {job.pk}",
                max_bytes=run.engine.report_mb * 1024**2,
            )
    except (OSError, RefusedReport) as error:
        logger.warning("scan %s: the report of %s was refused: %s", job.pk, run.engine.name, error)
        run.row.state, run.row.reason = EngineRun.State.FAILED, "report_unreadable"
        return False
    # The website is locked by the import, so its newest import is this one.
    run.row.import_run = ImportRun.objects.filter(website=job.website_id).latest("pk")
    return all(result.state == Coverage.State.OK for result in results)


def _options(run: _Run, started: datetime) -> ImportOptions:
    succeeded = run.row.exit_code in run.engine.success
    return ImportOptions(
        format_name=run.engine.format,
        complete=run.engine.complete and succeeded,
        modified_at=started,
        base_url=f"https://{run.row.job.website.host}/",
    )
