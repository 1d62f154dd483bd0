"""A deep scan as customers have it: by a signed call, with a proof by DNS, consent and a window of hours."""

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils import timezone

from dashboard_api.crawler import policy, schedules, wall
from dashboard_api.models import Entitlement, Finding, OwnershipClaim, ScanConsent, ScanSchedule
from tests import factories
from tests.dashboard_api.calls import SCAN_SCHEDULE_PATH, SCANS_PATH, ask, fields_for
from tests.databases import url_of
from tests.faults.server import FaultServer, answer

HOST = "deep.localhost"
ZONE = "Asia/Tokyo"
STUB = """
import json, sys, urllib.request
name, url, proxy, report = sys.argv[1:]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
evidence = opener.open(url + "?from=" + name).read().decode()
finding = {"finding": "rule", "title": name, "severity": "low", "location": url, "evidence": evidence}
rows = [{"scan": "findings/1", "source": name}, finding, {"complete": True}]
open(report, "w").write("\\n".join(map(json.dumps, rows)))
"""


@pytest.fixture
def website():
    page = answer(200, b"<title>A website</title>", headers=[("Content-Type", "text/html")])
    with FaultServer(page) as server:
        yield server


@pytest.fixture
def link(settings):
    settings.ALLOW_PRIVATE_HOSTS = settings.CRAWLER_ENABLED = True
    link = factories.make_link(website=factories.make_website(HOST))
    Entitlement.objects.update(features=["deep_scans"])
    OwnershipClaim.objects.update(method="dns", strength="dns")
    return link


def engines(folder):
    """Return a file with an engine of each profile, which ask for the home page through the proxy."""
    file = folder / "engines.toml"
    words = [sys.executable, "-c", STUB]
    file.write_text(
        "".join(
            f'[[engine]]\nname = "{profile}-stub"\nprofile = "{profile}"\n'
            f"command = {json.dumps([*words, profile, '$url', '$proxy', '$report'])}\n"
            for profile in policy.PROFILES
        )
    )
    return file


def run_worker(website, file, settings):
    environment = os.environ | {
        "DATABASE_URL": url_of(connection),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CRAWLER_ENABLED": "true",
        "CRAWLER_WALL": "false" if wall.problem_here() else "true",
        "CRAWLER_ENGINES": str(file),
        "ALLOW_PRIVATE_HOSTS": "true",
        "LOCALHOST_WEBSITES": f"{HOST}:{website.port}",
    }
    words = [sys.executable, "-m", "django", "crawl", "--once"]
    subprocess.run(words, env=environment, cwd=settings.BASE_DIR, check=True, timeout=300)


@pytest.mark.django_db(transaction=True)
def test_a_deep_scan_by_schedule_ends_stored_with_its_findings(client, link, website, tmp_path, settings):
    asked = {"frequency": "monthly", "profile": "deep", "start_hour": 2, "hours": 4, "time_zone": ZONE}
    shown = ask(client, fields_for(link, **asked, consent=True), path=SCAN_SCHEDULE_PATH).json()
    times = [datetime.fromisoformat(at).astimezone(ZoneInfo(ZONE)) for at in shown["next_at"]]
    assert [2 <= at.hour < 6 for at in times] == [True] * 3
    ScanSchedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    run_worker(website, engines(tmp_path), settings)

    [job] = ask(client, fields_for(link), path=SCANS_PATH).json()["jobs"]
    assert (job["profile"], job["trigger"]) == ("deep", "schedule")
    assert (job["state"], job["outcome"], job["new"]) == ("finished", "complete", 3)
    assert [run["state"] for run in job["runs"]] == ["ok"] * 3
    found = Finding.objects.filter(website=link.website).values_list("title", flat=True)
    assert set(found) == {"quick", "standard", "deep"}
    assert any(b"GET /?from=deep " in received.head for received in website.received)


@pytest.mark.django_db
@pytest.mark.parametrize("lost", ["", "proof", "consent", "plan", "month"])
def test_a_deep_scan_that_is_due_still_needs_proof_consent_plan_and_month(lost, client, link):
    asked = {"frequency": "monthly", "profile": "deep", "consent": True}
    ask(client, fields_for(link, **asked), path=SCAN_SCHEDULE_PATH)
    ScanSchedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    if lost == "proof":
        OwnershipClaim.objects.update(strength="https")
    elif lost == "consent":
        ScanConsent.objects.update(at=timezone.now() - timedelta(days=366))
    elif lost == "plan":
        Entitlement.objects.update(features=[])
    elif lost == "month":
        ScanSchedule.objects.update(frequency="weekly")
    assert schedules.queue_due(timezone.now()) == (not lost)
