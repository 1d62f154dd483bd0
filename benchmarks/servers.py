"""The product served by gunicorn with threads, as in a deployment, and the CPU time of its processes."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks import databases
from benchmarks.http_load import LOOPBACK
from benchmarks.machine import children_of, cpu_seconds

WORKERS, THREADS = 2, 4
START_SECONDS = 30
BETWEEN_KILLS = 0.3  # seconds


class DidNotStart(Exception):
    """The server did not start in time; the message names its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server: its port and its processes."""

    port: int
    process: int
    workers: list[int]

    def cpu_seconds(self) -> float:
        """Return the CPU time of the server's processes so far, without those of PostgreSQL."""
        return cpu_seconds([self.process, *self.workers])


@contextmanager
def run_server(environment: dict[str, str], *, folder: Path = databases.ROOT) -> Iterator[Server]:
    """Serve the product of a checkout with these environment variables until the block ends."""
    port = free_port()
    log = databases.FOLDER / f"server-{port}.log"
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"{LOOPBACK}:{port}"]
    command += ["--worker-class", "gthread", "--workers", str(WORKERS), "--threads", str(THREADS)]
    command += ["--no-control-socket", "--log-level", "warning"]
    with log.open("w") as output:
        process = subprocess.Popen(  # noqa: S603  # our own interpreter
            command, cwd=folder, env=os.environ | environment, stdout=output, stderr=output
        )
    try:
        _wait_until_ready(process.pid, port, log=str(log))
        yield Server(port=port, process=process.pid, workers=children_of(process.pid))
    finally:
        process.terminate()
        process.wait(timeout=60)
    log.unlink()


@contextmanager
def killing(server: Server) -> Iterator[list[int]]:
    """Kill a random process of the server again and again in the block; yield those killed so far."""
    done, killed = threading.Event(), []

    def kill() -> None:
        while True:
            if processes := children_of(server.process):
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(process := random.choice(processes), signal.SIGKILL)
                    killed.append(process)
            if done.wait(BETWEEN_KILLS):
                return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        done.set()
        thread.join()


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
