"""An update while the code before it serves: migrations under load, and killed in the middle.

``--old`` names the commit before the update; by default it is the one before the newest migration. Its code
builds a database and serves it at an even pace while the migrations of this checkout run; every call must be
answered, by the old code and by the new one. Then migrations of fresh copies are killed with SIGKILL: another
``migrate`` must finish each of them. Control: a renamed column must be noticed by the old code.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from django.db import connections

from benchmarks import databases, rows
from benchmarks.command_line import BACKENDS, Unavailable
from benchmarks.servers import run_server
from benchmarks.signed_calls import Pace, send, signed_call

PACE = 20  # calls a second
AFTERWARDS = 2.0  # seconds of calls after the migrations, and with a renamed column
SECONDS = 30  # for the migrations of an update
RENAMED = "ALTER TABLE dashboard_api_nonce RENAME COLUMN route TO renamed"


def update(old: Path, backend: str, *, scale: float, kills: int) -> Iterator[str]:
    """Yield what was wrong with the update of a database that the code in ``old`` has built."""
    _run(old, {}, "-m", "benchmarks.dataset", "--backend", backend, "--scale", str(scale))
    built, name = databases.database_name("reads", scale), "threat_dashboard_update"
    databases.copy(backend, built, to=name)
    databases.use(backend, name)
    from benchmarks import calls  # imports models: only after Django is set up

    body = calls.body_about(rows.LARGEST)
    connections.close_all()
    environment = databases.environment(backend, name)
    with run_server(environment, folder=old) as before:
        pace = Pace(before.port, [body], PACE)
        with pace.going_on():
            seconds = _migrate(environment)
            with run_server(environment) as after:
                yield from _not_answered("the new code", [send(after.port, signed_call(body))])
            time.sleep(AFTERWARDS)
        yield from _not_answered("the old code", pace.others or ([] if pace.answered else ["no call"]))
        if not _notices_a_renamed_column(before.port, environment, body):
            yield "the control, a renamed column, was not noticed"
    if seconds > SECONDS:
        yield f"the migrations took {seconds:.0f} s"
    print(f"migrations took {seconds:.1f} s under load; the old code answered {len(pace.answered)} calls")
    for _ in range(kills):
        databases.copy(backend, built, to=name)
        yield from _killed(environment, after=random.uniform(0, seconds))
    print(f"{kills} killed migrations were finished by another one")
    databases.discard(backend, name)


def _migrate(environment: dict[str, str]) -> float:
    """Run all migrations of this checkout; return the seconds that they took."""
    began = time.monotonic()
    for command in _commands(environment):
        _run(databases.ROOT, environment, *command)
    return time.monotonic() - began


def _commands(environment: dict[str, str]) -> list[list[str]]:
    first = ["manage.py", "migrate", "--verbosity", "0"]
    is_sqlite = environment["DATABASE_URL"].startswith("sqlite:")
    return [first, [*first, "--database", "short_lived"]] if is_sqlite else [first]


def _killed(environment: dict[str, str], *, after: float) -> Iterator[str]:
    """Yield what was wrong with a database whose migrations were killed and run again."""
    command = [sys.executable, *_commands(environment)[0]]
    with subprocess.Popen(command, cwd=databases.ROOT, env=os.environ | environment) as migrating:  # noqa: S603
        time.sleep(after)
        migrating.kill()
    try:
        _migrate(environment)
        _run(databases.ROOT, environment, "manage.py", "migrate", "--check")
        _run(databases.ROOT, environment, "manage.py", "verify_counts")
    except subprocess.CalledProcessError as error:
        yield f"killed after {after:.2f} s: {error}"


def _notices_a_renamed_column(port: int, environment: dict[str, str], body: dict[str, object]) -> bool:
    """Return whether calls of the old code fail once a column has another name."""
    if environment["DATABASE_URL"].startswith("sqlite:"):
        with connections["short_lived"].cursor() as cursor:
            cursor.execute(RENAMED)
    else:
        with psycopg.connect(environment["DATABASE_URL"]) as connection:
            connection.execute(RENAMED)
    pace = Pace(port, [body], PACE)
    with pace.going_on():
        time.sleep(AFTERWARDS)
    return bool(pace.others)


def _not_answered(who: str, statuses: list[str]) -> Iterator[str]:
    yield from (f"{who}: {status}" for status in sorted({*statuses} - {"200"}))


def _run(folder: Path, environment: dict[str, str], *arguments: str) -> None:
    """Run Python in a checkout; raises CalledProcessError."""
    command = [sys.executable, *arguments]
    subprocess.run(  # noqa: S603  # our own arguments
        command, cwd=folder, env=os.environ | environment, check=True, stdout=subprocess.DEVNULL
    )


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=databases.ROOT, check=True, capture_output=True).stdout  # noqa: S603, S607


def before_the_newest_migration() -> str:
    """Return the commit before the one that added the newest migration."""
    newest = _git("log", "-1", "--format=%H", "--diff-filter=A", "--", ":(glob)*/migrations/0*.py")
    return f"{newest.decode().strip()}^"


def _code_of(commit: str) -> bytes:
    """Return an archive of the code before the update; raise Unavailable without its history."""
    try:
        return _git("archive", commit or before_the_newest_migration())
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        raise Unavailable("the history of the code is not here") from error


def main() -> int:
    """Try the update, and return 1 if something was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", metavar="COMMIT", help="the code before the update")
    parser.add_argument("--backend", choices=BACKENDS, default="sqlite")
    parser.add_argument("--scale", type=float, default=0.05, help="0.05, the default, has 100,000 findings")
    parser.add_argument("--kills", type=int, default=10, help="number of killed migrations (default: 10)")
    options = parser.parse_args()
    try:
        archive = _code_of(options.old)
    except Unavailable as error:
        print(f"Skipped: {error}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)  # noqa: S603, S607
        os.environ["BENCHMARK_FOLDER"] = str(databases.FOLDER)
        wrong = list(update(Path(folder), options.backend, scale=options.scale, kills=options.kills))
    print("\n".join(wrong) or "Nothing was wrong.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
