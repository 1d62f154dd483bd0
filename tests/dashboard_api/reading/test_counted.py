"""Every number and every list of the dashboard is what counting the findings one by one gives."""

import random
from collections import Counter, defaultdict
from datetime import timedelta

import pytest

from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.reading import topics
from dashboard_api.reading.days import midnight_days_ago, recent_weeks
from foundation.texts.words import words_of
from tests.dashboard_api import calls
from tests.dashboard_api.reading.varied import HOSTS, TODAY, make_varied_website
from tests.factories import make_link, make_note

pytestmark = pytest.mark.django_db
FACETS = {"severity": "severity", "source": "source", "kind": "kind", "hosts": "host"}
VALUES = {
    "severity": [severity.label for severity in Severity],
    "source": ["nuclei", "zap", "Burp", "nikto"],
    "kind": Kind.values,
    "hosts": [*HOSTS, "other.example.com"],
}
QUERIES = (
    "finding",
    "Finding 1",
    "find 12",
    "shop rule",
    "rule 3",
    "cve 2026",
    "nothing here",
    "!!",
    "FÍNDING 5",
)


@pytest.fixture
def link():
    return make_link(website=make_varied_website())


@pytest.fixture
def findings(link):
    return list(link.website.findings.select_related("source"))


def columns(finding):
    return {
        "severity": Severity(finding.severity).label,
        "source": finding.source.slug,
        "kind": finding.kind,
        "hosts": finding.host,
    }


def words(finding):
    texts = (finding.title, finding.location, finding.rule, *finding.cve, finding.description)
    return set(words_of(" ".join(texts)))


def is_match(finding, request, now):
    """Return whether a finding is what the request asks beyond status and facets."""
    if query := request.get("query"):
        wanted, own = words_of(query), words(finding)
        if not wanted or not own.issuperset(wanted[:-1]):
            return False
        if not any(word.startswith(wanted[-1]) for word in own):
            return False
    if (problem := request.get("problem")) and topics.problem_id(finding.problem) != problem:
        return False
    if (days := request.get("since")) and finding.first_seen < midnight_days_ago(now, days):
        return False
    if (days := request.get("older_than")) and finding.first_seen >= midnight_days_ago(now, days):
        return False
    days = request.get("fixed_since")
    return not days or (finding.fixed_at is not None and finding.fixed_at >= midnight_days_ago(now, days))


def passes(finding, request, *, without=None):
    own = columns(finding)
    return all(
        name == without or name not in request or own[name] in request[name].split(",") for name in FACETS
    )


def has_status(finding, request):
    return request.get("status", "open") in (finding.status, "all")


def order_of(request):
    sort = request.get("sort", "worst")
    time = "fixed_at" if request.get("fixed_since") else "first_seen" if request.get("older_than") else None

    def key(finding):
        at = getattr(finding, time).timestamp() if time else 0
        if sort == "oldest":
            return at, finding.pk
        rank = Kind.values.index(finding.kind) if sort == "priority" else 0
        return (0 if sort == "newest" else -finding.severity, rank, -at, -finding.pk)

    return key


def random_request(dice, problems):
    request = {}
    for name, values in VALUES.items():
        if dice.random() < 0.35:
            request[name] = ",".join(dice.sample(values, dice.randint(1, 2)))
    if dice.random() < 0.6:
        request["status"] = dice.choice([*Finding.Status.values, "all"])
    match dice.randrange(12):
        case 0:
            request["since"] = dice.choice([1, 7, 30, 90])
        case 1:
            request["older_than"] = dice.choice([7, 30])
        case 2:
            request |= {"fixed_since": dice.choice([7, 90]), "status": "fixed"}
        case 3 | 4 | 5 | 6:
            request["query"] = dice.choice(QUERIES)
    if dice.random() < 0.4:
        request |= {"group_by": "problem", "sort": dice.choice(["worst", "newest", "oldest", "locations"])}
    else:
        if dice.random() < 0.2:
            request["problem"] = dice.choice(problems)
        request["sort"] = dice.choice(["worst", "newest", "oldest", "priority"])
    return request | {"page": dice.choice([1, 1, 2, 3]), "page_size": dice.choice([3, 20])}


def check_facets(page, matching, request):
    for name in FACETS:
        counts = Counter(
            columns(each)[name]
            for each in matching
            if has_status(each, request) and passes(each, request, without=name)
        )
        shown = {value.value: value.count for value in getattr(page.facets, name)}
        assert {value: count for value, count in shown.items() if count} == {
            value: count for value, count in counts.items() if value
        }, name
    counts = Counter(each.status for each in matching if passes(each, request))
    assert {value.value: value.count for value in page.facets.status} == {
        status: counts[status] for status in Finding.Status.values
    } | {"all": counts.total()}


def check_problems(page, found, request):
    groups = defaultdict(list)
    for each in found:
        groups[topics.problem_id(each.problem)].append(each)

    def order(problem):
        own = groups[problem]
        worst = [each for each in own if each.severity == max(one.severity for one in own)]
        by_worst = (-worst[0].severity, all(each.kind != "confirmed" for each in worst), -len(worst), problem)
        return {
            "worst": by_worst,
            "newest": -max(each.pk for each in own),
            "oldest": min(each.pk for each in own),
            "locations": (-sum(each.locations_count for each in own), *by_worst),
        }[request["sort"]]

    end = request["page"] * request["page_size"]
    assert page.problem_total == len(groups)
    assert [each.id for each in page.problems] == sorted(groups, key=order)[end - request["page_size"] : end]
    for problem in page.problems:
        own = groups[problem.id]
        worst = max(each.severity for each in own)
        assert problem.severity == Severity(worst).label
        assert problem.findings == len(own)
        assert problem.worst_findings == sum(each.severity == worst for each in own)
        assert problem.confirmed == sum(each.kind == "confirmed" for each in own)
        assert problem.locations == sum(each.locations_count for each in own)
        assert problem.first_seen == min(each.first_seen for each in own)
        assert problem.newest_first_seen == max(each.first_seen for each in own)
        newest_first = sorted(own, key=lambda each: -each.pk)
        assert problem.hosts == list(dict.fromkeys(each.host for each in newest_first if each.host))[:5]
        assert problem.sources == sorted({each.source.slug for each in own}, key=str.lower)


@pytest.mark.parametrize("seed", range(6))
def test_a_random_request_gets_what_counting_one_by_one_gives(link, findings, seed):
    dice = random.Random(seed)
    problems = sorted({topics.problem_id(each.problem) for each in findings})
    for _ in range(50):
        request = random_request(dice, problems)
        matching = [each for each in findings if is_match(each, request, TODAY)]
        found = [each for each in matching if has_status(each, request) and passes(each, request)]
        response = calls.answer(link, now=TODAY, **request)
        page = response.dashboard
        assert page.total == len(found), request
        check_facets(page, matching, request)
        if "group_by" in request:
            check_problems(page, found, request)
        else:
            end = request["page"] * request["page_size"]
            ids = [each.pk for each in sorted(found, key=order_of(request))]
            assert [int(row.id) for row in response.threats] == ids[end - request["page_size"] : end], request
            assert page.page_count == -(-len(found) // request["page_size"])


@pytest.mark.parametrize("filters", [{}, {"severity": "High,Low"}, {"source": "zap", "kind": "suspected"}])
def test_charts_count_what_the_filters_leave(link, findings, filters):
    response = calls.answer(link, now=TODAY, **filters)
    charts = {chart.id: chart for chart in response.charts}
    found = [each for each in findings if each.status == "open" and passes(each, filters)]
    assert sum(charts["severity"].series[0].values) == len(found)
    assert sum(sum(series.values) for series in charts["source"].series) == len(found)
    weeks = recent_weeks(TODAY.date())
    for series, column in zip(charts["trend"].series, ("first_seen", "fixed_at"), strict=True):
        times = [getattr(each, column) for each in findings if passes(each, filters)]
        by_week = Counter(at.date() - timedelta(days=at.weekday()) for at in times if at)
        assert series.values == [by_week[week] for week in weeks]
    ages = Counter()
    for each in findings:
        if each.status == "open":
            days = (TODAY.date() - each.first_seen.date()).days + 1
            ages[next((index for index, last in enumerate((7, 30, 90, 365)) if days <= last), 4)] += 1
    assert charts["age"].series[0].values == [ages[index] for index in range(5)]


def test_the_totals_of_the_website_ignore_the_filters(link, findings):
    summary = calls.answer(link, now=TODAY, severity="Low", query="nothing here").summary
    still_open = [each for each in findings if each.status == "open"]
    week = midnight_days_ago(TODAY, 7)
    assert summary.open == len(still_open)
    assert summary.confirmed == sum(each.kind == "confirmed" for each in still_open)
    assert summary.new_7d == sum(each.first_seen >= week for each in findings)
    assert summary.fixed_7d == sum(each.fixed_at is not None and each.fixed_at >= week for each in findings)
    oldest = min(each.first_seen.date() for each in still_open)
    assert summary.oldest_open_days == (TODAY.date() - oldest).days


def test_what_to_do_first_has_the_numbers_of_the_list_of_problems(link):
    first = calls.answer(link, now=TODAY).dashboard.do_first
    listed = calls.answer(link, now=TODAY, group_by="problem", page_size=100).dashboard.problems
    assert first
    assert [each for each in listed if each.severity != "Info"][: len(first)] == first


def test_numbers_follow_each_change_at_once(link):
    """Kept counts belong to one version of the data."""
    assert calls.answer(link, now=TODAY).summary.open
    total = calls.answer(link, now=TODAY).summary.open
    first = link.website.findings.filter(status="open").first()
    first.delete()
    assert calls.answer(link, now=TODAY).summary.open == total - 1
    link.website.findings.filter(status="open").update(severity=Severity.LOW)
    assert calls.answer(link, now=TODAY).summary.by_severity["Critical"] == 0
    make_note(link.website, body="Read this")
    assert [note.body for note in calls.answer(link, now=TODAY).analyst_notes] == ["Read this"]
