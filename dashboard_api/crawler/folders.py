"""Folders of scans: a worker locks its folder, so an unlocked folder was left by a killed worker."""

import fcntl
import os
import subprocess
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
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with _open_folder(folder) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        _remove(folder)


def remove_left() -> None:
    """Remove the folders that killed workers left on this machine."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), _open_folder(folder) as lock:  # another user's, or removed meanwhile
            if time.time() - os.fstat(lock).st_mtime > _NEW_SECONDS:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the worker lives
                _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the folder with whatever an engine left: Python's own function fails at deep folders."""
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        subprocess.run([*command, "--", str(folder)], capture_output=True, check=False)  # noqa: S603


@contextmanager
def _open_folder(folder: str | Path) -> Iterator[int]:
    """Yield the file descriptor of a folder, which can be locked."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
