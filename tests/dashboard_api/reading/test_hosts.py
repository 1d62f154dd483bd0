"""The filter by host: the findings whose first location is on one of the hosts, with every other filter."""

import itertools

import pytest

from dashboard_api import limits
from dashboard_api.contract import read_dashboard_request
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import HostCount, Kind, Severity, Source
from dashboard_api.reading import sections
from tests.dashboard_api import calls
from tests.dashboard_api.calls import fields_for
from tests.dashboard_api.queries.varied import HOSTS, TODAY, make_varied_website
from tests.factories import make_finding, make_link, make_source

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


@pytest.mark.parametrize("hosts", [(SHOP,), (SHOP, API), HOSTS, ("other.example.com",)])
@pytest.mark.parametrize("sort", ["worst", "newest", "oldest"])
def test_a_list_has_the_findings_of_the_hosts(link, site, hosts, sort):
    order = {"worst": ("-severity", "-pk"), "newest": ("-pk",), "oldest": ("pk",)}[sort]
    of_hosts = site.findings.filter(host__in=hosts)
    problem = site.findings.filter(status="open", rule="rule-3").first().problem
    recent = {"first_seen__gte": sections.start_of_days(TODAY, 60)}
    for fields, twin in (
        ({}, of_hosts.filter(status="open")),
        ({"status": "all"}, of_hosts),
        ({"severity": "High,Low"}, of_hosts.filter(status="open", severity__in=(3, 1))),
        (
            {"source": "zap", "kind": "suspected"},
            of_hosts.filter(status="open", source=zap(), kind="suspected"),
        ),
        ({"query": "finding"}, of_hosts.filter(status="open")),
        ({"since": 60}, of_hosts.filter(status="open", **recent)),
        ({"since": 60, "query": "finding", "status": "all"}, of_hosts.filter(**recent)),
        ({"problem": problem}, of_hosts.filter(status="open", problem=problem)),
        ({"problem": problem, "query": "finding"}, of_hosts.filter(status="open", problem=problem)),
        ({"problem": problem, "since": 60}, of_hosts.filter(status="open", problem=problem, **recent)),
    ):
        response = answer(link, hosts=",".join(hosts), sort=sort, page_size=100, **fields)
        assert ids(response) == keys(twin.order_by(*order)[:100]), fields
        assert (response.dashboard.total, response.dashboard.total_relation) == (twin.count(), "exact"), (
            fields
        )
        assert response.dashboard.filters.hosts == ",".join(sorted(hosts))


@pytest.mark.parametrize(
    "fields",
    [{}, {"severity": "High"}, {"source": "zap", "status": "all"}, {"query": "finding"}, {"since": 60}],
)
def test_every_host_counts_what_leaving_the_filter_out_gives(link, fields):
    for chosen in ({}, {"hosts": API}):
        facet = answer(link, **fields, **chosen).dashboard.facets.hosts
        assert [value.value for value in facet] == [value.label for value in facet]
        assert {value.value for value in facet} == set(HOSTS)
        for value in facet:
            assert value.count == answer(link, **fields, hosts=value.value).dashboard.total
        assert [value.count for value in facet] == sorted((value.count for value in facet), reverse=True)


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
    assert answer(link).dashboard.bounded_facets == []


def test_hosts_that_were_not_all_added_up_say_so(link, monkeypatch):
    monkeypatch.setattr(limits, "MAX_HOST_COUNTS", 3)
    assert answer(link).dashboard.bounded_facets == ["hosts"]
    assert answer(link, kind="suspected", hosts=API).dashboard.bounded_facets == ["hosts"]
    assert answer(link, kind="suspected", query="rule").dashboard.bounded_facets == []


def test_hosts_that_were_all_added_up_do_not_say_so(link, site, monkeypatch):
    monkeypatch.setattr(
        limits, "MAX_HOST_COUNTS", HostCount.objects.filter(website_id=site.pk, status="open").count()
    )
    assert answer(link).dashboard.bounded_facets == []


def test_problems_of_a_host_are_counted(link, site, monkeypatch):
    own = site.findings.filter(status="open", host=API)
    response = answer(link, hosts=API, group_by="problem", page_size=100)
    counts = {problem.id: problem.findings for problem in response.dashboard.problems}
    assert sum(counts.values()) == own.count() == response.dashboard.total
    assert counts[own.first().problem] == own.filter(problem=own.first().problem).count()
    assert response.dashboard.problem_total_relation == "exact"
    monkeypatch.setattr(limits, "MAX_COUNTED_MATCHES", 5)
    response = answer(link, hosts=API, group_by="problem", page_size=100)
    assert response.dashboard.problem_total_relation == "at_least"
    assert (response.dashboard.total, response.dashboard.total_relation) == (own.count(), "exact")


@pytest.mark.parametrize("sort", ["priority", "newest", "oldest"])
@pytest.mark.parametrize("days", [{}, {"since": 60}], ids=["all", "recent"])
def test_findings_of_many_hosts_scanners_and_kinds_are_listed(link, site, sort, days):
    hosts = [f"part-{number}.example.com" for number in range(20)]
    for source, kind in itertools.product([make_source(f"scanner-{each}") for each in range(9)], Kind.values):
        fields = {"source": source, "kind": kind, "severity": Severity.HIGH, "first_seen": TODAY}
        for host in hosts:
            make_finding(site, location=f"https://{host}/", host=host, **fields)
    shown = answer(link, hosts=",".join(hosts), sort=sort, **days)
    assert (shown.dashboard.total, len(shown.threats)) == (540, 20)


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
        read_dashboard_request(fields_for(link, hosts=hosts))
    assert [error["field"] for error in refused.value.details["errors"]] == ["hosts"]
