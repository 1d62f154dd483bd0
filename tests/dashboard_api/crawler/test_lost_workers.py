"""Workers that are killed or paused: no scan is lost, and none is stored twice."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import Count
from django.utils import timezone

from dashboard_api.crawler import folders, queue
from dashboard_api.models import ImportRun, ScanJob
from tests import factories
from tests.dashboard_api.crawler.engines import PROGRAM, running
from tests.databases import url_of
from tests.faults.server import FaultServer, answer

JOBS = 5
HOSTS = [f"job-{number}.localhost" for number in range(JOBS)]
CODE = """
rows = [{"scan": "findings/1", "source": "stub"}, {"complete": True}]
place = f"https://{host}/"
rows.insert(1, {"finding": "rule", "title": "A problem", "severity": "low", "location": place})
open(FOLDER + "/began", "a").close()
while os.path.exists(FOLDER + "/slow"):
    time.sleep(0.05)
import json
open(report, "w").write("\\n".join(map(json.dumps, rows)))
"""


@pytest.fixture
def website():
    with FaultServer(answer(200, b"<title>A website</title>")) as server:
        yield server


@pytest.fixture
def start(tmp_path, settings, website):
    """Return a function that starts a worker; the workers are killed at the end."""
    settings.ALLOW_PRIVATE_HOSTS = True
    command = [sys.executable, "-c", PROGRAM + f"FOLDER = {str(tmp_path)!r}" + CODE]
    command += ["$host", "$address", "$report", "$tunnel"]
    engines = tmp_path / "engines.toml"
    engines.write_text(f'[[engine]]\nname = "stub"\ncommand = {json.dumps(command)}\n')
    environment = os.environ | {
        "DATABASE_URL": url_of(connection),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CRAWLER_ENABLED": "true",
        "CRAWLER_WALL": "false",  # the engine shows outside how far it is
        "CRAWLER_ENGINES": str(engines),
        "ALLOW_PRIVATE_HOSTS": "true",
        "TMPDIR": str(tmp_path),
        "LOCALHOST_WEBSITES": ",".join(f"{host}:{website.port}" for host in HOSTS),
    }
    started = []

    def start_worker(*arguments):
        words = [sys.executable, "-m", "django", "crawl", *arguments]
        started.append(subprocess.Popen(words, env=environment, cwd=settings.BASE_DIR))
        return started[-1]

    yield start_worker
    for worker in started:
        worker.kill()
        worker.wait()


def wait_until(condition):
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


def let_leases_end():
    past = timezone.now() - timedelta(seconds=1)
    ScanJob.objects.filter(state="running").update(lease_until=past)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_scan_of_a_killed_or_paused_worker_is_lost_or_stored_twice(start, tmp_path):
    began, slow = tmp_path / "began", tmp_path / "slow"
    for host in HOSTS:
        queue.add(factories.make_scannable(host), by="ada")

    slow.touch()
    killed = start()
    wait_until(began.exists)
    killed.kill()
    killed.wait()
    job = ScanJob.objects.get(state="running")
    wait_until(lambda: not running(f"FOLDER = '{tmp_path}'"))
    ScanJob.objects.filter(pk=job.pk).update(due_at=timezone.now())  # the next worker takes another job
    let_leases_end()
    began.unlink()

    paused = start()
    wait_until(began.exists)
    os.kill(paused.pid, signal.SIGSTOP)
    slow.unlink()
    let_leases_end()
    assert start("--once").wait(60) == 0
    assert set(ScanJob.objects.values_list("state", flat=True)) == {"finished"}
    os.kill(paused.pid, signal.SIGCONT)
    paused.send_signal(signal.SIGTERM)
    assert paused.wait(60) == 0

    assert ScanJob.objects.filter(state="finished").count() == JOBS
    imports = ImportRun.objects.order_by().values("website").annotate(count=Count("pk"))
    assert [row["count"] for row in imports] == [1] * JOBS
    assert sorted(ScanJob.objects.values_list("attempt", flat=True)) == [1, 1, 1, 2, 2]


@pytest.mark.django_db(transaction=True)
def test_the_folder_of_a_killed_worker_is_removed_by_the_next_one(start, tmp_path):
    began, slow = tmp_path / "began", tmp_path / "slow"
    queue.add(factories.make_scannable(HOSTS[0]), by="ada")
    slow.touch()
    killed = start()
    wait_until(began.exists)
    killed.kill()
    killed.wait()
    [left] = tmp_path.glob(f"{folders.PREFIX}*")
    os.utime(left, (0, 0))
    assert start("--once").wait(60) == 0
    assert not left.exists()
