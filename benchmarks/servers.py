"""The product as it is deployed, gunicorn with threads, on a port of its own; and what serving it costs."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks import records
from benchmarks.load import LOOPBACK
from benchmarks.machine import children_of, cpu_seconds

WORKERS, THREADS = 2, 4
START_SECONDS = 30


class DidNotStart(Exception):
    """The server did not come up in time; the message tells where it says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server: its port, and its processes."""

    port: int
    process: int
    workers: list[int]

    def cpu_seconds(self) -> float:
        """What its processes have cost so far, without the database's own."""
        return cpu_seconds([self.process, *self.workers])


@contextmanager
def serving(environment: dict[str, str], *, workers: int = WORKERS) -> Iterator[Server]:
    """Serve the product with these settings, until the block ends."""
    port = free_port()
    log = records.FOLDER / f"server-{port}.log"
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"{LOOPBACK}:{port}"]
    command += ["--worker-class", "gthread", "--workers", str(workers), "--threads", str(THREADS)]
    command += ["--no-control-socket", "--log-level", "warning"]
    with log.open("w") as output:
        process = subprocess.Popen(  # noqa: S603  # our own interpreter
            command, cwd=records.ROOT, env=os.environ | environment, stdout=output, stderr=output
        )
    try:
        _wait_for(process.pid, port, workers, log=str(log))
        yield Server(port=port, process=process.pid, workers=children_of(process.pid))
    finally:
        process.terminate()
        process.wait(timeout=20)
    log.unlink()


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(process: int, port: int, workers: int, *, log: str) -> None:
    """Return once it accepts connections and has all its workers; raises DidNotStart."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection((LOOPBACK, port), timeout=1).close()
            if len(children_of(process)) == workers:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise DidNotStart(f"gunicorn did not start within {START_SECONDS} s; see {log}.")
