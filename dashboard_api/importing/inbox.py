"""A folder where scanners leave reports, DIR/<host>/<file>: each is imported once, and never half.

What was imported moves to DIR/<host>/done, what was refused to DIR/<host>/failed with the reason in a file
of its own. A file is known by its digest and its modification time, so a crash before it is moved repeats
nothing, and the same bytes of a later scan are another import (decision record 0037).
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from dashboard_api.importing.inbox_files import Folder, UnsafeFile
from dashboard_api.importing.inbox_options import SIDECAR
from dashboard_api.importing.inbox_waiting import DONE, FAILED, WaitingReport, printable, waiting_reports
from dashboard_api.importing.ingest import ImportResult
from dashboard_api.importing.locations import Elsewhere, place_on
from dashboard_api.importing.service import EmptyRefusal, RefusedReport, Said, digest_of, import_file
from dashboard_api.models import ImportRun, Website
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import unpack
from foundation.hosts import InvalidHost, normalise_host

_LOCK = ".lock"
_BLANK_BYTES = 1024  # a file that begins with this much white space counts as empty
_CHANGED = "It changed while it was read; it is left for the next time."
_EMPTY_ADVICE = (
    f"In that case put it back together with a file that has its name and {SIDECAR}, such as "
    f"report.json{SIDECAR}, which says: complete = true"
)


class Busy(Exception):
    """Another run is at work in the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a file: imported with ``results``, refused or left with ``why``, or known already."""

    path: str
    results: Sequence[ImportResult] = ()
    why: str = ""
    is_known: bool = False


class _Left(Exception):
    """The file stays where it is, for the next run; the message says why."""


def take_all(path: Path, *, said: Said, by: str) -> Iterator[Taken]:
    """Import what waits in the folder at ``path``, the oldest first; raises Busy or UnsafeFile."""
    with Folder.at(path) as inbox, _alone(inbox):
        for report in waiting_reports(inbox):
            try:
                yield _take(inbox, report, said, by=by)
            except (_Left, UnsafeFile) as error:
                yield Taken(path=report.path, why=str(error))
            except OSError as error:
                yield Taken(path=report.path, why=f"It cannot be read or moved: {error.strerror}.")


def _take(inbox: Folder, report: WaitingReport, said: Said, *, by: str) -> Taken:
    if report.why:
        raise _Left(report.why)
    website = _website_of(report)
    said = _said_of(report, website, said)
    with (
        inbox.folder(report.host) as folder,
        folder.own_folder(DONE) as done,
        folder.own_folder(FAILED) as failed,
    ):
        try:
            with folder.open(report.name) as file:
                results = _imported(file, folder, report, website, said, by=by)
        except RefusedReport as error:
            _check_unchanged(folder, report)  # a half-written report may be whole the next time
            why = f"{error} {_EMPTY_ADVICE}" if isinstance(error, EmptyRefusal) else str(error)
            _move(folder, report, failed, reason=f"{why}\n")
            return Taken(path=report.path, why=why)
        try:
            _move(folder, report, done)
        except OSError as error:
            why = f"It was imported, but it cannot be moved to {DONE}: {error.strerror}."
            return Taken(path=report.path, results=results, why=why)
    return Taken(path=report.path, results=results, is_known=not results)


def _website_of(report: WaitingReport) -> Website:
    website = None
    with suppress(InvalidHost):
        website = Website.objects.filter(host=normalise_host(report.host)).first()
    if website is None:
        raise _Left(f"There is no website {printable(report.host)}: verify it first.")
    return website


def _said_of(report: WaitingReport, website: Website, said: Said) -> Said:
    """Return the options for this report: the command's, its folder's and its own; later ones win."""
    said = replace(said, modified_at=report.modified_at, **report.options)
    base_url = said.base_url and said.base_url.replace("{host}", website.host)
    for kind, place in [("base address", base_url), *(("target", target) for target in said.targets)]:
        try:
            place_on(website.host, place or website.host)
        except Elsewhere as error:
            raise _Left(f"The {kind} {place} {error}. It waits until that is right.") from error
    return replace(said, base_url=base_url)


def _imported(
    file: BinaryIO, folder: Folder, report: WaitingReport, website: Website, said: Said, *, by: str
) -> list[ImportResult]:
    """Return the result of each report in the file; none for a file that was imported before."""
    if not report.is_still(os.fstat(file.fileno())):
        raise _Left(_CHANGED)
    known = ImportRun.objects.filter(website=website, file_modified_at=report.modified_at)
    if known.filter(digest=digest_of(file)).exists():
        return []
    file.seek(0)
    if not report.is_complete_itself and _is_blank(file):
        # A scanner that crashed leaves an empty file, too.
        said = replace(said, complete=False)
    file.seek(0)
    return import_file(
        file, website, said, file_name=report.name, by=by, preview=lambda: _check_unchanged(folder, report)
    )


def _check_unchanged(folder: Folder, report: WaitingReport) -> None:
    if not report.is_still(folder.status(report.name)):
        raise _Left(_CHANGED)


def _is_blank(file: BinaryIO) -> bool:
    try:
        return not unpack(file).read(_BLANK_BYTES).strip()
    except UnreadableReport:
        return False  # the import says what is wrong


def _move(folder: Folder, report: WaitingReport, target: Folder, *, reason: str = "") -> None:
    """Move the report, unless another file took its name meanwhile, which is left for the next run."""
    if report.is_still(folder.status(report.name)):
        sidecar = SIDECAR if report.has_sidecar else ""
        folder.move(report.name, target, sidecar=sidecar, reason=reason)


@contextmanager
def _alone(inbox: Folder) -> Iterator[None]:
    lock = inbox.lock_file(_LOCK)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy from error
        yield
    finally:
        os.close(lock)
