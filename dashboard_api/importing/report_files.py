"""Files of reports that were sent over HTTP, in REPORTS_FOLDER until their job has finished.

The process that imports a file holds its lock; the operating system releases it if the process dies.
"""

import fcntl
import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """A report on disk; ``id`` is also the id of its job, and ``digest`` the SHA-256 of its bytes."""

    id: uuid.UUID
    digest: str


def store(parts: Iterable[bytes]) -> StoredReport:
    """Write the report to disk, whole or not at all; raises OSError, and what ``parts`` raises."""
    folder, job = _folder(), uuid.uuid4()
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    unfinished = folder / f"{job}{_UNFINISHED}"
    digest = hashlib.sha256()
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for part in parts:
                digest.update(part)
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(folder / str(job))
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return StoredReport(id=job, digest=digest.hexdigest())


@contextmanager
def locked(job: uuid.UUID) -> Iterator[BinaryIO | None]:
    """Yield the open, locked file; None if it is missing or another process has the lock."""
    try:
        file = (_folder() / str(job)).open("rb")
    except FileNotFoundError:
        yield None
        return
    with file:
        yield file if _try_to_lock(file) else None


def delete(job: uuid.UUID) -> None:
    """Delete the file, if there is one."""
    (_folder() / str(job)).unlink(missing_ok=True)


def delete_orphan(job: uuid.UUID, *, before: datetime) -> None:
    """Delete the file if it was written ``before``; the job of a newer file may not be stored yet."""
    path = _folder() / str(job)
    with suppress(FileNotFoundError):
        if path.stat().st_mtime < before.timestamp():
            path.unlink()


def stored_jobs() -> list[uuid.UUID]:
    """Return the ids of the jobs with a file in the folder."""
    if not _folder().is_dir():
        return []
    return [job for path in _folder().iterdir() if (job := _id_in(path.name))]


def delete_unfinished(*, before: datetime) -> int:
    """Delete incomplete files, last written ``before``, that crashes left; return their number."""
    if not _folder().is_dir():
        return 0
    old = [path for path in _folder().glob(f"*{_UNFINISHED}") if path.stat().st_mtime < before.timestamp()]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _folder() -> Path:
    return Path(settings.REPORTS_FOLDER)


def _try_to_lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _id_in(name: str) -> uuid.UUID | None:
    with suppress(ValueError):
        return uuid.UUID(name)
    return None
