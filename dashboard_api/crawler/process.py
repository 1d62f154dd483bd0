"""The process of an engine: own session, empty environment, limits, and an end that leaves no process.

A mark in the environment finds processes that left the session. Processes that also cleared their
environment become children of the worker when their parent ends.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dashboard_api.crawler.engines import Engine

MARK = "THREAT_DASHBOARD_SCAN"  # the name of an environment variable
GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL
_POLL_SECONDS = 0.1
_LOG_LINES = 20  # last lines of the output that are kept
# Linux's numbers: a signal when the parent dies; adopt the orphans among one's descendants.
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None)
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of an engine; ``reason`` is empty if it ended by itself.

    ``stopped_early`` means that the output contains a text by which the engine says that it did not check
    everything (``Engine.complete_unless``). ``log`` is the end of the output.
    """

    exit_code: int | None
    reason: str
    log: str
    stopped_early: bool


def run(
    engine: Engine,
    program: str,
    arguments: list[str],
    *,
    folder: Path,
    mark: str,
    tick: Callable[[], str | None],
) -> Ended:
    """Run the engine in ``folder`` until it ends or exceeds a limit.

    ``tick`` is called every tenth of a second; an exception or a returned reason ends the engine. All
    processes of the engine have ended when this function returns or raises.
    """
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    log = folder / "log"
    children_before = _children()
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - a command of the operator's own file
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": _PATH, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", MARK: mark},
            start_new_session=True,
            preexec_fn=lambda: _limit_this_process(engine),  # in the child, before the program begins
        )
    try:
        reason = _watch(process, engine, log, tick)
    finally:
        _end(process, mark)
        _end_adopted(children_before)
    output_text = b"" if reason else log.read_bytes()  # at most log_kb, because the engine ended by itself
    stopped_early = any(each.encode() in output_text for each in engine.complete_unless)
    return Ended(
        exit_code=process.returncode, reason=reason, log=_last_lines(log), stopped_early=stopped_early
    )


def _limit_this_process(engine: Engine) -> None:
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # an engine does not outlive a killed worker
    # Linux may share processors among sessions first (autogroup). Then the nice value of a process counts
    # only within its session, so the session gets the same value, which ``nice(0)`` returns.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(os.nice(0)))
    for limit, value in (
        (resource.RLIMIT_CPU, engine.cpu_seconds),
        (resource.RLIMIT_AS, engine.memory_mb * 1024**2),
        (resource.RLIMIT_FSIZE, engine.report_mb * 1024**2),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 256),
    ):
        _soft, hard = resource.getrlimit(limit)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # At the soft limit of CPU time the process gets SIGXCPU, which says why; at the hard one, SIGKILL.
        new_hard = hard if limit == resource.RLIMIT_CPU else most
        resource.setrlimit(limit, (most, new_hard))


def _watch(
    process: subprocess.Popen[bytes], engine: Engine, log: Path, tick: Callable[[], str | None]
) -> str:
    """Wait for the process; return why it must be killed, or an empty text if it ended."""
    ends = time.monotonic() + engine.seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
        # Checked before the return code: the process may have ended because its log grew too large.
        if log.stat().st_size > engine.log_kb * 1024:
            return "too_much_output"
        if process.returncode is not None:
            return ""
        if reason := tick():
            return reason
        if time.monotonic() > ends:
            return "engine_timeout"


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """Send SIGTERM to a running engine, then SIGKILL to its group and to processes that left the group."""
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()
    end_marked(mark)


def end_marked(mark: str) -> None:
    """Kill processes of this user with the mark until all are gone."""
    while pids := marked(mark):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _end_adopted(children_before: set[int]) -> None:
    """Kill children that this process adopted during the run, and their descendants."""
    while adopted := _children() - children_before:
        for pid in adopted:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _children() -> set[int]:
    """Return the children of this process, including adopted ones; empty without /proc."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended
            # "PID (NAME) STATE PARENT ...": a name may contain blanks and brackets.
            after_name = path.read_text(errors="replace").rpartition(")")[2]
            parent = after_name.split()[1]
            if int(parent) == os.getpid():
                found.add(int(path.parent.name))
    return found


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # gone, or only zombies
        os.killpg(group, number)


def marked(mark: str) -> list[int]:
    """Return the processes of this user with the mark in their environment; empty without /proc."""
    variable = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended, or is another user's
            if variable in path.read_bytes().split(b"\0"):  # empty for a zombie
                found.append(int(path.parent.name))
    return found


def _last_lines(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 8192))
        lines = file.read().decode("utf-8", "replace").replace("\0", "").splitlines()
    return "\n".join(line[:300] for line in lines[-_LOG_LINES:])
