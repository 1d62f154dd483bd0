import pytest

from tests.foundation.outbound.internet import Internet


@pytest.fixture
def internet(monkeypatch):
    return Internet(monkeypatch)
