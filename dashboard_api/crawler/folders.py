"""Folders of scans: a worker locks its folder, so an unlocked folder was left by a killed worker."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "dashboard-scan-"
_NEW_SECONDS = 60.0  # a worker may not have locked a newer folder yet


@contextmanager
def scan_folder() -> Iterator[Path]:
    """Yield a locked folder, which is removed afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name,
        _open_folder(name) as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def remove_left() -> None:
    """Remove the folders that killed workers left on this machine."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), _open_folder(folder) as lock:  # another user's, or removed meanwhile
            if time.time() - os.fstat(lock).st_mtime > _NEW_SECONDS:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the worker lives
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _open_folder(folder: str | Path) -> Iterator[int]:
    """Yield the file descriptor of a folder, which can be locked."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
