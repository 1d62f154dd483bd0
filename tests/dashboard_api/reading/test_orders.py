"""The order of a list, lists of the last days, and filters with several values."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api import limits
from dashboard_api.contract import read_dashboard_request
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Kind, Source
from tests.dashboard_api import calls
from tests.dashboard_api.calls import fields_for
from tests.dashboard_api.queries.varied import TODAY, make_varied_website
from tests.factories import make_finding, make_import_run, make_link

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


@pytest.mark.parametrize(("sort", "order"), [("newest", "-pk"), ("oldest", "pk")])
@pytest.mark.parametrize("page", [1, 3, 99])
def test_a_list_can_begin_with_the_newest_or_the_oldest(link, site, sort, order, page):
    for filters, twin in (
        ({}, site.findings.filter(status="open")),
        ({"status": "all"}, site.findings.all()),
        ({"kind": "suspected"}, site.findings.filter(status="open", kind="suspected")),
        ({"severity": "Critical,Info"}, site.findings.filter(status="open", severity__in=(4, 0))),
    ):
        expected = keys(twin.order_by(order)[(page - 1) * 20 : page * 20])
        assert ids(answer(link, sort=sort, page=page, **filters)) == expected


def test_the_worst_first_is_the_default(link):
    assert ids(answer(link, sort="worst")) == ids(answer(link))
    assert answer(link).dashboard.filters.sort == "worst"
    assert answer(link, sort="OLDEST").dashboard.filters.sort == "oldest"


def test_the_findings_of_a_problem_can_be_sorted(link, site):
    problem = site.findings.filter(status="open", rule="rule-3").first().problem
    expected = site.findings.filter(status="open", problem=problem).order_by("pk")
    assert ids(answer(link, problem=problem, sort="oldest", page_size=100)) == keys(expected)


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


def test_a_facet_with_several_values_still_counts_the_others(link, site):
    page = answer(link, severity="Critical,Low", kind="suspected").dashboard
    for value in page.facets.severity:
        number = {"Critical": 4, "High": 3, "Medium": 2, "Low": 1, "Info": 0}[value.value]
        assert value.count == site.findings.filter(status="open", kind="suspected", severity=number).count()


def test_an_unknown_source_next_to_a_known_one_narrows_nothing_more(link):
    assert answer(link, source="zap,unknown").dashboard.total == answer(link, source="zap").dashboard.total


@pytest.mark.parametrize("days", [1, 7, 60])
def test_findings_of_the_last_days_are_listed_worst_first(link, site, days):
    since = datetime.combine((TODAY - timedelta(days=days - 1)).date(), datetime.min.time(), tzinfo=UTC)
    zap = Source.objects.get(slug="zap")
    for filters, twin in (
        ({}, site.findings.filter(status="open")),
        ({"status": "all"}, site.findings.all()),
        ({"severity": "High,Low"}, site.findings.filter(status="open", severity__in=(3, 1))),
        (
            {"source": "zap", "kind": "suspected"},
            zap.findings.filter(website=site, status="open", kind="suspected"),
        ),
    ):
        twin = twin.filter(first_seen__gte=since)
        response = answer(link, since=days, page_size=100, **filters)
        assert ids(response) == keys(twin.worst_first()[:100])
        assert response.dashboard.total == twin.count()
        assert response.dashboard.facets.status == []
        assert response.dashboard.filters.since == days


def test_findings_of_the_last_days_are_counted_as_a_search_is(link, monkeypatch):
    monkeypatch.setattr(limits, "MAX_COUNTED_MATCHES", 5)
    page = answer(link, since=60).dashboard
    assert (page.total, page.total_relation) == (5, "at_least")
    assert set(page.bounded_facets) == {"severity", "source", "kind"}


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
        ({"sort": "newest", "query": "x"}, "sort", "must not be given with query"),
        ({"sort": "oldest", "since": 7}, "sort", "must not be given with since"),
        ({"sort": "newest", "group_by": "problem"}, "sort", "must not be given with group_by"),
        ({"since": 7, "query": "x"}, "since", "must not be given with query"),
        ({"since": 0}, "since", "must be an integer from 1 to 366"),
        ({"since": "7"}, "since", "must be an integer from 1 to 366"),
        ({"sort": "best"}, "sort", "must be one of worst, newest, oldest"),
    ],
)
def test_orders_and_times_that_exclude_each_other_are_refused(link, fields, field, message):
    with pytest.raises(InvalidRequest) as refused:
        read_dashboard_request(fields_for(link, **fields))
    assert refused.value.details["errors"] == [{"field": field, "message": message}]


def test_the_worst_first_goes_with_everything(link):
    assert read_dashboard_request(fields_for(link, sort="worst", query="x")).query == "x"
