"""The process of an engine: own session, empty environment, limits, and an end that leaves no process.

Behind the wall all processes of the engine end with the first one. Without it, those that leave the session
become children of the worker when their parent ends.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from dashboard_api.crawler import wall
from dashboard_api.crawler.engines import Engine

_POLL_SECONDS = 0.1
_MAX_FILES = 10_000  # and folders, of one engine
_BLOCK = 512  # bytes; st_blocks counts these
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
    tick: Callable[[], str | None],
    inherits: Sequence[int] = (),
) -> Ended:
    """Run the engine in ``folder``, behind the wall, until it ends or exceeds a limit.

    ``tick`` is called every tenth of a second; an exception or a returned reason ends the engine. All
    processes of the engine have ended when this function returns or raises. The engine ``inherits`` these
    open files.
    """
    command = [program, *arguments]
    if settings.CRAWLER_WALL:
        installed = engine.program() or program
        command = wall.behind_wall(command, folder, [*wall.files_of(installed), *engine.files])
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    children_before = _children()
    with tempfile.TemporaryFile() as log:  # out of the engine's reach: the worker follows no link of it
        process = subprocess.Popen(  # noqa: S603 - a command of the operator's own file
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": _PATH, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"},
            pass_fds=inherits,
            start_new_session=True,
            preexec_fn=lambda: _limit_this_process(engine),  # in the child, before the program begins
        )
        try:
            reason = _watch(process, engine, folder, log, tick)
        finally:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
            _end_adopted(children_before)
        log.seek(0)
        output = b"" if reason else log.read()  # at most log_kb, because the engine ended by itself
        stopped_early = any(each.encode() in output for each in engine.complete_unless)
        return Ended(
            exit_code=_exit_code(process.returncode),
            reason=reason,
            log=_last_lines(log),
            stopped_early=stopped_early,
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
    process: subprocess.Popen[bytes],
    engine: Engine,
    folder: Path,
    log: IO[bytes],
    tick: Callable[[], str | None],
) -> str:
    """Wait for the process; return why it must be killed, or an empty text if it ended."""
    ends = time.monotonic() + engine.seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
        # Checked before the return code: the process may have ended because its log grew too large.
        if os.fstat(log.fileno()).st_size > engine.log_kb * 1024 or _is_full(folder, engine):
            return "too_much_output"
        if process.returncode is not None:
            return ""
        if reason := tick():
            return reason
        if time.monotonic() > ends:
            return "engine_timeout"


def _is_full(folder: Path, engine: Engine) -> bool:
    """Return whether the engine's files are too many, or larger than two reports together."""
    count = size = 0
    folders = [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
        except FileNotFoundError:  # deleted meanwhile
            continue
        except OSError:  # such as a path that is too long, or a folder that it closed
            return True
        if count > _MAX_FILES or size > 2 * engine.report_mb * 1024**2:
            return True
    return False


def _exit_code(code: int) -> int:
    """Return the exit code, or the negative number of a signal, which bubblewrap adds to 128."""
    return 128 - code if settings.CRAWLER_WALL and code > 128 else code


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


def _last_lines(log: IO[bytes]) -> str:
    log.seek(max(0, os.fstat(log.fileno()).st_size - 8192))
    lines = log.read().decode("utf-8", "replace").replace("\0", "").splitlines()
    return "\n".join(line[:300] for line in lines[-_LOG_LINES:])
