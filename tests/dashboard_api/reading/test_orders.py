"""The order of a list, lists of the last days, and filters with several values."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api import limits
from dashboard_api.contract.requests import read_request
from dashboard_api.decisions import triage
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Kind
from signed_api.findings import DASHBOARD
from tests.dashboard_api import calls
from tests.dashboard_api.calls import fields_for
from tests.dashboard_api.reading.varied import TODAY, make_varied_website
from tests.factories import make_finding, make_import_run, make_link, make_source

pytestmark = pytest.mark.django_db


@pytest.fixture
def link():
    return make_link(website=make_varied_website())


@pytest.fixture
def site(link):
    return link.website


def answer(link, *, now=TODAY, **filters):
    return calls.answer(link, now=now, **filters)


def ids(response):
    return [int(threat.id) for threat in response.threats]


def keys(findings):
    return list(findings.values_list("pk", flat=True))


def test_a_verified_finding_is_before_the_suspected_ones_of_its_severity(link):
    site = link.website
    first, second = (make_finding(site, severity=4, kind="suspected") for _ in range(2))
    by_scanner = make_finding(site, severity=4, kind="confirmed")
    critical = {"sort": "priority", "severity": "Critical"}
    before = ids(answer(link, **critical))
    assert before.index(by_scanner.pk) < before.index(second.pk) < before.index(first.pk)
    triage.confirm(first, by="ada", reason="We looked.", now=TODAY)
    listed = {int(threat.id): threat for threat in answer(link, **critical).threats}
    assert list(listed).index(first.pk) < list(listed).index(second.pk)
    assert (listed[first.pk].verified, listed[by_scanner.pk].verified) == (True, False)


def test_problems_by_priority_are_those_of_the_worst_first(link):
    problems = [
        [problem.id for problem in answer(link, group_by="problem", sort=sort).dashboard.problems]
        for sort in ("worst", "priority")
    ]
    assert problems[0] == problems[1] != []


def test_the_ages_of_the_chart_and_the_fixed_ones_of_the_summary_are_lists(link, site):
    response = answer(link)
    (chart,) = (chart for chart in response.charts if chart.id == "age")
    days = limits.AGE_DAYS
    spans = [{"since": days[0]}]
    spans += [{"since": last, "older_than": first} for first, last in itertools.pairwise(days)]
    spans += [{"older_than": days[-1]}]
    assert chart.series[0].values == [answer(link, **span).dashboard.total for span in spans]
    fixed = answer(link, status="fixed", fixed_since=7)
    assert response.summary.fixed_7d == fixed.dashboard.total > 0


def test_the_worst_first_is_the_default(link):
    assert ids(answer(link, sort="worst")) == ids(answer(link))
    assert answer(link).dashboard.filters.sort == "worst"
    assert answer(link, sort="OLDEST").dashboard.filters.sort == "oldest"


def test_filters_take_several_values(link, site):
    found = answer(
        link, severity="low, CRITICAL", source="zap,nuclei", kind="confirmed,suspected", page_size=100
    )
    twin = site.findings.filter(
        status="open",
        severity__in=(4, 1),
        source__slug__in=("zap", "nuclei"),
        kind__in=("confirmed", "suspected"),
    )
    assert ids(found) == keys(twin.worst_first())
    assert found.dashboard.total == twin.count()
    shown = found.dashboard.filters
    assert (shown.severity, shown.source, shown.kind) == ("Critical,Low", "nuclei,zap", "confirmed,suspected")


def test_a_source_without_findings_next_to_another_narrows_nothing_more(link):
    assert answer(link, source="zap,nikto").dashboard.total == answer(link, source="zap").dashboard.total


def test_findings_of_earlier_imports_are_not_of_the_last_days(link, site):
    last = site.findings.order_by("pk").last().pk
    make_import_run(site, imported_at=TODAY - timedelta(days=3), newest_finding_id=last, newest_event_id=0)
    assert ids(answer(link, since=1)) == []
    new = make_finding(site, first_seen=TODAY, last_seen=TODAY, kind=Kind.CONFIRMED)
    make_finding(site, first_seen=TODAY - timedelta(days=9), last_seen=TODAY)
    assert ids(answer(link, since=1)) == [new.pk]


def test_recent_findings_of_a_problem_and_by_problem(link, site):
    since = datetime.combine((TODAY - timedelta(days=59)).date(), datetime.min.time(), tzinfo=UTC)
    recent = site.findings.filter(status="open", first_seen__gte=since)
    problem = recent.filter(rule="rule-3").first().problem
    listed = answer(link, since=60, problem=problem, page_size=100)
    assert ids(listed) == keys(recent.filter(problem=problem).worst_first())
    grouped = answer(link, since=60, group_by="problem", page_size=100).dashboard.problems
    assert {each.id: each.findings for each in grouped}[problem] == len(listed.threats)
    assert sum(each.findings for each in grouped) == recent.count()


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"sort": "locations"}, "sort", "must not be locations without group_by"),
        ({"since": 0}, "since", "must be an integer from 1 to 366"),
        ({"since": "7"}, "since", "must be an integer from 1 to 366"),
        ({"sort": "best"}, "sort", "must be one of worst, newest, oldest, locations, priority"),
        ({"older_than": 7, "query": "sql"}, "older_than", "must not be given with query"),
        ({"since": 7, "older_than": 7}, "older_than", "must be less than since"),
        ({"fixed_since": 7}, "fixed_since", "must not be given without status fixed"),
        ({"fixed_since": 7, "status": "fixed", "since": 9}, "fixed_since", "must not be given with since"),
    ],
)
def test_orders_and_times_that_exclude_each_other_are_refused(link, fields, field, message):
    with pytest.raises(InvalidRequest) as refused:
        read_request(DASHBOARD, fields_for(link, **fields))
    assert refused.value.details["errors"] == [{"field": field, "message": message}]


def test_a_search_inside_a_topic_finds_the_findings_of_all_its_scanners(link, site):
    for slug, rule in (("zap", "10021"), ("wapiti", "MIME Type Confusion")):
        make_finding(site, source=make_source(slug), rule=rule, title="No sniffing")
    make_finding(site, source=make_source("zap"), rule="other", title="No sniffing")
    assert len(ids(answer(link, query="sniff", problem="content-type-options"))) == 2


@pytest.mark.parametrize("sort", ["newest", "oldest", "locations"])
def test_what_to_do_first_is_the_worst_in_every_order(link, sort):
    first = answer(link).dashboard.do_first
    assert answer(link, group_by="problem", sort=sort).dashboard.do_first == first
