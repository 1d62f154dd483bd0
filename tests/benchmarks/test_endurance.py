"""The long runs, in short."""

import os
import subprocess
import sys

import pytest
from django.db import connection

pytestmark = pytest.mark.slow

# Much less than what the commands do by themselves.
RUNS = (
    "endurance kills --rounds 60",
    "endurance records --rounds 500",
    "endurance replays --rounds 1",
    "endurance races --rounds 10",
    "endurance power --rounds 5",
    "endurance backups --rounds 1",
    "endurance reseal --rounds 10",
    "endurance secrets --rounds 2",
    "hostile_calls signed --cases 200",
    "hostile_calls garbage --cases 500",
)


def test_no_run_finds_anything_wrong(tmp_path):
    """One test, so that one dataset serves all runs."""
    for run in RUNS:
        command = [sys.executable, "-m", *f"benchmarks.{run} --backend {connection.vendor}".split()]
        done = subprocess.run(
            command,
            env=os.environ | {"BENCHMARK_FOLDER": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if "Skipped" in done.stdout and "REQUIRE_STRACE" not in os.environ:
            continue
        assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["Nothing was wrong."]), (
            done.stdout + done.stderr
        )
