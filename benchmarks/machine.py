"""The machine: its description, its processes, and their CPU time as the kernel counts it."""

import os
import platform
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

import django

# Positions in /proc/PID/stat, after the name.
_STATE, _PARENT = 0, 1


def describe_machine() -> str:
    """Return one line about processor and software; it belongs to every figure."""
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
    """Return the CPU time so far of all threads of running processes, by the clock of the scheduler."""
    nanoseconds = 0
    for process in processes:
        with suppress(FileNotFoundError, ProcessLookupError):  # the process ended
            for thread in Path(f"/proc/{process}/task").iterdir():
                nanoseconds += int((thread / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def cpu_seconds_once_idle(processes: Collection[int]) -> float:
    """Return the CPU time once the processes wait: they may still work after they have sent a result."""
    for process in processes:
        while _status(process)[_STATE] == "R":
            pass
    return cpu_seconds(processes)


def memory_mb(process: int) -> int:
    """Return the resident memory of a process in MB; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def parent_of(process: int) -> int:
    """Return the id of a process's parent."""
    return int(_status(process)[_PARENT])


def children_of(process: int) -> list[int]:
    """Return the ids of the running children of a process."""
    children = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if parent_of(int(folder.name)) == process:
                children.append(int(folder.name))
    return children


def _status(process: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` after the name, which may itself contain spaces."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
