"""Findings grouped by problem: what to do first, the list of problems, and the findings of one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api.contract.requests import read_request
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.reading.problems import first_advice
from signed_api.findings import DASHBOARD
from tests.dashboard_api.calls import answer, fields_for
from tests.factories import make_coverage, make_finding, make_link, make_source

pytestmark = pytest.mark.django_db


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def site(link):
    return link.website


def grouped(link, **filters):
    return answer(link, group_by="problem", **filters).dashboard


def rules(problems):
    return [problem.rule for problem in problems]


def make_findings(site, number, **fields):
    return [make_finding(site, **fields) for _ in range(number)]


def test_findings_of_one_rule_are_one_problem(link, site):
    now = timezone.now()
    zap = make_source("zap", name="ZAP")
    shared = {"source": zap, "rule": "40018", "title": "SQL injection", "severity": Severity.HIGH}
    make_finding(
        site,
        **shared,
        kind="suspected",
        locations_count=3,
        location="https://shop.example.com/a",
        first_seen=now - timedelta(days=9),
    )
    make_finding(
        site,
        **shared | {"severity": Severity.CRITICAL},
        locations_count=2,
        location="api.shop.example.com:8443/b",
        first_seen=now - timedelta(days=2),
        remediation="Use a query with parameters. Then test it.",
    )
    make_finding(site, rule="40018", source=make_source("nuclei"), severity=Severity.LOW)
    first, _other = grouped(link).problems
    assert (first.title, first.severity, first.sources, first.source_names, first.rule) == (
        "SQL injection", "Critical", ["zap"], ["ZAP"], "40018",
    )  # fmt: skip
    assert (first.findings, first.worst_findings, first.confirmed, first.locations) == (2, 1, 1, 5)
    assert first.hosts == ["api.shop.example.com", "shop.example.com"]
    assert first.first_seen == now - timedelta(days=9)
    assert first.newest_first_seen == now - timedelta(days=2)
    assert first.fix.startswith("Pass values to SQL as parameters")


def test_a_finding_without_a_rule_is_a_problem_by_its_title(link, site):
    for title in ("Open port", "Open port", "Old server"):
        make_finding(site, title=title, rule="")
    assert {problem.title: problem.findings for problem in grouped(link).problems} == {
        "Open port": 2,
        "Old server": 1,
    }


def test_one_problem_of_several_scanners_is_one_group(link, site):
    zap, observatory = make_source("zap", name="ZAP"), make_source("mdn-observatory", name="Observatory")
    make_finding(site, source=zap, rule="10038-1", title="CSP header not set", severity=Severity.MEDIUM)
    make_finding(site, source=observatory, rule="content-security-policy", severity=Severity.HIGH)
    make_finding(site, source=zap, rule="10021", severity=Severity.LOW)
    first, second = grouped(link).problems
    assert (first.id, first.topic, first.findings) == (
        "content-security-policy", "content-security-policy", 2,
    )  # fmt: skip
    assert first.title == "The Content Security Policy (CSP) is missing or weak"
    assert (first.severity, first.sources) == ("High", ["mdn-observatory", "zap"])
    assert (second.id, second.topic) == ("content-type-options", "content-type-options")
    listed = answer(link, problem="content-security-policy")
    assert [threat.severity for threat in listed.threats] == ["High", "Medium"]
    assert {threat.topic for threat in listed.threats} == {threat.problem for threat in listed.threats}
    assert listed.dashboard.total == 2


def test_one_problem_of_several_scanners_is_graded_once(link, site):
    make_coverage(site)
    make_finding(site, source=make_source("zap"), rule="10038-1", severity=Severity.MEDIUM)
    before = answer(link).dashboard.grade
    make_finding(
        site,
        source=make_source("wapiti"),
        rule="Content Security Policy Configuration",
        severity=Severity.MEDIUM,
    )
    assert answer(link).dashboard.grade == before == "C"


def test_a_finding_without_a_topic_says_so(link, site):
    make_finding(site, rule="our-own")
    (threat,) = answer(link).threats
    (problem,) = grouped(link).problems
    assert (threat.topic, problem.topic) == (None, None)
    assert threat.problem == problem.id


def test_problems_come_worst_first_then_confirmed_then_frequent_ones(link, site):
    make_findings(site, 9, rule="low", severity=Severity.LOW)
    make_findings(site, 4, rule="suspected", severity=Severity.CRITICAL, kind=Kind.SUSPECTED)
    make_findings(site, 1, rule="confirmed", severity=Severity.CRITICAL)
    make_findings(site, 2, rule="frequent", severity=Severity.CRITICAL)
    assert rules(grouped(link).problems) == ["frequent", "confirmed", "suspected", "low"]


def test_pages_are_of_problems_and_totals_of_findings(link, site):
    for number in range(5):
        make_findings(site, 2, rule=f"rule-{number}")
    pages = [grouped(link, page=page, page_size=2) for page in (1, 2, 3, 4)]
    assert [len(page.problems) for page in pages] == [2, 2, 1, 0]
    assert len({problem.id for page in pages for problem in page.problems}) == 5
    assert {(page.page_count, page.total, page.problem_total) for page in pages} == {(3, 10, 5)}
    assert answer(link, group_by="problem").threats == []


def test_a_list_of_findings_has_no_problems(link, site):
    make_finding(site)
    page = answer(link).dashboard
    assert (page.problems, page.problem_total) == ([], None)


def test_problems_follow_the_filters(link, site):
    zap = make_source("zap")
    make_findings(site, 2, rule="a", severity=Severity.HIGH)
    make_findings(site, 3, rule="a", severity=Severity.LOW)
    make_finding(site, rule="b", source=zap, kind=Kind.SUSPECTED)
    make_finding(site, rule="c", status=Finding.Status.FIXED, fixed_at=timezone.now())

    def counts(**filters):
        return [(problem.rule, problem.findings) for problem in grouped(link, **filters).problems]

    assert counts() == [("a", 5), ("b", 1)]
    assert counts(severity="Low") == [("a", 3)]
    assert counts(severity="Low,Medium") == [("b", 1), ("a", 3)]
    assert counts(source="zap") == counts(kind="suspected") == [("b", 1)]
    assert counts(status="fixed") == [("c", 1)]
    assert sorted(counts(status="all")) == [("a", 5), ("b", 1), ("c", 1)]
    assert counts(source="nikto") == []


def test_first_to_do_are_the_worst_open_problems(link, site):
    for number in range(7):
        make_findings(site, 1 + number, rule=f"critical-{number}", severity=Severity.CRITICAL)
    make_finding(site, rule="fixed", status=Finding.Status.FIXED, fixed_at=timezone.now(), severity=4)
    assert rules(answer(link).dashboard.do_first) == [f"critical-{number}" for number in (6, 5, 4, 3, 2)]
    assert answer(link, group_by="problem").dashboard.do_first == answer(link).dashboard.do_first


def test_information_is_nothing_to_do(link, site):
    make_finding(site, rule="banner", severity=Severity.INFO)
    assert answer(link).dashboard.do_first == []


@pytest.mark.parametrize(
    "filters",
    [{"severity": "Medium"}, {"kind": "confirmed"}, {"query": "finding"}, {"page": 2}, {"status": "all"}],
)
def test_only_the_first_page_without_filters_says_what_to_do_first(link, site, filters):
    make_finding(site)
    assert answer(link).dashboard.do_first
    assert answer(link, **filters).dashboard.do_first == []


def test_the_findings_of_a_problem_are_listed_and_counted(link, site):
    zap = make_source("zap")
    for number in range(30):
        make_finding(
            site, rule="a", source=zap, severity=number % 5, kind=Kind.values[number % 3], title=f"A {number}"
        )
    make_findings(site, 4, rule="b", source=zap)
    make_finding(site, rule="a", source=zap, status=Finding.Status.FIXED, fixed_at=timezone.now())
    problem = next(each for each in grouped(link).problems if each.rule == "a")
    own = site.findings.filter(rule="a", status="open").worst_first()
    for filters, twin in (
        ({}, own),
        ({"severity": "Critical,Low"}, own.filter(severity__in=(4, 1))),
        ({"kind": "suspected"}, own.filter(kind="suspected")),
        ({"source": "nuclei"}, own.none()),
        ({"status": "all"}, site.findings.filter(rule="a").worst_first()),
    ):
        listed = answer(link, problem=problem.id, page_size=100, **filters)
        assert [threat.id for threat in listed.threats] == [str(finding.pk) for finding in twin]
        assert listed.dashboard.total == twin.count()
    page = answer(link, problem=problem.id, severity="Low", page=2, page_size=4)
    assert [threat.id for threat in page.threats] == [str(each.pk) for each in own.filter(severity=1)[4:8]]
    counts = {value.value: value.count for value in page.dashboard.facets.status}
    assert (counts["open"], counts["fixed"], counts["all"]) == (6, 0, 6)
    assert {value.value: value.count for value in page.dashboard.facets.severity}["Critical"] == 6
    assert page.dashboard.filters.problem == problem.id
    assert page.summary.open == 34


def test_an_unknown_problem_has_no_findings(link, site):
    make_finding(site)
    assert answer(link, problem="0123456789abcdef").threats == []


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"problem": "a b"}, "problem", "must be the id of a problem, exactly as answered"),
        ({"problem": 7}, "problem", "must be a string"),
        ({"group_by": "rule"}, "group_by", "must be one of problem"),
        ({"group_by": "problem", "problem": "abc"}, "group_by", "must not be given with problem"),
        ({"severity": "High,Hgih"}, "severity", "must be one of Critical, High, Medium, Low, Info"),
        ({"severity": "High,"}, "severity", "must be one of Critical, High, Medium, Low, Info"),
        ({"source": ",".join("abcdefghijklmnopqrstu")}, "source", "must have at most 20 values"),
    ],
)
def test_what_cannot_be_asked_is_refused(link, fields, field, message):
    with pytest.raises(InvalidRequest) as refused:
        read_request(DASHBOARD, fields_for(link, **fields))
    assert refused.value.details["errors"] == [{"field": field, "message": message}]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Update jQuery to 3.5.0. Then test.", "Update jQuery to 3.5.0."),
        ("  Escape it!\nThen test.", "Escape it!"),
        ("No end\nSecond line", "No end"),
        ("", ""),
        ("word " * 100, ("word " * 100)[:299].rstrip() + "…"),
        ("Phase: Architecture and Design\nUse a vetted library. Test it.", "Use a vetted library."),
        ("Remove comments, keys, etc. from pages. Test.", "Remove comments, keys, etc. from pages."),
        ("Set a header, e.g. Content-Security-Policy.", "Set a header, e.g. Content-Security-Policy."),
        ("Do this:\n- Turn it off.\n- Restart.", "Turn it off."),
        ("N/A", ""),
        ("See references.", ""),
        ("https://example.com/advice", ""),
        ("References: https://example.com/advice", ""),
    ],
)
def test_a_fix_is_the_first_sentence_that_gives_advice(text, sentence):
    assert first_advice(text) == sentence


def test_findings_whose_titles_differ_have_the_whole_title_of_the_worst_and_newest(link, site):
    for host in ("a", "b"):
        title = f"Keys of {host}.example.com can be read by everyone"
        make_finding(site, rule="keys", title=title, severity=Severity.HIGH)
    make_finding(site, rule="keys", title="Keys of c.example.com can be read", severity=Severity.LOW)
    (problem,) = grouped(link).problems
    assert problem.title == "Keys of b.example.com can be read by everyone"


def test_a_topic_has_its_own_fix(link, site):
    make_finding(site, source=make_source("zap"), rule="10021", remediation="Phase: Design.")
    (problem,) = grouped(link).problems
    assert problem.fix == "Send X-Content-Type-Options: nosniff with every response."
    assert answer(link).dashboard.do_first[0].fix == problem.fix


def test_findings_with_titles_of_their_own_have_the_name_of_their_rule(link, site):
    for title in ("Header A is missing", "Header B is missing"):
        make_finding(site, rule="Missing headers", title=title, severity=Severity.HIGH)
        make_finding(site, rule="missing-7", title=title)
    make_finding(site, rule="One title", title="The same", severity=Severity.LOW)
    titles = [problem.title for problem in grouped(link).problems]
    assert titles == ["Missing headers", "Header B is missing", "The same"]
