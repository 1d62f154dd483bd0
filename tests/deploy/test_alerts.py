"""Prometheus itself reads deploy/alerts.yml, and the rules about processes that are down fire in time."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from django.conf import settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from config.operations import health, metrics
from foundation.operations.health import Readiness
from tests.config.checkout import BASE_DIR

ALERTS = BASE_DIR / "deploy" / "alerts.yml"
RULES = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
DOCUMENT = (BASE_DIR / "docs" / "operating" / "monitor.md").read_text()
SECTION = DOCUMENT.partition("\n## Metrics\n")[2].partition("\n## ")[0]
NAME = re.compile(r"\bthreat_dashboard_(\w+)")
BOTH = ("127.0.0.1:8000", "127.0.0.1:8001")


def promtool(*arguments):
    if shutil.which("promtool") is None:
        without = pytest.fail if os.environ.get("REQUIRE_PROMTOOL") == "1" else pytest.skip
        without("promtool is not installed (Debian: apt install prometheus)")
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False)


def test_prometheus_accepts_the_rules():
    checked = promtool("check", "rules", ALERTS)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def up(*values):
    """Return series of ``up`` of both web processes."""
    labels = [f'up{{job="threat-dashboard", instance="{instance}"}}' for instance in BOTH]
    return [{"series": label, "values": value} for label, value in zip(labels, values, strict=True)]


@pytest.mark.parametrize(
    ("series", "alert", "firing"),
    [
        (up("1x4 0x20", "1x4 0x20"), "Down", BOTH),
        (up("1x30", "1x4 0x20"), "Down", BOTH[1:]),
        (up("1x30", "1x6 0x1 1x30"), "Down", ()),  # it restarts
        ([], "NotWatched", ("",)),
        (up("1x30", "1x30"), "NotWatched", ()),
    ],
    ids=["both down", "one down", "restart", "not watched", "watched"],
)
def test_a_process_that_is_down_is_an_alert_within_two_minutes(tmp_path, series, alert, firing):
    """The processes end after a minute, with the intervals of the page; asked two minutes later."""
    [rule] = [rule for rule in RULES if rule["alert"] == alert]
    summary = rule["annotations"]["summary"]
    expected = [
        {
            "exp_labels": {"job": "threat-dashboard", **({"instance": each} if each else {})},
            "exp_annotations": {"summary": summary.replace("{{ $labels.instance }}", each)},
        }
        for each in firing
    ]
    test = {
        "rule_files": [str(ALERTS)],
        "evaluation_interval": "15s",
        "tests": [
            {
                "interval": "15s",
                "input_series": series,
                "alert_rule_test": [{"eval_time": "3m", "alertname": alert, "exp_alerts": expected}],
            }
        ],
    }
    (tmp_path / "test.yml").write_text(yaml.safe_dump(test))
    done = promtool("test", "rules", tmp_path / "test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_has_the_intervals_and_the_job_of_the_rules():
    scraping = yaml.safe_load(re.search(r"```yaml\n(.*?)```", SECTION, re.DOTALL)[1])
    assert scraping["global"] == {"scrape_interval": "15s", "evaluation_interval": "15s"}
    [job] = scraping["scrape_configs"]
    assert job["job_name"] == "threat-dashboard"
    assert job["static_configs"] == [{"targets": [*BOTH]}]


@pytest.fixture
def scraped(monkeypatch):
    """The names of all metrics of the product, without the prefix."""
    monkeypatch.setattr(settings, "METRICS_TOKEN", "x" * 32)
    monkeypatch.setattr(health, "READINESS", Readiness({"database": lambda: None}))
    metrics._database_gauges.cache_clear()
    text = Client().get("/metrics", HTTP_AUTHORIZATION=f"Bearer {'x' * 32}").text
    families = text_string_to_metric_families(text)
    return {
        re.sub(r"^threat_dashboard_", "", family.name) + ("_total" if family.type == "counter" else "")
        for family in families
        if not family.name.endswith("_created")  # of a single process, as in tests
    }


@pytest.mark.django_db
def test_every_metric_has_an_alert_or_is_named_as_one_without(scraped):
    alerted = set(NAME.findall(" ".join(rule["expr"] for rule in RULES)))
    without = set(re.findall(r"`(\w+)`", SECTION.partition("Four metrics have none")[2].partition(".\n")[0]))
    assert len(without) == 4
    assert alerted | without == scraped
    assert not alerted & without


@pytest.mark.django_db
def test_the_page_lists_every_metric(scraped):
    listed = {
        name
        for row in re.findall(r"^\| (`.+?) \|", SECTION, re.MULTILINE)
        for name in re.findall(r"`(\w+)", row)
    }
    assert listed - {"threat_dashboard_"} == scraped


@pytest.mark.django_db
def test_the_board_asks_for_metrics_that_exist(scraped):
    board = json.loads((BASE_DIR / "deploy" / "grafana.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    names = {name for expr in asked for name in NAME.findall(expr)}
    assert {re.sub("_(bucket|count|sum)$", "", name) for name in names} <= scraped
    assert len(names) > 8
