"""The samples of docs/sending-reports.md, taken from the document and run against a server."""

import json
import os
import re
import shlex
import shutil
import subprocess
import textwrap
import time

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from dashboard_api import limits
from dashboard_api.models import Finding, ImportRun
from tests.dashboard_api.api.reports import make_token
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_link

DOCUMENT = (django_settings.BASE_DIR / "docs" / "sending-reports.md").read_text()
ADDRESS = "https://portal.example.com"


def sample(heading, language):
    """Return the first code block of the section."""
    section = DOCUMENT.partition(f"## {heading}\n")[2]
    return re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)[1]


def script_of(job):
    """Return the shell of a job: the indented block at its end."""
    return textwrap.dedent(re.search(r"(?:run: |- )\|\n(.*)", job, re.DOTALL)[1])


CURL = sample("curl", "sh")
SCRIPTS = {
    "github": script_of(sample("GitHub Actions", "yaml")),
    "gitlab": script_of(sample("GitLab", "yaml")),
}


@pytest.fixture
def shell(live_server, tmp_path, settings):
    """A function that runs a script in a folder with a report, as a CI job does."""
    if not all(map(shutil.which, ("bash", "curl"))):
        pytest.skip("bash and curl are needed")
    settings.REPORTS_FOLDER = tmp_path / "reports"
    _, clear = make_token(make_link())

    def run(script, report, *, token=clear):
        (tmp_path / "report.json").write_bytes(report)
        environ = {
            "PATH": "/usr/bin:/bin",
            "REPORT_TOKEN": token,
            "REPORTS": f"{live_server.url}/v1/reports",
            "GITHUB_RUN_ID": "1",
            "GITHUB_RUN_ATTEMPT": "1",
            "CI_JOB_ID": "1",
        }
        script = script.replace(ADDRESS, live_server.url).replace("sleep 5", "sleep 0.1")
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def row(severity):
    return json_lines(make_row(info={"name": "Exposed panel", "severity": severity}))


@pytest.mark.django_db(transaction=True)
def test_curl_imports_a_report_and_fails_for_a_refused_one(shell):
    done = shell(CURL, row("high"))
    assert (done.returncode, json.loads(done.stdout)["reports"][0]["new"]) == (0, 1), done.stderr
    refused = shell(CURL, b"hello")
    assert refused.returncode == 22
    assert json.loads(refused.stdout)["error"]["code"] == "refused_report"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize(
    ("report", "token", "is_green", "findings"),
    [
        (row("medium"), {}, True, 1),
        (row("high"), {}, False, 1),
        (b"hello", {}, False, 0),
        (row("medium"), {"token": "rpt_wrong"}, False, 0),
    ],
    ids=["medium", "high", "refused", "stranger"],
)
def test_a_job_is_green_only_if_the_report_came_in_and_brought_nothing_bad(
    shell, name, report, token, is_green, findings
):
    done = shell(SCRIPTS[name], report, **token)
    assert (done.returncode == 0) is is_green, done.stdout + done.stderr
    assert Finding.objects.count() == findings


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_job_waits_for_an_import_that_takes_long(shell, name, monkeypatch):
    monkeypatch.setattr(limits, "REPORT_WAIT_SECONDS", 0)
    done = shell(SCRIPTS[name], row("medium"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert ImportRun.objects.count() == 1


def test_the_github_step_has_ten_lines():
    assert len(sample("GitHub Actions", "yaml").splitlines()) == 10


@pytest.mark.django_db
def test_the_timer_calls_a_command_that_imports_the_inbox(tmp_path):
    make_link()
    (folder := tmp_path / "shop.example.com").mkdir(parents=True)
    (folder / "report.json").write_bytes(row("high"))
    _set_back(folder / "report.json")
    crontab = (django_settings.BASE_DIR / "deploy" / "crontab").read_text()
    job = re.search(r"\$MANAGE (import_inbox .*) >/dev/null", crontab)[1]
    call_command(*shlex.split(job.replace("/srv/reports", str(tmp_path))))
    assert Finding.objects.count() == 1


def _set_back(file):
    """Make the file older than the inbox waits for a file that still grows."""
    os.utime(file, (time.time() - 3_600,) * 2)
