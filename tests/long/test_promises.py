"""Promises over thousands of calls, killed processes and races, which take minutes.

``python -m tests.long`` does one of the runs by itself.
"""

import os
import subprocess
import sys

import pytest
from django.db import connection

from tests.databases import url_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Do a run on the database server of the tests, with one folder and dataset for all; fail if it fails."""
    own = {"BENCHMARK_FOLDER": str(tmp_path_factory.mktemp("long"))}
    if connection.vendor == "postgresql":
        own["BENCHMARK_POSTGRESQL"] = url_of(connection).rpartition("/")[0]

    def run(name):
        command = [sys.executable, "-m", "tests.long", name, "--backend", connection.vendor]
        done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=False)
        last = (done.stdout.splitlines() or [""])[-1]
        if last.startswith("Skipped: "):
            pytest.skip(last)
        assert done.returncode == 0, done.stdout + done.stderr
        print(done.stdout)

    return run


def test_one_of_16_processes_wins_a_nonce_in_each_of_1000_rounds(check):
    check("races")


def test_killed_processes_lose_no_nonce_of_10000_calls(check):
    check("kills")


def test_a_power_cut_loses_no_nonce_of_100_calls(check):
    check("power")


def test_20_backups_under_load_are_whole_and_can_be_restored(check):
    check("backups")


def test_50000_signed_calls_with_hostile_bodies_are_never_a_5xx_nor_slow_nor_show_too_much(check):
    check("signed")


def test_100000_calls_without_a_signature_are_refused_and_store_nothing(check):
    check("garbage")


def test_time_does_not_show_which_accounts_exist(check):
    check("timing")


def test_no_secret_is_anywhere_after_a_whole_run(check):
    check("leaks")
