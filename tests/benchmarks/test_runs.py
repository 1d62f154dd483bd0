"""Each benchmark runs with very little data and prints its figures as JSON."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = [pytest.mark.slow, pytest.mark.once]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bench")


@pytest.mark.parametrize("name", ["reads", "requests", "writes", "imports"])
def test_each_benchmark_of_the_database_prints_its_figures(name, folder):
    options = ["--json", "--rounds", "1", "--backend", "sqlite", "--scale", "0.001"]
    run = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *options],
        cwd=settings.BASE_DIR,
        env=os.environ | {"BENCHMARK_FOLDER": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    assert figures
    assert all(figure["value"] >= 0 for figure in figures)
