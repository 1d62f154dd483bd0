"""A folder where scanners leave reports, DIR/<host>/<file>: each is imported once, and never half.

What was imported goes to DIR/<host>/done, what was refused to DIR/<host>/failed with the reason beside it.
The record of the import knows a file by its digest, so a crash before it is moved repeats nothing.
"""

import fcntl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard_api import policy
from dashboard_api.hosts import InvalidHost, normalise_host
from dashboard_api.imports import RefusedReport, Said, digest_of, import_file
from dashboard_api.ingest import ImportResult
from dashboard_api.models import ImportRun, Website

DONE, FAILED = "done", "failed"
_UNFINISHED = (".part", ".partial", ".tmp", ".crdownload")


class Busy(Exception):
    """Another run is at work in the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a file: imported with ``results``, refused or left with ``why``, or known already."""

    file: Path
    results: Sequence[ImportResult] = ()
    why: str = ""
    is_known: bool = False


def take_all(folder: Path, *, said: Said, by: str) -> Iterator[Taken]:
    """Import what waits in ``folder``, by host and name; raises Busy."""
    with _alone(folder):
        for file in list(_waiting(folder)):
            website = _website_of(file)
            if website is None:
                yield Taken(file=file, why=f"There is no website {file.parent.name}: verify it first.")
            else:
                yield _take(file, website, said=_of(website, said), by=by)


def _waiting(folder: Path) -> Iterator[Path]:
    """Files that nobody has written to for a while."""
    settled = time.time() - policy.INBOX_SETTLE_SECONDS
    for file in sorted(folder.glob("*/*")):
        is_finished = not file.name.startswith(".") and not file.name.endswith(_UNFINISHED)
        if is_finished and file.is_file() and file.stat().st_mtime <= settled:
            yield file


def _website_of(file: Path) -> Website | None:
    try:
        return Website.objects.filter(host=normalise_host(file.parent.name)).first()
    except InvalidHost:
        return None


def _of(website: Website, said: Said) -> Said:
    """What is said of every website, of this one."""
    return replace(said, base_url=said.base_url and said.base_url.replace("{host}", website.host))


def _take(file: Path, website: Website, *, said: Said, by: str) -> Taken:
    before = file.stat()

    def check_unchanged() -> None:
        if (file.stat().st_size, file.stat().st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise _StillWritten

    try:
        with file.open("rb") as stream:
            if ImportRun.objects.filter(website=website, digest=digest_of(stream)).exists():
                _move(file, DONE)
                return Taken(file=file, is_known=True)
            stream.seek(0)
            results = import_file(stream, website, said, file_name=file.name, by=by, preview=check_unchanged)
    except _StillWritten:
        return Taken(file=file, why="It changed while it was read; it is left for the next time.")
    except OSError as error:
        return Taken(file=file, why=f"It cannot be read: {error.strerror}.")
    except RefusedReport as error:
        _move(file, FAILED).with_suffix(".why.txt").write_text(f"{error}\n")
        return Taken(file=file, why=str(error))
    _move(file, DONE)
    return Taken(file=file, results=results)


class _StillWritten(Exception):
    """Somebody writes to the file that is being imported."""


def _move(file: Path, folder: str) -> Path:
    """To a folder beside it, under a name that is free."""
    target = file.parent / folder / file.name
    target.parent.mkdir(exist_ok=True)
    number = 1
    while target.exists():
        number += 1
        target = target.with_name(f"{file.stem}-{number}{file.suffix}")
    return file.rename(target)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy from error
        yield
