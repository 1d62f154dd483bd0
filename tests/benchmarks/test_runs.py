"""Each benchmark runs with very little data and prints its figures as JSON."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

from dashboard_api.scanners import READERS
from tests.browser.chromium import chromium_path

pytest.importorskip("mohawk", reason="make bench installs the libraries that the benchmarks compare with")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def measure(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")

    def run(module, *options):
        command = [sys.executable, "-m", f"benchmarks.{module}", "--json", "--rounds", "1", *options]
        run = subprocess.run(
            command,
            cwd=settings.BASE_DIR,
            env=os.environ | {"BENCHMARK_FOLDER": str(folder)} | _environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return {figure["name"]: figure for figure in json.loads(run.stdout)}

    return run


def _environment():
    """Return the environment of benchmarks on the PostgreSQL server that runs the tests, if there is one."""
    database = settings.DATABASES["default"]
    if "postgresql" not in database["ENGINE"]:
        return {}
    password = f":{database['PASSWORD']}" if database["PASSWORD"] else ""
    port = database["PORT"] or 5432
    return {"BENCHMARK_POSTGRESQL": f"postgres://{database['USER']}{password}@{database['HOST']}:{port}"}


ON_SQLITE = ["--backend", "sqlite", "--scale", "0.001"]


def test_es1_measures_verify_against_its_goals(measure):
    figures = measure("es1")
    assert figures["ES1: verify, 250 bytes, times the floor"]["goal"] == "<= 2.2"
    assert figures["ES1: verify, 8 KB, times the floor"]["goal"] == "<= 1.5"
    assert figures["ES1: floor, 8 KB, times the floor"]["value"] == 1


def test_reads_measure_pages_and_searches_against_their_goals(measure):
    figures = measure("reads", *ON_SQLITE)
    assert figures["Reads on sqlite: first page, CPU"]["goal"] == "<= 10"
    assert figures["Reads on sqlite: search: a common word, deepest page, CPU"]["goal"] == "<= 25"
    assert all(figure["value"] > 0 for figure in figures.values())


def test_requests_measure_calls_with_status_200(measure):
    figures = measure("requests", *ON_SQLITE)
    assert figures["Requests on sqlite: a first response, times bare"]["value"] > 1
    assert figures["Requests on sqlite: the same response again, times bare"]["goal"] == "<= 1.8"


def test_writes_measure_imports_and_response_times(measure):
    figures = measure("writes", *ON_SQLITE)
    assert figures["Writes on sqlite: import of a report, share of bare"]["goal"] == ">= 0.06"
    responses = "Dashboards while findings are written, on sqlite: reports are imported, "
    assert figures[responses + "other statuses than 200"]["met"] is True
    assert figures[responses + "times the quiet p99"]["goal"] == "<= 5"
    assert figures[responses + "findings stored"]["value"] > 0


def test_imports_are_compared_with_a_bare_insert_for_every_format(measure):
    figures = measure("imports", *ON_SQLITE)
    shares = [name for name in figures if name.endswith("import, share")]
    assert len(shares) == len(READERS)
    assert all(figure["value"] > 0 for figure in figures.values())
    assert figures["A long report on sqlite: 1,000 rows, peak memory"]["goal"] == "<= 300"


def test_load_counts_calls_and_pages_that_are_all_answered(measure):
    figures = measure("load", *ON_SQLITE)
    for row in ("signed calls", "pages of the portal"):
        assert figures[f"Load on sqlite: {row}, a second"]["value"] > 0
        assert figures[f"Load on sqlite: {row}, other statuses than 200"]["met"] is True


def test_the_portal_is_compared_with_the_admin(measure):
    if chromium_path() is None:
        pytest.skip("Chromium is not installed (Debian: apt install chromium)")
    figures = measure("portal_weight")
    goals = {name.split(": ")[1]: figure for name, figure in figures.items() if figure["goal"]}
    assert len(goals) == 7
    assert goals["requests, the portal"]["met"] is True
    assert goals["bytes transferred, the portal"]["met"] is True
    assert goals["elements, 100 findings, the portal"]["met"] is True
    assert figures["A dashboard in the browser: filter change to painted result, Django's admin"]["value"] > 0
