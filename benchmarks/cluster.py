"""A PostgreSQL server of our own in a temporary folder, whose processes may be killed."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from benchmarks import databases
from benchmarks.command_line import Unavailable
from benchmarks.http_load import LOOPBACK
from benchmarks.servers import free_port

_PROGRAMS = Path("/usr/lib/postgresql")  # Debian's, by version
_control: list[list[str]] = []  # the command that controls the server of our own
BETWEEN_KILLS = 2.0  # seconds; the server ends every connection and reads its log again after each


@contextmanager
def own_cluster() -> Iterator[None]:
    """Let the benchmarks use a new server until the block ends; raise Unavailable without its programs."""
    programs, port = _programs(), free_port()
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres")
        data = f"{folder}/data"
        _run([str(programs / "initdb"), "--auth=trust", "--username=postgres", "--no-sync", data])
        options = f"-p {port} -c listen_addresses={LOOPBACK} -c unix_socket_directories={folder}"
        control = [str(programs / "pg_ctl"), "--pgdata", data, "--wait", f"--log={folder}/log", "-o", options]
        _run([*control, "start"])
        _control.append(control)
        before, databases.POSTGRESQL = databases.POSTGRESQL, f"postgres://postgres@{LOOPBACK}:{port}"
        try:
            yield
        finally:
            databases.POSTGRESQL = before
            _control.remove(control)
            _run([*control, "--mode=immediate", "stop"])


@contextmanager
def stopped() -> Iterator[None]:
    """Stop the server of ``own_cluster`` at once, and start it again after the block."""
    (control,) = _control
    _run([*control, "--mode=immediate", "stop"])
    try:
        yield
    finally:
        _run([*control, "start"])


@contextmanager
def killing_backends(url: str) -> Iterator[list[int]]:
    """Kill a process of the database server that serves a connection again and again in the block.

    Yields the numbers of those killed so far.
    """
    done, killed = threading.Event(), list[int]()

    def kill() -> None:
        while not done.wait(BETWEEN_KILLS):
            with suppress(psycopg.Error, ProcessLookupError):  # it is not back yet, or just ended
                os.kill(process := _backend_at_work(url), signal.SIGKILL)
                killed.append(process)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        done.set()
        thread.join()
    _wait_until_back(url)


def _wait_until_back(url: str) -> None:
    """Wait until the server accepts connections again; raise OperationalError if it does not."""
    for attempts_left in range(60, -1, -1):
        try:
            psycopg.connect(url, connect_timeout=3).close()
        except psycopg.OperationalError:
            if not attempts_left:
                raise
            time.sleep(0.5)
        else:
            return


def _backend_at_work(url: str) -> int:
    """Return the process of the connection that worked last."""
    query = (
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
        "AND datname = current_database() ORDER BY state = 'active' DESC, state_change DESC LIMIT 1"
    )
    with psycopg.connect(url, connect_timeout=3) as connection:
        row = connection.execute(query).fetchone()
    if row is None:
        raise ProcessLookupError
    return int(row[0])


def _programs() -> Path:
    """Return the folder of the newest server programs; raise Unavailable if there are none."""
    found = sorted(_PROGRAMS.glob("*/bin/initdb"), key=lambda file: int(file.parts[-3]))
    if not found:
        raise Unavailable("no PostgreSQL server is installed (Debian: apt install postgresql)")
    return found[-1].parent


def _run(command: list[str]) -> None:
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*as_user, *command], check=True, stdout=subprocess.DEVNULL, cwd="/")  # noqa: S603
