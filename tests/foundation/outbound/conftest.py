import pytest

from tests.foundation.outbound.internet import Internet


@pytest.fixture
def internet(monkeypatch):
    internet = Internet(monkeypatch)
    yield internet
    internet.end()
