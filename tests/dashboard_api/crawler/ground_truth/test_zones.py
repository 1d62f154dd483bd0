"""Zones with known problems: a tenth of the table, and what it must have."""

import pytest

from dashboard_api.crawler.essentials.domain_rules import OF_DOMAIN
from foundation.outbound import name_servers
from tests.dashboard_api.crawler.ground_truth.zones import compare, serving, zones
from tests.faults.name_servers import RESOLVER
from tests.foundation.outbound.internet import Internet

pytestmark = pytest.mark.once

ZONES = zones()
BY_SIGNATURES = {"dnssec-bogus"}  # the name server of the zones signs nothing


@pytest.fixture
def served(monkeypatch, settings, tmp_path):
    with serving(Internet(monkeypatch, name_server=RESOLVER), tmp_path) as served:
        settings.DNS_RESOLVERS = served.resolvers
        monkeypatch.setattr(name_servers, "_SECONDS", 0.5)
        yield served


def test_each_rule_is_wanted_and_half_of_the_zones_have_none():
    assert set().union(*(zone.wanted for zone in ZONES)) == set(OF_DOMAIN) - BY_SIGNATURES
    assert len(ZONES) >= 50
    assert 2 * sum(not zone.wanted for zone in ZONES) >= len(ZONES)


def test_a_tenth_of_the_zones_has_the_wanted_findings_and_no_others(served):
    _, lines = compare(served, ZONES[::10])
    assert lines == []


@pytest.mark.slow
def test_all_zones_have_the_wanted_findings_and_no_others(served):
    _, lines = compare(served, ZONES)
    assert lines == []
