"""The reports in an inbox, each with its options."""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard_api import limits
from dashboard_api.importing.inbox_files import Folder, UnsafeFile
from dashboard_api.importing.inbox_options import MAX_BYTES, OF_FOLDER, SIDECAR, WrongOptions, options_in

DONE, FAILED = "done", "failed"
_LINK = "It is a link: put the folder itself here."
_UNFINISHED_SUFFIXES = (".part", ".partial", ".tmp", ".crdownload")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxReport:
    """A report in the inbox; ``why`` says why it cannot be imported yet, and is empty if it can."""

    host: str
    name: str
    status: os.stat_result
    has_sidecar: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)  # fields of ``ReportOptions``
    is_complete_itself: bool = False  # its sidecar says complete = true
    why: str = ""
    is_recent: bool = False  # a scanner may still write it

    @property
    def path(self) -> str:
        """The path in the inbox, safe to print."""
        return "/".join(map(printable, filter(None, (self.host, self.name))))

    @property
    def modified_at(self) -> datetime:
        """The time of the file's last change."""
        seconds, nanoseconds = divmod(self.status.st_mtime_ns, 10**9)
        seconds = min(max(seconds, 0), _LAST_SECOND)  # what a datetime can hold
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)

    @property
    def order(self) -> tuple[datetime, str, str]:
        """The sort key of reports: the oldest scan first."""
        return (self.options.get("scanned_at") or self.modified_at, self.host, self.name)

    def is_still(self, status: os.stat_result) -> bool:
        """Return whether ``status`` shows the same file, unchanged."""
        return _unchanged_values(self.status) == _unchanged_values(status)


def inbox_reports(inbox: Folder) -> list[InboxReport]:
    """Return all reports, the oldest scan first, even if they cannot be imported yet."""
    reports: list[InboxReport] = []
    for host, status in inbox.statuses().items():
        if stat.S_ISLNK(status.st_mode):
            reports.append(InboxReport(host=host, name="", status=status, why=_LINK))
        elif stat.S_ISDIR(status.st_mode) and not host.startswith("."):
            reports += _reports_of(inbox, host, status)
    return sorted(reports, key=lambda report: report.order)


def _reports_of(inbox: Folder, host: str, status: os.stat_result) -> list[InboxReport]:
    try:
        with inbox.folder(host) as folder:
            return list(_reports_in(folder, host))
    except UnsafeFile as error:
        why = str(error)
    except OSError as error:
        why = f"It cannot be read: {error.strerror}."
    return [InboxReport(host=host, name="", status=status, why=why)]


def printable(name: str) -> str:
    """Return ``name`` with unprintable characters escaped: other users choose names."""
    return name if name.isprintable() else ascii(name)


def _reports_in(folder: Folder, host: str) -> Iterator[InboxReport]:
    statuses = folder.statuses()
    for name, status in statuses.items():
        if not _is_report(name, status):
            continue
        has_sidecar = name + SIDECAR in statuses
        report = InboxReport(host=host, name=name, status=status, has_sidecar=has_sidecar)
        if why := _objection(folder, report):
            yield replace(report, why=why)
        elif _have_settled(statuses.get(each) for each in (name, name + SIDECAR, OF_FOLDER)):
            yield _with_options(folder, report, has_folder_options=OF_FOLDER in statuses)
        else:
            yield replace(report, is_recent=True)


def _is_report(name: str, status: os.stat_result) -> bool:
    is_ours = (
        name in (DONE, FAILED) or name.startswith(".") or name.endswith((*_UNFINISHED_SUFFIXES, SIDECAR))
    )
    return not is_ours and not stat.S_ISDIR(status.st_mode)


def _objection(folder: Folder, report: InboxReport) -> str:
    if not report.name.isprintable():
        return "Its name has characters that cannot be printed: rename it."
    if report.status.st_mtime > time.time() + limits.INBOX_SETTLE_SECONDS:
        return f"It was last changed in the future ({report.modified_at:%Y-%m-%d %H:%M} UTC): set its time."
    return folder.objection(report.status)


def _have_settled(statuses: Iterable[os.stat_result | None]) -> bool:
    """Return whether the time of every file is more than INBOX_SETTLE_SECONDS from now."""
    now = time.time()
    return not any(abs(now - status.st_mtime) < limits.INBOX_SETTLE_SECONDS for status in statuses if status)


def _with_options(folder: Folder, report: InboxReport, *, has_folder_options: bool) -> InboxReport:
    """Return ``report`` with its options, or with ``why`` it waits if one is wrong."""
    try:
        options_of_folder = _read(folder, OF_FOLDER) if has_folder_options else {}
        own_options = _read(folder, report.name + SIDECAR) if report.has_sidecar else {}
    except WrongOptions as error:
        return replace(report, why=str(error))
    return replace(
        report, options=options_of_folder | own_options, is_complete_itself=own_options.get("complete", False)
    )


def _read(folder: Folder, name: str) -> dict[str, Any]:
    try:
        with folder.open(name) as file:
            return options_in(file.read(MAX_BYTES + 1), is_sidecar=name != OF_FOLDER)
    except UnsafeFile as error:
        raise WrongOptions(f"{name} is not read. {error}") from error
    except OSError as error:
        raise WrongOptions(f"{name} cannot be read: {error.strerror}.") from error
    except WrongOptions as error:
        raise WrongOptions(f"{name} {error}. It waits until that is right.") from error


def _unchanged_values(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
