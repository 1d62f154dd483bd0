"""The wall around an engine: bubblewrap, without network, and with the files that its program needs only.

The engine reads programs and libraries, writes to its own folder, and sees no other process.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from django.conf import settings

# Programs, libraries and public certificates; a part that a system lacks is left out.
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/ssl/openssl.cnf"),
    *("/etc/ca-certificates", "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf"),
)
_CODE = ("dashboard_api", "foundation")  # packages of the product that the built-in engines import
_PROBE_SECONDS = 10.0


class WallMissing(Exception):
    """Engines may only run behind the wall, and it does not work here; the message says why."""


def check() -> None:
    """Raise WallMissing if CRAWLER_WALL is on, and the wall does not work here."""
    if settings.CRAWLER_WALL and (problem := problem_here()):
        raise WallMissing(
            f"Scanners run behind bubblewrap only, and it does not work here: {problem}. "
            "See docs/operating/scans.md; CRAWLER_WALL=false is for a demo."
        )


@cache
def problem_here() -> str:
    """Return why the wall does not work on this machine; empty if it works."""
    program = shutil.which("bwrap")
    if program is None:
        return "it is not installed"
    try:
        done = subprocess.run(  # noqa: S603 - no argument comes from outside
            [*_options(program, Path("/tmp"), []), "--", "/bin/sh", "-c", ":"],  # noqa: S108 - only mounted
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    message = done.stderr.decode("utf-8", "replace").strip()
    return "" if done.returncode == 0 else message[:200] or f"exit code {done.returncode}"


def behind_wall(command: Sequence[str], folder: Path, reads: Sequence[str | Path] = ()) -> list[str]:
    """Return the command that runs ``command`` behind the wall; ``reads`` are further paths to read."""
    program = shutil.which("bwrap") or "bwrap"
    (folder / "tmp").mkdir(exist_ok=True)
    return [*_options(program, folder, [*_of_python(), *reads]), "--", *command]


def files_of(program: str) -> list[Path]:
    """Return what the program needs: its file or, in an environment of Python, that and its Python."""
    environment = Path(program).parent.parent
    if (environment / "pyvenv.cfg").is_file():
        return [environment, (environment / "bin/python").resolve().parent.parent]
    # Behind the wall a link of the system is a link as well: what it leads to must be there.
    is_of_system = any(Path(program).is_relative_to(folder) for folder in _SYSTEM)
    return [Path(program).resolve() if is_of_system else Path(program)]


def _options(program: str, folder: Path, reads: Sequence[str | Path]) -> list[str]:
    words = [program, "--unshare-all", "--unshare-user", "--disable-userns"]
    words += ["--die-with-parent", "--cap-drop", "ALL"]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    # It writes to its folder only, so one quota is enough.
    words += ["--bind-try", str(folder / "tmp"), "/tmp"]  # noqa: S108
    for path in (*_SYSTEM, *reads):
        words += ["--ro-bind-try", str(path), str(path)]
    words += ["--bind", str(folder), str(folder)]
    return [*words, "--chdir", str(folder), "--remount-ro", "/"]


def _of_python() -> list[Path]:
    """Return the folders of this Python and of the product's code."""
    return [Path(sys.prefix), Path(sys.base_prefix), *(settings.BASE_DIR / name for name in _CODE)]
