import os

import pytest

from dashboard_api.crawler import policy, wall, worker
from dashboard_api.crawler.canary import Look
from dashboard_api.crawler.home_page import HomePage

PAGE = HomePage(title="Shop", links=12, script_hosts=("shop.example.com",), size=14, has_content=True)


@pytest.fixture(autouse=True)
def _fast_engines(monkeypatch):
    """Scans of loopback websites burden nobody; test_wall has a test of the pace."""
    monkeypatch.setattr(policy, "CONNECTIONS_A_SECOND", 1_000)


@pytest.fixture
def public_address(monkeypatch):
    """Every website has this address, and the same home page: no name is resolved."""
    monkeypatch.setattr(worker, "addresses_of", lambda _host: ["192.0.2.10"])
    monkeypatch.setattr(worker, "look", lambda *_, **__: Look("", PAGE))


@pytest.fixture
def behind_wall(settings):
    """Engines run behind the wall, as in production; REQUIRE_BWRAP=1 fails without it instead of skipping."""
    if problem := wall.problem_here():
        without = pytest.fail if os.environ.get("REQUIRE_BWRAP") == "1" else pytest.skip
        without(f"bubblewrap: {problem}")
    settings.CRAWLER_WALL = True


@pytest.fixture
def crawler(settings):
    """This deployment scans, so customers can queue scans."""
    settings.CRAWLER_ENABLED = True
