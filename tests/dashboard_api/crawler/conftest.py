import pytest

from dashboard_api.crawler import process, worker


@pytest.fixture
def public_address(monkeypatch):
    """Every website has this address: no name is resolved."""
    monkeypatch.setattr(worker, "addresses_of", lambda _host: ["192.0.2.10"])
    monkeypatch.setattr(worker, "look", lambda *_, **__: "")


@pytest.fixture
def short_grace(monkeypatch):
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.3)


@pytest.fixture
def crawler(settings):
    """This deployment scans, so customers can queue scans."""
    settings.CRAWLER_ENABLED = True
