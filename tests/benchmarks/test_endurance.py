"""The long runs in short: a tenth of what each command does by itself, or less (decision record 0167)."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import pytest
from django.db import connection

pytestmark = pytest.mark.slow

ON_BOTH = (
    "endurance kills --rounds 1000",
    "endurance records --rounds 1000",
    "endurance replays --rounds 10",
    "endurance races --rounds 100",
    "endurance backups --rounds 2",
    "endurance lock --rounds 8",
    "hostile_calls signed --cases 2500",
)
# What the other database does not change, or what only one of them has.
ON_ONE = {
    "sqlite": (
        "endurance reseal --rounds 100",
        "endurance secrets --rounds 2",
        "hostile_calls garbage --cases 10000",
    ),
    "postgresql": (
        "endurance database --rounds 3",
        "endurance backends --rounds 300",
        "updates --kills 1 --scale 0.005",
    ),
}
# Side by side, because one of them mostly waits.
LANES = {
    "sqlite": (
        ("endurance soak --rounds 1",),
        ("endurance redis --rounds 3", "endurance power --rounds 10", "leaks --pages 12"),
    ),
    "postgresql": (),
}
# What a run may lack, and the variable with which continuous integration says that it must not.
TOOLS = {"strace": "REQUIRE_STRACE", "redis-server": "REQUIRE_REDIS"}


def may_skip(output):
    """Return whether the last line names something that is not here, and need not be."""
    last = output.splitlines()[-1:] or [""]
    required = any(tool in last[0] and os.environ.get(name) == "1" for tool, name in TOOLS.items())
    return last[0].startswith("Skipped: ") and not required


def check(runs, folder):
    """Run the commands one after the other, and fail at the first that finds something wrong."""
    for run in runs:
        command = [sys.executable, "-m", *f"benchmarks.{run} --backend {connection.vendor}".split()]
        done = subprocess.run(
            command,
            env=os.environ | {"BENCHMARK_FOLDER": str(folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        if not may_skip(done.stdout):
            assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["Nothing was wrong."]), (
                run + done.stdout + done.stderr
            )


def test_no_run_finds_anything_wrong(tmp_path):
    """One test, so that one dataset serves all runs."""
    check(ON_BOTH + ON_ONE[connection.vendor], tmp_path)
    with ThreadPoolExecutor() as lanes:
        list(lanes.map(check, LANES[connection.vendor], repeat(tmp_path)))
