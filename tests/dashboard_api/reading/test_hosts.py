"""The filter by host: the findings whose first location is on one of the hosts, with every other filter."""

import pytest

from dashboard_api import limits
from dashboard_api.contract.requests import read_request
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Kind, Severity, Source
from signed_api.findings import DASHBOARD
from tests.dashboard_api import calls
from tests.dashboard_api.calls import fields_for
from tests.dashboard_api.reading.varied import HOSTS, TODAY, make_varied_website
from tests.factories import make_finding, make_link

pytestmark = pytest.mark.django_db
SHOP, API = HOSTS[:2]


@pytest.fixture
def link():
    return make_link(website=make_varied_website())


@pytest.fixture
def site(link):
    return link.website


def answer(link, **filters):
    return calls.answer(link, now=TODAY, **filters)


def ids(response):
    return [int(threat.id) for threat in response.threats]


def keys(findings):
    return list(findings.values_list("pk", flat=True))


def zap():
    return Source.objects.get(slug="zap")


def test_other_facets_and_charts_count_the_findings_of_the_hosts(link, site):
    own = site.findings.filter(host=API)
    response = answer(link, hosts=API)
    facets = response.dashboard.facets
    for value in facets.severity:
        severity = Severity[value.value.upper()]
        assert value.count == own.filter(status="open", severity=severity).count()
    for value in facets.status[:-1]:
        assert value.count == own.filter(status=value.value).count()
    assert sum(response.charts[0].series[0].values) == own.filter(status="open").count()
    assert response.summary.open == site.findings.filter(status="open").count()


def test_hosts_with_most_findings_are_listed_and_those_of_the_request(link, monkeypatch):
    monkeypatch.setattr(limits, "MAX_HOSTS", 1)
    (first,) = answer(link).dashboard.facets.hosts
    rare = next(host for host in HOSTS if host != first.value)
    facet = answer(link, hosts=rare).dashboard.facets.hosts
    assert [value.value for value in facet] == [first.value, rare]


def test_a_host_may_be_written_in_any_form(link):
    assert answer(link, hosts="API.Shop.Example.com., " + SHOP).dashboard.filters.hosts == f"{API},{SHOP}"


def test_a_finding_counts_for_the_host_of_its_first_location_only(link, site):
    make_finding(
        site,
        location="https://new.shop.example.com/a",
        other_locations=f"https://{API}/b",
        kind=Kind.CONFIRMED,
        title="At two hosts",
    )
    assert len(ids(answer(link, hosts="new.shop.example.com"))) == 1
    assert ids(answer(link, hosts=API, query="two hosts")) == []


@pytest.mark.parametrize("hosts", ["a b", "https://shop.example.com/", ",", 7, "x'"])
def test_what_is_no_host_is_refused(link, hosts):
    with pytest.raises(InvalidRequest) as refused:
        read_request(DASHBOARD, fields_for(link, hosts=hosts))
    assert [error["field"] for error in refused.value.details["errors"]] == ["hosts"]
