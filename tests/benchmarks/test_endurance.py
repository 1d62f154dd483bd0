"""The long runs in short: a tenth of what each command does by itself, or less (decision record 0167)."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.db import connection

from config import settings as shipped

pytestmark = pytest.mark.slow

DATASET = "dataset --scale 0.001"
ON_BOTH = (
    "endurance kills --rounds 500",
    "endurance records --rounds 500",
    "endurance replays --rounds 5",
    "endurance races --rounds 50",
    "endurance backups --rounds 2",
    "hostile_calls signed --cases 2500",
)
LOCK = "endurance lock --rounds 8"
# Runs side by side, because most of them mostly wait; each lane has a copy of the data. On one database are
# those that the other does not change, or for which only one has what they look at.
LANES = {
    "sqlite": (
        ("endurance soak --rounds 1", LOCK),
        (*ON_BOTH, "endurance reseal --rounds 100"),
        (
            "hostile_calls garbage --cases 10000",
            "endurance secrets --rounds 2",
            "endurance redis --rounds 3",
            "endurance power --rounds 10",
            "leaks --pages 12",
        ),
    ),
    "postgresql": (
        (*ON_BOTH, LOCK),
        # The first two have a server of their own, the last one a database.
        (
            "endurance database --rounds 3",
            "endurance backends --rounds 300",
        ),
    ),
}
# What a run may lack, and the variable with which continuous integration says that it must not.
TOOLS = {"strace": "REQUIRE_STRACE", "redis-server": "REQUIRE_REDIS"}


def may_skip(output):
    """Return whether the last line names something that is not here, and need not be."""
    last = output.splitlines()[-1:] or [""]
    required = any(tool in last[0] and os.environ.get(name) == "1" for tool, name in TOOLS.items())
    return last[0].startswith("Skipped: ") and not required


def run(command, folder):
    """Return a command that has ended, with its output; its files are in ``folder``."""
    return subprocess.run(
        [sys.executable, "-m", *f"benchmarks.{command} --backend {connection.vendor}".split()],
        env=os.environ | {"BENCHMARK_FOLDER": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def check(commands, folder):
    """Run the commands one after the other, and fail at the first that finds something wrong."""
    for command in commands:
        done = run(command, folder)
        if not may_skip(done.stdout):
            assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["Nothing was wrong."]), (
                command + done.stdout + done.stderr
            )


def test_no_run_finds_anything_wrong(tmp_path, settings):
    """One test, so that one dataset is built for all runs."""
    (tmp_path / "built").mkdir()  # stays empty where PostgreSQL still has the data of an earlier run
    built = run(DATASET, tmp_path / "built")
    assert built.returncode == 0, built.stderr
    # Before a server reads the list of static files, which the settings of tests do not write.
    settings.STORAGES = shipped.STORAGES
    call_command("collectstatic", interactive=False, verbosity=0)
    with ThreadPoolExecutor() as pool:
        lanes = [
            pool.submit(check, commands, shutil.copytree(tmp_path / "built", tmp_path / str(number)))
            for number, commands in enumerate(LANES[connection.vendor])
        ]
    for lane in lanes:
        lane.result()
