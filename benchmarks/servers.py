"""Run the product under gunicorn with threads, as in a deployment, and read CPU times from the kernel."""

import os
import platform
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import django
from django.db import connection

from benchmarks import databases
from benchmarks.http_load import LOOPBACK

# Positions in /proc/PID/stat, after the name.
_STATE, _PARENT = 0, 1


def describe_machine() -> str:
    """Return one line about processor and software, which belongs to every figure."""
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
    """Return the CPU time so far of all threads of running processes, by the scheduler's clock."""
    nanoseconds = 0
    for process in processes:
        with suppress(FileNotFoundError, ProcessLookupError):  # the process ended
            for thread in Path(f"/proc/{process}/task").iterdir():
                nanoseconds += int((thread / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def cpu_seconds_once_idle(processes: Collection[int]) -> float:
    """Return the CPU time once the processes are idle: they may work on after sending a result."""
    for process in processes:
        while _status(process)[_STATE] == "R":
            pass
    return cpu_seconds(processes)


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


WORKERS, THREADS = 2, 4
START_SECONDS = 30


class DidNotStart(Exception):
    """The server did not start in time; the message names its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server: its port and its processes."""

    port: int
    process: int
    workers: list[int]

    def cpu_seconds(self) -> float:
        """Return the CPU time of the server's processes so far, without PostgreSQL."""
        return cpu_seconds([self.process, *self.workers])


@contextmanager
def run_server(environment: dict[str, str]) -> Iterator[Server]:
    """Serve the product with these environment variables until the block ends."""
    port = free_port()
    log = databases.FOLDER / f"server-{port}.log"
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"{LOOPBACK}:{port}"]
    command += ["--worker-class", "gthread", "--workers", str(WORKERS), "--threads", str(THREADS)]
    command += ["--no-control-socket", "--log-level", "warning"]
    with log.open("w") as output:
        process = subprocess.Popen(  # noqa: S603  # our own interpreter
            command, cwd=databases.ROOT, env=os.environ | environment, stdout=output, stderr=output
        )
    try:
        _wait_until_ready(process.pid, port, log=str(log))
        yield Server(port=port, process=process.pid, workers=children_of(process.pid))
    finally:
        process.terminate()
        process.wait(timeout=60)
    log.unlink()


def free_port() -> int:
    """Return an unused port of this machine."""
    with socket.socket() as unused:
        unused.bind((LOOPBACK, 0))
        port: int = unused.getsockname()[1]
        return port


def _wait_until_ready(process: int, port: int, *, log: str) -> None:
    """Wait until the server accepts connections and has all its workers; raise DidNotStart."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection((LOOPBACK, port), timeout=1).close()
            if len(children_of(process)) == WORKERS:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise DidNotStart(f"gunicorn did not start within {START_SECONDS} s; see {log}.")


class Clock:
    """A clock of the CPU time of the database: this thread's for SQLite, the server process's for PostgreSQL.

    ``with_client`` adds the CPU time of this thread on PostgreSQL as well.
    """

    def __init__(self, *, with_client: bool = False) -> None:
        self._processes: list[int] = []
        self._with_thread = with_client or connection.vendor == "sqlite"
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                self._processes += cursor.fetchone()

    def __call__(self) -> float:
        """Return the CPU seconds so far."""
        return cpu_seconds_once_idle(self._processes) + (time.thread_time() if self._with_thread else 0)
