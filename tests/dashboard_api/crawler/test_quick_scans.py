"""Quick scans are small: what they ask a website, counted there."""

from pathlib import Path

import pytest
from django.conf import settings as product

from dashboard_api.crawler import queue
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.worker import Worker
from tests import factories
from tests.dashboard_api.crawler.ground_truth import figures
from tests.dashboard_api.crawler.ground_truth.table import websites
from tests.faults.server import FaultServer, answer

MOST_REQUESTS = 20
PAGE = b"<!doctype html><title>Shop</title><p>Welcome.</p><a href='/about'>About</a>"


def shipped():
    return read_engines(Path(product.BASE_DIR) / "deploy/engines.toml")


def test_a_quick_scan_looks_for_no_exposed_files_and_starts_no_program_of_others():
    quick = [engine for engine in shipped() if engine.profile == "quick"]
    assert {"exposed-files", "sslyze"}.isdisjoint(engine.name for engine in quick)
    assert all(engine.command[0].startswith("$") for engine in quick)  # built in
    standard = {engine.name for engine in shipped() if engine.is_part_of("standard", "shop.example.com")}
    assert {"exposed-files", "sslyze"} <= standard


@pytest.mark.django_db
def test_a_quick_scan_asks_a_plain_website_at_most_twenty_times(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    with FaultServer(answer(200, PAGE, headers=[("Content-Type", "text/html")])) as server:
        settings.LOCALHOST_WEBSITES = {"shop.localhost": server.port}
        queue.add(factories.make_scannable("shop.localhost"), by="ada")
        job = Worker("w1", shipped(), lambda: False).run_one()
    assert {run.state for run in job.runs.all()} == {"ok"}
    assert 0 < server.connections <= MOST_REQUESTS


def test_a_website_with_https_is_asked_no_more():
    website = next(each for each in websites() if each.line == "hsts-off" and not each.wanted)
    with figures.scanning() as scanned:
        # Two looks of the worker at the page, each with a redirect at most.
        assert 0 < scanned(website).requests <= MOST_REQUESTS - 4
