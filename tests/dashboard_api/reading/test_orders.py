"""The order of a list, lists of the last days, and filters with several values."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Case, Max, Min, Sum, Value, When

from dashboard_api import limits, triage
from dashboard_api.contract import read_dashboard_request
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Kind, Source
from dashboard_api.reading import sections
from tests.dashboard_api import calls
from tests.dashboard_api.calls import fields_for
from tests.dashboard_api.queries.varied import TODAY, make_varied_website
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


def by_priority(findings):
    """The worst first, within a severity confirmed before suspected before informational ones."""
    rank = Case(*(When(kind=kind, then=Value(rank)) for rank, kind in enumerate(Kind.values)))
    return findings.order_by("-severity", rank, "-pk")


@pytest.mark.parametrize("page", [1, 3, 99])
def test_a_list_by_priority_has_confirmed_findings_before_suspected_ones(link, site, page):
    problem = site.findings.filter(status="open", rule="rule-3").first().problem
    for filters, twin in (
        ({}, site.findings.filter(status="open")),
        ({"status": "all"}, site.findings.all()),
        ({"source": "zap"}, site.findings.filter(status="open", source__slug="zap")),
        ({"kind": "suspected,confirmed"}, site.findings.filter(status="open").exclude(kind="informational")),
        ({"hosts": "api.shop.example.com"}, site.findings.filter(status="open", host="api.shop.example.com")),
        ({"problem": problem}, site.findings.filter(status="open", problem=problem)),
        ({"query": "finding"}, site.findings.filter(status="open")),
        (
            {"since": 60},
            site.findings.filter(first_seen__gte=sections.start_of_days(TODAY, 60), status="open"),
        ),
    ):
        expected = keys(by_priority(twin)[(page - 1) * 20 : page * 20])
        assert ids(answer(link, sort="priority", page=page, **filters)) == expected


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


def test_a_search_with_too_many_matches_has_the_newest_first_within_a_severity(link, site, monkeypatch):
    monkeypatch.setattr(limits, "MAX_COUNTED_MATCHES", 5)
    found = answer(link, query="finding", sort="priority", page_size=100)
    assert ids(found) == ids(answer(link, query="finding", page_size=100))


def test_problems_by_priority_are_those_of_the_worst_first(link):
    problems = [
        [problem.id for problem in answer(link, group_by="problem", sort=sort).dashboard.problems]
        for sort in ("worst", "priority")
    ]
    assert problems[0] == problems[1] != []


@pytest.mark.parametrize("counted", [5, 1_000])
@pytest.mark.parametrize("sort", ["worst", "newest", "oldest"])
@pytest.mark.parametrize(
    "times", [{"older_than": 7}, {"since": 90, "older_than": 30}, {"fixed_since": 30, "status": "fixed"}]
)
def test_findings_of_a_span_of_time_are_listed_in_the_order_of_that_time(
    link, site, monkeypatch, counted, sort, times
):
    monkeypatch.setattr(limits, "MAX_COUNTED_MATCHES", counted)
    column = "fixed_at" if "fixed_since" in times else "first_seen"
    bounds = {
        f"{column}__gte": times.get("since") or times.get("fixed_since"),
        f"{column}__lt": times.get("older_than"),
    }
    twin = site.findings.filter(
        status=times.get("status", "open"),
        **{name: sections.start_of_days(TODAY, days) for name, days in bounds.items() if days},
    )
    order = [f"-{column}", "-pk"] if sort != "oldest" else [column, "pk"]
    order = ["-severity", *order] if sort == "worst" else order
    for filters, wanted in (
        ({}, {}),
        ({"severity": "High,Low"}, {"severity__in": (3, 1)}),
        (
            {"source": "zap,nuclei", "kind": "suspected"},
            {"source__slug__in": ("zap", "nuclei"), "kind": "suspected"},
        ),
        ({"hosts": "api.shop.example.com"}, {"host": "api.shop.example.com"}),
    ):
        expected = keys(twin.filter(**wanted).order_by(*order))
        listed = [
            found
            for page in (1, 2, 3)
            for found in ids(answer(link, sort=sort, page=page, page_size=30, **times, **filters))
        ]
        assert listed == expected[:90] != []
        dashboard = answer(link, **times, **filters).dashboard
        assert dashboard.total == min(len(expected), counted)
        assert dashboard.facets.status == []
        assert (dashboard.filters.older_than, dashboard.filters.fixed_since) == (
            times.get("older_than"),
            times.get("fixed_since"),
        )


def test_the_ages_of_the_chart_and_the_fixed_ones_of_the_summary_are_lists(link, site):
    response = answer(link)
    (chart,) = (chart for chart in response.charts if chart.id == "age")
    days = [days + 1 for days in limits.AGE_DAYS]  # these count today, and an age does not
    spans = [{"since": days[0]}]
    spans += [{"since": last, "older_than": first} for first, last in itertools.pairwise(days)]
    spans += [{"older_than": days[-1]}]
    assert chart.series[0].values == [answer(link, **span).dashboard.total for span in spans]
    fixed = answer(link, status="fixed", fixed_since=7)
    assert response.summary.fixed_7d == fixed.dashboard.total > 0


def test_problems_of_a_span_of_time_are_those_of_its_findings(link, site):
    old = site.findings.filter(status="open", first_seen__lt=sections.start_of_days(TODAY, 30))
    problems = answer(link, older_than=30, group_by="problem", page_size=100).dashboard.problems
    assert sum(problem.findings for problem in problems) == old.count()
    problem = old.filter(rule="rule-3").first().problem
    assert set(
        ids(answer(link, older_than=30, problem=problem, hosts="shop.example.com", page_size=100))
    ) == set(keys(old.filter(problem=problem, host="shop.example.com")))


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


def test_a_source_without_findings_next_to_another_narrows_nothing_more(link):
    assert answer(link, source="zap,nikto").dashboard.total == answer(link, source="zap").dashboard.total


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
    assert set(page.bounded_facets) == {"severity", "source", "kind", "hosts"}


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
        read_dashboard_request(fields_for(link, **fields))
    assert refused.value.details["errors"] == [{"field": field, "message": message}]


@pytest.mark.parametrize("counted", [5, 1_000])
@pytest.mark.parametrize("sort", ["worst", "newest", "oldest"])
@pytest.mark.parametrize("days", [None, 30])
def test_a_search_goes_with_a_problem_with_days_and_with_every_order(
    link, site, monkeypatch, counted, sort, days
):
    monkeypatch.setattr(limits, "MAX_COUNTED_MATCHES", counted)
    order = {"worst": ("-severity", "-pk"), "newest": ("-pk",), "oldest": ("pk",)}[sort]
    problem = site.findings.filter(status="open", rule="rule-3").first().problem
    for fields, twin in (
        ({}, site.findings.filter(status="open")),
        ({"problem": problem}, site.findings.filter(status="open", problem=problem)),
        ({"problem": problem, "status": "all"}, site.findings.filter(problem=problem)),
        ({"kind": "suspected"}, site.findings.filter(status="open", kind="suspected")),
    ):
        if days:
            twin = twin.filter(first_seen__gte=sections.start_of_days(TODAY, days))
        expected = keys(twin.order_by(*order))
        assert len(expected) > 2
        pages, page = [], 1
        while page == 1 or len(pages) == 7 * (page - 1):
            found = answer(link, query="finding", since=days, sort=sort, page=page, page_size=7, **fields)
            pages += ids(found)
            page += 1
        assert pages == expected
        assert found.dashboard.total == min(len(expected), counted)


def test_a_search_inside_a_topic_finds_the_findings_of_all_its_scanners(link, site):
    for slug, rule in (("zap", "10021"), ("wapiti", "MIME Type Confusion")):
        make_finding(site, source=make_source(slug), rule=rule, title="No sniffing")
    make_finding(site, source=make_source("zap"), rule="other", title="No sniffing")
    assert len(ids(answer(link, query="sniff", problem="content-type-options"))) == 2


@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_findings_of_the_last_days_have_every_order(link, site, monkeypatch, sort):
    monkeypatch.setattr(limits, "MAX_COUNTED_MATCHES", 5)
    recent = site.findings.filter(status="open", first_seen__gte=sections.start_of_days(TODAY, 60))
    expected = keys(recent.order_by("-pk" if sort == "newest" else "pk"))
    assert ids(answer(link, since=60, sort=sort, page=2, page_size=10)) == expected[10:20]


@pytest.mark.parametrize(
    "fields", [{}, {"status": "all"}, {"severity": "High"}, {"query": "finding"}, {"since": 60}]
)
def test_problems_have_every_order(link, site, fields):
    rows = site.findings.all() if fields.get("status") else site.findings.filter(status="open")
    rows = rows.filter(severity=3) if "severity" in fields else rows
    rows = rows.filter(first_seen__gte=sections.start_of_days(TODAY, 60)) if "since" in fields else rows
    twin = (
        rows.order_by()
        .values("problem")
        .annotate(newest=Max("pk"), oldest=Min("pk"), locations=Sum("locations_count"))
    )

    def listed(sort):
        page = answer(link, group_by="problem", sort=sort, page_size=100, **fields).dashboard
        assert page.filters.sort == sort
        return page.problems

    for sort, order in (("newest", "-newest"), ("oldest", "oldest")):
        expected = [row["problem"] for row in twin.order_by(order)][:100]
        assert [problem.id for problem in listed(sort)] == expected
    locations = [problem.locations for problem in listed("locations")]
    assert locations == sorted((row["locations"] for row in twin), reverse=True)[:100]


def test_of_very_many_problems_the_worst_are_ordered(link, site, monkeypatch):
    monkeypatch.setattr(limits, "MAX_SORTED_TOTALS", 3)
    page = answer(link, group_by="problem", sort="newest", page_size=100).dashboard
    worst = answer(link, group_by="problem", page_size=100).dashboard
    assert page.problem_total_relation == "at_least"
    assert page.problem_total <= 3 < worst.problem_total
    assert {problem.severity for problem in page.problems} == {worst.problems[0].severity}


@pytest.mark.parametrize("sort", ["newest", "oldest", "locations"])
def test_what_to_do_first_is_the_worst_in_every_order(link, sort):
    first = answer(link).dashboard.do_first
    assert answer(link, group_by="problem", sort=sort).dashboard.do_first == first
