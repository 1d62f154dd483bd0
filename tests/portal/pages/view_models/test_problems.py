"""The panel "Do first", and the rows of problems."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.translation import override

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.problems import do_first, problem_rows
from portal.pages.view_models.site import build_results, problem_title
from tests.portal.dashboards import (
    SEVERITIES,
    make_dashboard,
    make_note,
    make_page,
    make_problem,
    make_summary,
    make_threat,
)

PATH = "/sites/shop.example.com/"
HOST = "shop.example.com"
HERE = Address(path=PATH)


def dashboard(*problems, critical=0, high=0, **page):
    counts = dict.fromkeys(SEVERITIES, 0) | {"Critical": critical, "High": high}
    return make_dashboard(
        dashboard=make_page(do_first=list(problems), **page), summary=make_summary(by_severity=counts)
    )


@pytest.mark.parametrize(
    ("problems", "critical", "title"),
    [
        ([10, 24], 34, "2 problems cause all 34 Critical findings"),
        ([34], 34, "1 problem causes all 34 Critical findings"),
        ([10, 9], 34, "2 problems cause 19 of 34 Critical findings"),
        ([10], 1_234, "1 problem causes 10 of 1,234 Critical findings"),
        ([1], 1, "One problem causes the only Critical finding"),
    ],
)
def test_the_heading_says_how_many_problems_cause_the_worst_findings(problems, critical, title):
    worst = [make_problem(number, worst_findings=count) for number, count in enumerate(problems)]
    assert do_first(dashboard(*worst, critical=critical), HERE).title == title


def test_the_heading_counts_the_worst_severity_only():
    panel = do_first(dashboard(make_problem(1), make_problem(2, severity="High"), critical=10, high=99), HERE)
    assert panel.title == "1 problem causes all 10 Critical findings"
    assert [row.severity for row in panel.rows] == ["Critical", "High"]


@pytest.mark.parametrize(
    ("severity", "when"), [("Critical", "today"), ("High", "this week"), ("Medium", ""), ("Unknown", "")]
)
def test_the_panel_says_when_to_fix_the_worst_problem(severity, when):
    assert do_first(dashboard(make_problem(1, severity=severity)), HERE).when == when


def test_without_problems_there_is_no_panel():
    assert do_first(dashboard(), HERE) is None
    assert build_results(dashboard(), HERE).do_first is None


def test_known_topics_are_in_the_readers_language_and_other_texts_as_they_are():
    topic = make_problem(id="tls-1-0-offered", title="TLS 1.0 is offered", topic="tls-1-0-offered")
    other = make_problem(title="Open", fix="Close it.")
    with override("de"):
        known, unknown = problem_rows([topic, other], make_dashboard(), HERE)
    assert known.title == "TLS 1.0 wird angeboten"
    assert (unknown.title, unknown.fix) == ("Open", "Close it.")


def test_the_filter_of_a_topic_has_its_title_whatever_its_findings_are_called():
    threats = [make_threat(title="SQL injection through “a”"), make_threat(title="SQL injection through “b”")]
    assert problem_title(make_dashboard(threats=threats), "sql-injection") == "SQL injection"
    assert problem_title(make_dashboard(threats=threats), "0" * 16) == "such as “SQL injection through “a””"


@pytest.mark.parametrize(
    ("problem", "remediation", "fix"),
    [
        ("log4shell", "Read the advisory.", "Update Log4j to 2.17.1 or later."),
        ("0" * 16, "Move  the\nfile.", "Move the file."),
        ("0" * 16, "word " * 100, "word " * 39 + "word…"),
        ("0" * 16, "", ""),
    ],
)
def test_the_findings_of_a_problem_come_with_its_fix(problem, remediation, fix):
    here = Address(path=PATH, filters=Filters(problem=problem))
    listed = make_dashboard(threats=[make_threat(remediation=remediation), make_threat()])
    assert build_results(listed, here).chosen_problem.fix == fix


def test_the_findings_of_a_problem_come_with_what_it_is_and_how_urgent():
    here = Address(path=PATH, filters=Filters(problem="log4shell"))
    first = make_threat(severity="High", description="A  log\nline is run.")
    problem = build_results(make_dashboard(threats=[first, make_threat()]), here).chosen_problem
    assert problem.description == "A log line is run."
    assert (problem.severity, problem.meaning) == ("High", "A serious weakness. Fix it this week.")


def test_what_a_problem_is_names_none_of_its_findings_if_they_differ_by_their_names():
    here = Address(path=PATH, filters=Filters(problem="sql-injection"))
    threats = [
        make_threat(title=f"Through “{name}”", description=f"The value of “{name}” is run.")
        for name in ("city", "list")
    ]
    problem = build_results(make_dashboard(threats=threats), here).chosen_problem
    assert problem.description == "The value of “…” is run."


def test_the_findings_of_a_problem_come_with_its_name_unless_they_have_several():
    topic = Address(path=PATH, filters=Filters(problem="log4shell"))
    other = Address(path=PATH, filters=Filters(problem="0" * 16))
    threats = [make_threat(title="Open"), make_threat(title="Shut")]
    titles = [
        build_results(make_dashboard(threats=rows), here).chosen_problem.title
        for rows, here in ((threats, topic), (threats[:1], other), (threats, other))
    ]
    assert titles == ["The server is vulnerable to Log4Shell", "Open", ""]


def test_without_findings_of_it_no_problem_is_chosen():
    here = Address(path=PATH, filters=Filters(problem="log4shell"))
    assert build_results(make_dashboard(threats=[]), here).chosen_problem is None
    assert build_results(make_dashboard(threats=[make_threat()]), HERE).chosen_problem is None


def test_a_row_leads_to_the_findings_of_its_problem():
    address = Address(path=PATH, filters=Filters(view="problems", severity="High", page=3))
    (row,) = problem_rows([make_problem(7)], make_dashboard(), address)
    assert row.url == PATH + "?severity=High&problem=0000000000000007"
    (row,) = problem_rows([make_problem(id="../x")], make_dashboard(), address)
    assert row.url == ""


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        ([HOST], ""),
        ([], ""),
        (["www." + HOST], "www." + HOST),
        ([HOST, "api." + HOST], f"{HOST}, api.{HOST}"),
        (["a." + HOST, "b." + HOST, "c." + HOST], f"a.{HOST} and other hosts"),
    ],
)
def test_hosts_are_named_where_they_are_not_the_website_itself(hosts, text):
    (row,) = problem_rows([make_problem(hosts=hosts)], make_dashboard(), HERE)
    assert row.hosts == text


def test_a_list_of_one_kind_shows_no_number_and_no_day_of_all_kinds():
    problem = make_problem(hosts=["a." + HOST], locations=153, first_seen=timezone.now())
    (row,) = problem_rows([problem], make_dashboard(), Address(path=PATH, filters=Filters(kind="suspected")))
    assert (row.findings, row.locations) == (problem.findings, 0)
    assert (row.hosts, row.is_new, row.first_seen) == ("", False, None)
    (row,) = problem_rows([problem], make_dashboard(), HERE)
    assert (row.locations, row.is_new) == (153, True)


def test_a_list_of_some_hosts_names_neither_other_hosts_nor_the_first_day_of_the_whole_problem():
    problem = make_problem(hosts=["a." + HOST, "b." + HOST], first_seen=timezone.now())
    (row,) = problem_rows([problem], make_dashboard(), Address(path=PATH, filters=Filters(hosts="a." + HOST)))
    assert (row.hosts, row.first_seen) == ("", None)
    (row,) = problem_rows([problem], make_dashboard(), HERE)
    assert row.hosts
    assert row.first_seen


@pytest.mark.parametrize(
    ("number", "titles", "text"),
    [
        (1, [], "Problem 1"),
        (2, ["One", "Two"], "Problem 2"),
        (3, ["One", "One"], "One"),
        (3, ["One", "Two"], "such as “One”"),
        (3, [], "this problem"),
    ],
)
def test_the_filter_of_a_problem_has_its_title_and_never_its_id(number, titles, text):
    page = make_page(do_first=[make_problem(1)], problems=[make_problem(2)])
    threats = [make_threat(place, title=title) for place, title in enumerate(titles, start=1)]
    address = Address(path=PATH, filters=Filters(problem=f"{number:016x}"))
    (chip,) = build_results(make_dashboard(dashboard=page, threats=threats), address).chips
    assert chip.value == text


@pytest.mark.parametrize(("confirmed", "text"), [(10, "Confirmed"), (3, "3 confirmed"), (0, "Suspected")])
def test_confirmed_findings_are_named(confirmed, text):
    (row,) = problem_rows([make_problem(confirmed=confirmed)], make_dashboard(), HERE)
    assert row.confirmed == text


@pytest.mark.parametrize(
    ("total", "text"), [(12, "12 problems with 137 findings"), (1, "1 problem with 137 findings")]
)
def test_the_list_of_problems_counts_both(total, text):
    page = make_page(problems=[make_problem()], problem_total=total, total=137)
    results = build_results(make_dashboard(dashboard=page, threats=[]), HERE)
    assert results.count == text
    assert len(results.problems) == 1
    assert results.empty_state is None


def test_a_row_says_how_many_notes_are_about_its_findings():
    notes = [make_note(finding_id="1", problem="1"), make_note(finding_id="2", problem="1"), make_note()]
    listed = make_dashboard(
        dashboard=make_page(do_first=[make_problem(id="1"), make_problem(id="2")]), analyst_notes=notes
    )
    assert [row.notes for row in do_first(listed, HERE).rows] == [2, 0]


def test_a_problem_of_the_last_seven_days_is_new():
    def rows(days, **filters):
        first_seen = make_page().generated_at - timedelta(days=days)
        return problem_rows(
            [make_problem(first_seen=first_seen)],
            make_dashboard(),
            Address(path=PATH, filters=Filters(**filters)),
        )

    assert [row.is_new for days in (0, 6, 7) for row in rows(days)] == [True, True, False]
    assert [row.is_new for row in rows(0, hosts="a." + HOST)] == [False]
