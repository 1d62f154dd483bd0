"""The machine: what it is, and what its kernel says that processes have cost."""

import os
import platform
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

import django

# Places in /proc/PID/stat, after the name.
_STATE, _PARENT = 0, 1


def described() -> str:
    """One line that belongs beside every figure."""
    processors = len(os.sched_getaffinity(0))
    return (
        f"{_processor()}, {processors} cores; Python {platform.python_version()}, "
        f"Django {django.__version__}, SQLite {sqlite3.sqlite_version}."
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def cpu_seconds(processes: Iterable[int]) -> float:
    """What all threads of the ``processes`` that run have cost so far, by the scheduler's own clock."""
    spent = 0
    for process in processes:
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            for thread in Path(f"/proc/{process}/task").iterdir():
                spent += int((thread / "schedstat").read_text().split()[0])
    return spent / 1e9


def cpu_seconds_once_idle(processes: Collection[int]) -> float:
    """The same as soon as they wait for work: what they do after an answer is not known while they run."""
    for process in processes:
        while _status(process)[_STATE] == "R":
            pass
    return cpu_seconds(processes)


def parent_of(process: int) -> int:
    """The process that has started ``process``."""
    return int(_status(process)[_PARENT])


def children_of(process: int) -> list[int]:
    """The processes that ``process`` has started and that still run."""
    children = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if parent_of(int(folder.name)) == process:
                children.append(int(folder.name))
    return children


def _status(process: int) -> list[str]:
    """The fields of ``/proc/PID/stat`` after the name, which may itself hold spaces."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
