"""A scanned website at a public address, served on loopback."""

import ssl

import pytest

from dashboard_api.crawler.essentials import scan
from tests.dashboard_api.crawler.essentials.good_website import HOST
from tests.faults.certificate import write_certificate
from tests.faults.server import FaultServer
from tests.foundation.outbound.internet import PUBLIC, Internet


@pytest.fixture
def internet(monkeypatch):
    monkeypatch.setattr(scan, "_PAUSE", 0)
    internet = Internet(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    yield internet
    internet.end()


@pytest.fixture
def certificate(tmp_path):
    return write_certificate(tmp_path, name=HOST)


@pytest.fixture
def serve(internet, certificate):
    """Serve scripts at a port of the scanned address, or ``at`` another; without a script it is closed."""

    def serve(*scripts, port=443, at=PUBLIC, tls=certificate[1], server=FaultServer):
        scripts = scripts if None in scripts else [server(*scripts, tls=tls if port == 443 else None)]
        return internet.serve(*scripts, address=at, port=port)

    return serve


@pytest.fixture
def trusting(certificate):
    return ssl.create_default_context(cafile=certificate[0])
