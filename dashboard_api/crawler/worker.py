"""The worker: claims a job, runs its engines, and stores their reports in one transaction."""

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from dashboard_api.crawler import facts, folders, known_page, policy, queue, retests, schedules
from dashboard_api.crawler.addresses import addresses_of
from dashboard_api.crawler.canary import Look, look
from dashboard_api.crawler.engines import Engine
from dashboard_api.crawler.home_page import HomePage
from dashboard_api.crawler.known_page import FIRST_LOOK
from dashboard_api.crawler.reasons import explanation
from dashboard_api.crawler.runs import BLOCKED, Run, run_engine, user_agent
from dashboard_api.importing.ingest import ImportResult, ReportOptions
from dashboard_api.importing.service import ImportOptions, RefusedReport, import_file
from dashboard_api.models import Coverage, EngineRun, Finding, ImportRun, ScanJob, SiteLink, Website
from dashboard_api.models.scan_job import PAGE_CHANGED
from foundation.outbound.names import NoAddress, origin_of
from foundation.outbound.pace import paced

logger = logging.getLogger(__name__)

# Reasons without a report that coverage shows as a failed check.
_SHOWN_IN_COVERAGE = ("engine_missing", "no_time_left", "robots_txt")
# Errors of our own engines that ``reasons`` explains to the owner.
_CHECK_ERRORS = (
    "no_page",
    "page_unknown",
    "server_error",
    "not_read_to_the_end",
    "scripts_unread",
    "tls_invalid",
)
# The website was not reached, or its page is another one, such as that of a platform where its owner deleted
# it. It did not refuse the scan, so its domain is still checked.
_ONLY_DOMAIN = (
    *("no_address", "alias_missing", "servers_silent", "private_address", "connect_failed", "timed_out"),
    PAGE_CHANGED,
)
# Outcomes by the reason for which the reports of a scan do not count.
_REFUSED_OUTCOMES = {BLOCKED: ScanJob.Outcome.BLOCKED, PAGE_CHANGED: ScanJob.Outcome.DIFFERENT}
_BUSY_ADDRESS_PAUSE = timedelta(seconds=30)  # other scans at the address may end meanwhile


class Stopped(Exception):
    """The worker must stop: its job goes back to the queue."""


class _Cancelled(Exception):
    """The job must be cancelled."""


class Worker:
    """A worker; it calls ``is_stopping`` again and again while an engine runs."""

    def __init__(self, name: str, engines: Sequence[Engine], is_stopping: Callable[[], bool]) -> None:
        self.name, self.engines = name, engines
        self._is_stopping = is_stopping

    def run_one(self) -> ScanJob | None:
        """Run the next job to its end and return it, if any."""
        queue.release_lost()
        folders.remove_left()
        schedules.queue_due(timezone.now())
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
        job.website = Website.objects.get(pk=job.website_id)
        try:
            policy.check_still_allowed(job, timezone.now())
            addresses, refusal = _addresses(job.website.host)
            policy.check_opted_out(job.website, addresses)
        except policy.OptedOut:
            _fail(job, "opted_out")
        except policy.NotIncluded:
            _fail(job, "plan_ended")
        except policy.ConsentMissing:
            _fail(job, "consent_missing")
        except ValidationError:
            _fail(job, "ownership_lapsed")
        else:
            address = addresses[0] if addresses else ""
            if address and not queue.note_address(job, address):
                queue.give_back(job, wait=_BUSY_ADDRESS_PAUSE)
                return
            with folders.scan_folder() as folder, paced(policy.CONNECTIONS_A_SECOND):
                self._run_engines(job, address, folder, refusal)

    def _engines_of(self, job: ScanJob) -> list[Engine]:
        """Return the engines of the job's profile, or the finding's engine for a retest, that run here."""
        engines = [engine for engine in self.engines if engine.runs_here]
        if job.trigger != ScanJob.Trigger.RETEST:
            return [engine for engine in engines if engine.is_part_of(job.profile, job.website.host)]
        findings = Finding.objects.filter(pk=job.finding_id or 0)
        source = findings.values_list("source__slug", flat=True).first()
        return [engine for engine in engines if engine.retests(source or "")]

    def _run_engines(self, job: ScanJob, address: str, folder: Path, refusal: str) -> None:
        """Run the engines and store their reports; a cancellation keeps the runs that ended before it.

        Only engines use up the time of the profile; our own looks at a slow website do not.
        """
        runs: list[Run] = []
        tick = _Tick(job, self._is_stopping)
        engines = self._engines_of(job)
        canary = _Canary(job, address, engines, tick)
        is_retest = job.trigger == ScanJob.Trigger.RETEST
        profile = policy.PROFILES[job.profile]
        seconds_spent, requests_left = 0.0, profile.requests
        cancelled, outcome = False, ""
        try:
            refusal = refusal or canary.look()
            for engine in engines:
                tick.check()
                _note_progress(job, runs, engines, running=engine)
                engine_refusal = "" if engine.is_of_domain and refusal in _ONLY_DOMAIN else refusal
                seconds_left = engine.seconds if is_retest else int(profile.seconds - seconds_spent)
                began = time.monotonic()
                run = run_engine(
                    job,
                    engine,
                    address,
                    folder / engine.name,
                    tick,
                    seconds=0 if engine_refusal else seconds_left,  # 0: the run is only recorded
                    requests=requests_left,
                )
                seconds_spent += time.monotonic() - began
                requests_left -= run.requests
                run.refusal = engine_refusal or run.refusal
                if not engine.is_of_domain:
                    run.refusal = run.refusal or canary.look()
                    refusal = run.refusal
                runs.append(run)
                if is_retest:
                    outcome, run = self._retest(job, run, canary, folder, tick)
                    runs = [run]
                    break
            tick.check()
        except _Cancelled:
            cancelled = True
        _store(job, runs, canary, cancelled=cancelled, outcome=outcome)

    def _retest(
        self, job: ScanJob, run: Run, canary: "_Canary", folder: Path, tick: "_Tick"
    ) -> tuple[str, Run]:
        """Return the outcome of a retest and its last run; a finding is gone if two runs in a row miss it."""
        outcome = _outcome(job, run)
        if outcome == ScanJob.Outcome.GONE and canary.is_first_look:
            return ScanJob.Outcome.INCONCLUSIVE, run
        if outcome != ScanJob.Outcome.GONE:
            return outcome, run
        ends = time.monotonic() + retests.PAUSE_SECONDS
        while time.monotonic() < ends:
            time.sleep(0.1)
            tick()
        profile = policy.PROFILES[job.profile]
        again = run_engine(
            job,
            run.engine,
            canary.address,
            folder / "again",
            tick,
            seconds=run.engine.seconds,
            requests=profile.requests - run.requests,
        )
        if not run.engine.is_of_domain:
            again.refusal = again.refusal or canary.look()
        return _outcome(job, again), again


def _addresses(host: str) -> tuple[list[str], str]:
    """Return the addresses of the host and an empty reason, or no addresses and the reason."""
    try:
        return addresses_of(host), ""
    except NoAddress as error:
        return [], error.reason


class _Canary:
    """Looks at the home page during one scan: the first page is judged, later pages must look like it.

    ``page`` is the first page, or a later one that looks different. A TLS error at the first look does not
    stop the scan, because engines may report its cause.
    """

    def __init__(self, job: ScanJob, address: str, engines: Sequence[Engine], tick: "_Tick") -> None:
        self._job, self._tick = job, tick
        self.address = address
        self._sources = {engine.reports_as for engine in engines}
        # The reason with which a look without a page still counts; unset before the first look.
        self._accepted_reason: str | None = None
        self.page: HomePage | None = None
        self.is_first_look = False
        self.protection = ""  # what seems to have refused the newest look

    def look(self) -> str:
        """Look at the home page; return why the scan must stop, or an empty text if the website answers."""
        seen = self._look_in_thread()
        self.protection = seen.protection
        if self._accepted_reason is None:
            self._accepted_reason = "tls_invalid" if seen.reason == "tls_invalid" else ""
        if seen.page is None:
            return "" if seen.reason == self._accepted_reason else seen.reason
        if self.page is None:
            refusal = known_page.judge(self._job, seen.page, self._sources)
        else:
            refusal = "" if self.page.looks_like(seen.page) else PAGE_CHANGED
        if self.page is None or refusal:
            self.page = seen.page
        if refusal == FIRST_LOOK:
            self.is_first_look, refusal = True, ""
        return refusal

    def may_fix(self, engine: Engine) -> bool:
        """Return whether ``engine`` may fix findings by no longer reporting them; pages need a known page."""
        return engine.is_of_domain or (self.page is not None and not self.is_first_look)

    def _look_in_thread(self) -> Look:
        """Look at the home page in a thread, so that a cancellation need not wait."""
        host = self._job.website.host
        agent, never = user_agent(self._job), policy.never_scanned(host)
        result = Future[Look]()

        def ask() -> None:
            try:
                result.set_result(look(host, self.address, agent, never=never))
            except Exception as error:  # noqa: BLE001 - ``result()`` raises it
                result.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        while not wait([result], timeout=0.1).done:
            self._tick()
        return result.result()


def _outcome(job: ScanJob, run: Run) -> str:
    finding = Finding.objects.filter(pk=job.finding_id or 0).first()
    if finding is None or run.refusal or run.row.state != EngineRun.State.OK:
        return ScanJob.Outcome.INCONCLUSIVE
    return retests.outcome_of(run.engine, finding, run.report)


def _fail(job: ScanJob, reason: str) -> None:
    with transaction.atomic():
        queue.end(job, ScanJob.State.FAILED, reason=reason)
        schedules.note_end(job)


def _note_progress(job: ScanJob, runs: Sequence[Run], engines: Sequence[Engine], *, running: Engine) -> None:
    """Store the state of each engine while the scan runs."""
    ended = [
        {
            "engine": run.row.engine,
            "state": run.row.state,
            "reason": run.row.reason,
            "started_at": run.row.started_at.isoformat(),
            "ended_at": run.row.ended_at.isoformat(),
        }
        for run in runs
    ]
    running_row = {"engine": running.name, "state": "running", "started_at": timezone.now().isoformat()}
    waiting = [{"engine": engine.name, "state": "waiting"} for engine in engines[len(runs) + 1 :]]
    queue.note_progress(job, [*ended, running_row, *waiting])


class _Tick:
    """Renews the lease; notices a cancellation, a revoked link and the end of the worker."""

    def __init__(self, job: ScanJob, is_stopping: Callable[[], bool]) -> None:
        self._job, self._is_stopping = job, is_stopping
        self._checked = time.monotonic()

    def __call__(self) -> None:
        """Call ``check`` every few seconds, and at once when the worker stops."""
        if self._is_stopping() or time.monotonic() - self._checked > policy.RENEWAL_SECONDS:
            self.check()

    def check(self) -> None:
        """Renew the lease; raise Stopped, LostLease or _Cancelled."""
        if self._is_stopping():
            raise Stopped
        job = self._job
        queue.renew(job)
        self._checked = time.monotonic()
        links = SiteLink.objects.not_revoked().filter(account=job.account_id, website=job.website_id)
        is_unlinked = job.account_id is not None and not links.exists()  # scans by staff need no link
        if job.cancel_requested_at is not None or is_unlinked:
            raise _Cancelled


def _store(job: ScanJob, runs: Sequence[Run], canary: _Canary, *, cancelled: bool, outcome: str = "") -> None:
    """Import the reports and end the job in one transaction, which LostLease rolls back."""
    with transaction.atomic():
        queue.renew(job)  # locks the row: no other worker takes the job before the commit
        for run in runs:
            if run.refusal and run.row.reason != "engine_missing":
                run.row.state = EngineRun.State.BLOCKED if run.refusal == BLOCKED else EngineRun.State.FAILED
                run.row.reason = run.refusal
            if run.refusal or run.row.reason in _SHOWN_IN_COVERAGE:
                _report_failure(run)
        are_complete = [_import(job, run, may_fix=canary.may_fix(run.engine)) for run in runs]
        _store_facts(job, runs, canary.page)
        EngineRun.objects.bulk_create(run.row for run in runs)
        refusal = next((run.refusal for run in runs if run.refusal), "")
        ok = [run for run in runs if run.row.state == EngineRun.State.OK]
        page = canary.page if refusal in ("", PAGE_CHANGED) else None
        first_look = FIRST_LOOK if canary.is_first_look else ""
        if cancelled:
            queue.end(job, ScanJob.State.CANCELLED, reason="cancelled")
        elif outcome:
            is_open = Finding.objects.filter(pk=job.finding_id or 0, status=Finding.Status.OPEN).exists()
            if outcome == ScanJob.Outcome.GONE and is_open:  # the import did not fix it: not in its scope
                outcome = ScanJob.Outcome.INCONCLUSIVE
            is_unclear = outcome == ScanJob.Outcome.INCONCLUSIVE
            reason = (first_look or _first_reason(runs)) if is_unclear else ""
            _finish(job, outcome, page, reason=refusal or reason, protection=canary.protection)
        elif refusal in _REFUSED_OUTCOMES:
            protection = canary.protection
            _finish(job, _REFUSED_OUTCOMES[refusal], page, reason=refusal, protection=protection)
        elif ok and all(are_complete) and not first_look:
            _finish(job, ScanJob.Outcome.COMPLETE, page, reason=refusal)
        elif ok:
            reason = refusal or first_look or _first_reason(runs)
            _finish(job, ScanJob.Outcome.PARTIAL, page, reason=reason)
        else:
            _fail(job, refusal or (runs[0].row.reason if runs else "engine_missing"))


def _first_reason(runs: Sequence[Run]) -> str:
    """Return why a scan is partial: the first reason among its runs."""
    return next((run.row.reason for run in runs if run.row.reason), "not_all_checked")


def _finish(
    job: ScanJob, outcome: str, page: HomePage | None, *, reason: str = "", protection: str = ""
) -> None:
    seen = msgspec.to_builtins(page) if page else None
    state = ScanJob.State.FINISHED
    queue.end(job, state, outcome=outcome, reason=reason, page=seen, protection=protection)
    schedules.note_end(job)


def _report_failure(run: Run) -> None:
    """Replace the engine's report by our own about a failed check, which neither adds nor fixes findings."""
    home_page_url = f"{origin_of(run.row.job.website.host)}/"
    rows = [
        {"scan": "findings/1", "source": run.engine.reports_as, "name": run.engine.title or run.engine.name},
        {"checked": home_page_url, "error": explanation(run.row.reason)},
        {"complete": False},
    ]
    run.report.unlink(missing_ok=True)
    run.report.write_text("\n".join(json.dumps(row) for row in rows))
    run.is_ours = True


def _import(job: ScanJob, run: Run, *, may_fix: bool) -> bool:
    """Import the report of a run, if any; return whether this part of the scan is complete."""
    if run.row.state != EngineRun.State.OK and not run.is_ours:
        return False
    try:
        with run.report.open("rb") as file:
            options = ImportOptions(
                file_name=f"{run.engine.name}, scan {job.pk}",
                by=f"scan {job.pk}",
                report=_report_options(run, run.row.started_at, may_fix=may_fix),
                max_bytes=run.engine.report_mb * 1024**2,
            )
            results = import_file(file, job.website, options)
    except (OSError, RefusedReport) as error:
        logger.warning("scan %s: the report of %s was refused: %s", job.pk, run.engine.name, error)
        run.row.state, run.row.reason = EngineRun.State.FAILED, "report_unreadable"
        return False
    # import_file locked the website, so this import is the newest one.
    run.row.import_run = ImportRun.objects.filter(website=job.website_id).latest("pk")
    run.row.reason = run.row.reason or _failed_check(results)
    return all(result.state == Coverage.State.OK for result in results)


def _store_facts(job: ScanJob, runs: Sequence[Run], page: HomePage | None) -> None:
    """Store the facts of the built-in engines whose reports count."""
    ok = [run for run in runs if run.engine.is_built_in and run.row.state == EngineRun.State.OK]
    if not ok:
        return
    # A protection may answer the very first scan; its scripts are not those of the website.
    is_sure = (page is not None and page.has_content) or known_page.known_page(job.website_id, before=job)
    for run in ok:
        facts.store(job.website_id, run.report.parent, seen_at=run.row.started_at, may_begin=bool(is_sure))


def _failed_check(results: Sequence[ImportResult]) -> str:
    """Return the first error of a failed check that ``reasons`` explains."""
    # The last word of a reason is the error that the engine wrote.
    errors = (row.reason.rpartition(" ")[2] for result in results for row in result.failures)
    return next((error for error in errors if error in _CHECK_ERRORS), "")


def _report_options(run: Run, started: datetime, *, may_fix: bool) -> ReportOptions:
    succeeded = run.row.exit_code in run.engine.success
    return ReportOptions(
        format_name="findings" if run.is_ours else run.engine.format,
        complete=run.engine.complete and succeeded and not run.is_ours,
        category=run.engine.category,
        modified_at=started,
        base_url=f"{origin_of(run.row.job.website.host)}/",
        may_fix=may_fix,
    )
