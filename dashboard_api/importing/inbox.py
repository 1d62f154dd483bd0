"""The inbox: reports that scanners leave as DIR/<host>/<file>, each imported once and as a whole.

Imported files move to DIR/<host>/done, refused files to DIR/<host>/failed with the reason in a separate file.
Digest and modification time identify a file. So a crash before the move repeats no import, and the same bytes
from a later scan are another import.
"""

import fcntl
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from dashboard_api import limits
from dashboard_api.importing.inbox_files import Folder, UnsafeFile
from dashboard_api.importing.inbox_options import SIDECAR
from dashboard_api.importing.inbox_reports import DONE, FAILED, InboxReport, inbox_reports, printable
from dashboard_api.importing.ingest import ImportResult, ReportOptions
from dashboard_api.importing.locations import OutsideWebsite, normalise_location
from dashboard_api.importing.service import EmptyRefusal, ImportOptions, RefusedReport, digest_of, import_file
from dashboard_api.models import ImportRun, Website
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import in_megabytes, unpack
from foundation.addresses.hosts import InvalidHost, normalise_host
from foundation.operations.storage import is_storage_fault

logger = logging.getLogger(__name__)

_LOCK = ".lock"
_BLANK_CHARACTERS = b" \t\r\n\xff\xfe\xef\xbb\xbf"  # white space and byte order marks
_BLANK_BYTES = 1024  # a file that begins with this much white space counts as empty
_WAS_CHANGED = "It changed while it was read; the next run imports it."
_FOR_FORMER_OWNER = "It was written while a former owner had the website, so it is not shown to the new one."
_TOO_LONG = (
    f"The report is larger than {in_megabytes(limits.MAX_REPORT_BYTES)}. Scan in parts, and import one "
    "report for each. Nothing was changed."
)
_EMPTY_ADVICE = (
    f"In that case put it back together with a file that has its name and {SIDECAR}, such as "
    f'report.json{SIDECAR}, with two lines: format = "nuclei" and complete = true'
)


class InboxLocked(Exception):
    """A folder that another run has locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxResult:
    """The outcome of a file: ``results`` of its import, and ``why`` it was not imported or not moved."""

    path: str
    results: Sequence[ImportResult] = ()
    why: str = ""
    is_duplicate: bool = False
    is_recent: bool = False


class _NotYet(Exception):
    """A file that waits for a later run; the message says why."""


def import_all(path: Path, *, options: ReportOptions, by: str) -> Iterator[InboxResult]:
    """Import the reports in the folder at ``path``, the oldest first; raise InboxLocked or UnsafeFile."""
    with Folder.at(path) as inbox, _locked(inbox):
        for report in inbox_reports(inbox):
            if report.is_recent:
                yield InboxResult(path=report.path, is_recent=True)
                continue
            try:
                yield _import(inbox, report, options, by=by)
            except (_NotYet, UnsafeFile) as error:
                yield InboxResult(path=report.path, why=str(error))
            except OSError as error:
                yield InboxResult(path=report.path, why=f"It cannot be read or moved: {error.strerror}.")
            except Exception as error:
                if is_storage_fault(error):
                    raise
                logger.exception("%s: the import failed", report.path)
                why = "The import failed; see the log. The next run tries again."
                yield InboxResult(path=report.path, why=why)


def _import(inbox: Folder, report: InboxReport, options: ReportOptions, *, by: str) -> InboxResult:
    if report.why:
        raise _NotYet(report.why)
    website = _website_of(report)
    options = _options_of(report, website, options)
    with (
        inbox.folder(report.host) as folder,
        folder.own_folder(DONE) as done,
        folder.own_folder(FAILED) as failed,
    ):
        try:
            with folder.open(report.name) as file:
                results = _import_once(file, folder, report, website, options, by=by)
        except RefusedReport as error:
            _check_unchanged(folder, report)  # the next run may find a whole report
            why = f"{error} {_EMPTY_ADVICE}" if isinstance(error, EmptyRefusal) else str(error)
            _move(folder, report, failed, reason=f"{why}\n")
            return InboxResult(path=report.path, why=why)
        try:
            _move(folder, report, done)
        except OSError as error:
            why = f"It was imported, but it cannot be moved to {DONE}: {error.strerror}."
            return InboxResult(path=report.path, results=results, why=why)
    return InboxResult(path=report.path, results=results, is_duplicate=not results)


def _website_of(report: InboxReport) -> Website:
    website = None
    with suppress(InvalidHost):
        website = Website.objects.filter(host=normalise_host(report.host)).first()
    if website is None:
        raise _NotYet(f"There is no website {printable(report.host)}: verify it first.")
    return website


def _options_of(report: InboxReport, website: Website, options: ReportOptions) -> ReportOptions:
    """Return the command's options, overridden by those for the folder and for the report; raise _NotYet."""
    options = replace(options, modified_at=report.modified_at, **report.options)
    base_url = options.base_url and options.base_url.replace("{host}", website.host)  # of the command
    locations = [("base address", base_url), *(("target", target) for target in options.targets)]
    for kind, location in locations:
        try:
            normalise_location(website.host, location or website.host)
        except OutsideWebsite as error:
            raise _NotYet(f"The {kind} {location} {error}. It waits until that is right.") from error
    return replace(options, base_url=base_url)


def _import_once(
    file: BinaryIO, folder: Folder, report: InboxReport, website: Website, options: ReportOptions, *, by: str
) -> list[ImportResult]:
    """Import the file, unless it was imported before; return the result of each report in it."""
    if not report.is_still(os.fstat(file.fileno())):
        raise _NotYet(_WAS_CHANGED)
    if website.retired_ones().filter(retired_at__gte=report.modified_at).exists():
        raise RefusedReport(_FOR_FORMER_OWNER)
    runs = ImportRun.objects.not_undone().filter(website=website, file_modified_at=report.modified_at)
    if report.status.st_size > limits.MAX_REPORT_BYTES:
        raise RefusedReport(_TOO_LONG)
    if runs.filter(digest=digest_of(file)).exists():
        return []
    file.seek(0)
    if not report.is_complete_itself and _is_blank(file):
        # A scanner that crashed leaves an empty file as well, so options for the folder are no proof.
        options = replace(options, complete=False)
    file.seek(0)
    import_options = ImportOptions(
        file_name=report.name,
        by=by,
        report=options,
        before_commit=lambda _: _check_unchanged(folder, report),
    )
    return import_file(file, website, import_options)


def _check_unchanged(folder: Folder, report: InboxReport) -> None:
    if not report.is_still(folder.status(report.name)):
        raise _NotYet(_WAS_CHANGED)


def _is_blank(file: BinaryIO) -> bool:
    try:
        return not unpack(file).read(_BLANK_BYTES).strip(_BLANK_CHARACTERS)
    except UnreadableReport:
        return False  # the import reports the error


def _move(folder: Folder, report: InboxReport, target: Folder, *, reason: str = "") -> None:
    """Move the report, unless another file has taken its name: the next run imports that file."""
    if report.is_still(folder.status(report.name)):
        sidecar = SIDECAR if report.has_sidecar else ""
        folder.move(report.name, target, sidecar=sidecar, reason=reason)


@contextmanager
def _locked(inbox: Folder) -> Iterator[None]:
    with os.fdopen(inbox.lock_file(_LOCK)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InboxLocked from error
        yield
