"""Checks of a claim in all of its places."""

import pytest
from django.utils import timezone

from dashboard_api.ownership import checks, claims
from tests import factories
from tests.faults.server import FaultServer, say_nothing
from tests.foundation.outbound.internet import PUBLIC, Internet

pytestmark = pytest.mark.django_db
HOST = "shop.example.com"


def test_all_places_share_one_limit_of_time(monkeypatch):
    internet = Internet(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    monkeypatch.setattr(checks, "SECONDS", 0.7)
    claim = claims.add(factories.make_account(), HOST, by="ada", now=timezone.now())
    with FaultServer(say_nothing) as server:
        internet.serve(server)
        claim = checks.check_claim(claim, now=timezone.now())
    assert [result["outcome"] for result in claim.checks] == ["timed_out", "timed_out"]
    assert server.connections == 1, "the second place was not asked, because the time was over"
