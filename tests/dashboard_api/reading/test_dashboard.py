"""The answer itself: members, agreement of its numbers, and a fixed number of statements."""

from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Coverage, Finding, Kind, OpenCount, Severity
from dashboard_api.queries.overview import OpenDay
from tests.dashboard_api.calls import answer, ask, fields_for
from tests.factories import (
    make_account,
    make_coverage,
    make_finding,
    make_link,
    make_note,
    make_source,
    make_website,
)

pytestmark = pytest.mark.django_db

# Of the caller: secrets and link, nonce. Of the answer: overview, findings; in the tests' own transaction,
# instead of a snapshot. The first page without filters also reads what describes the worst problems.
STATEMENTS, STATEMENTS_WHEN_REMEMBERED = 7, 2  # the caller, the revision, scanners, notes, days, findings
STATEMENTS_OF_A_CHANGE = 7  # cells, days, open days, problems, times of fixes, and two for what to do first

MEMBERS = [
    "ok", "host", "dashboard", "summary", "threats", "charts", "coverage", "analyst_notes", "entitlement",
]  # fmt: skip


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def site(link):
    return link.website


@pytest.fixture
def varied(site):
    """Findings of every severity, two sources and all kinds, in unequal numbers."""
    number = 0
    for severity in Severity:
        for slug in ("nuclei", "zap"):
            for kind in Kind:
                for _ in range(1 + number % 3):
                    make_finding(site, severity=severity, source=make_source(slug), kind=kind)
                number += 1
    return site


def counts(facet):
    return {value.value: value.count for value in facet}


def chart(dashboard, chart_id):
    return next(chart for chart in dashboard.charts if chart.id == chart_id)


def test_members_are_those_of_the_specification_in_its_order(client, link):
    assert list(ask(client, fields_for(link)).json()) == MEMBERS


def test_member_fields_and_their_order_are_those_of_the_contract(client, link):
    make_finding(link.website)
    make_note(link.website)
    make_coverage(link.website)
    body = ask(client, fields_for(link)).json()
    assert list(body["dashboard"]) == (
        [
            "generated_at",
            "grade",
            "filters",
            "page",
            "page_size",
            "page_count",
            "total",
            "facets",
            "revision",
            "grade_provisional",
            "do_first",
            "problems",
            "problem_total",
        ]
    )
    assert list(body["dashboard"]["filters"]) == [
        "severity",
        "source",
        "kind",
        "query",
        "problem",
        "sort",
        "since",
        "hosts",
        "older_than",
        "fixed_since",
        "answer",
        "assignee",
        "due",
    ]
    assert list(body["dashboard"]["facets"]) == [
        "severity", "source", "kind", "status", "hosts", "answer", "assignee", "due",
    ]  # fmt: skip
    assert list(body["dashboard"]["facets"]["kind"][0]) == ["value", "label", "count"]
    assert list(body["summary"]) == (
        [
            "open",
            "by_severity",
            "confirmed",
            "new_7d",
            "fixed_7d",
            "oldest_open_days",
            "last_scan_at",
            "newest_open_days",
            "first_check_by",
            "next_grade",
            "history",
            "answers",
            "overdue",
            "due_this_week",
            "fix_times",
        ]
    )
    assert list(body["summary"]["by_severity"]) == ["Critical", "High", "Medium", "Low", "Info"]
    assert list(body["threats"][0]) == (
        [
            "id",
            "severity",
            "source",
            "source_name",
            "kind",
            "status",
            "title",
            "description",
            "location",
            "locations_count",
            "evidence",
            "remediation",
            "references",
            "cwe",
            "cve",
            "rule",
            "first_seen",
            "last_seen",
            "evidence_truncated",
            "problem",
            "topic",
            "verified",
            "answer",
            "due",
        ]
    )
    assert list(body["charts"][0]) == ["id", "title", "type", "unit", "labels", "series"]
    assert list(body["coverage"][0]) == (
        [
            "source",
            "source_name",
            "state",
            "last_run_at",
            "urls_checked",
            "findings",
            "version",
            "detail",
            "next_due_on",
            "stale",
            "ours",
        ]
    )
    assert list(body["analyst_notes"][0]) == [
        "id",
        "finding_id",
        "author",
        "body",
        "created_at",
        "updated_at",
        "problem",
        "pinned",
    ]
    assert list(body["entitlement"]) == [
        "plan",
        "status",
        "starts_on",
        "ends_on",
        "days_left",
        "sites_used",
        "sites_limit",
        "features",
        "usable_until",
        "renews",
        "limits",
    ]
    assert body["threats"][0]["last_seen"].endswith("Z")
    assert isinstance(body["threats"][0]["id"], str)


def test_threats_come_worst_first_then_most_recently_discovered(link, site):
    made = [make_finding(site, severity=level) for level in (1, 3, 3, 4, 0)]
    shown = [int(threat.id) for threat in answer(link).threats]
    assert shown == [made[index].pk for index in (3, 2, 1, 0, 4)]


def test_page_and_page_size_limit_the_threats_and_leave_the_totals(link, site):
    findings = [make_finding(site) for _ in range(5)]
    second = answer(link, page=2, page_size=2)
    assert [int(threat.id) for threat in second.threats] == [findings[2].pk, findings[1].pk]
    assert (second.dashboard.page, second.dashboard.page_size) == (2, 2)
    assert (second.dashboard.total, second.dashboard.page_count) == (5, 3)


def test_a_page_past_the_end_is_empty_with_the_true_total(link, site):
    make_finding(site)
    past = answer(link, page=9)
    assert past.threats == []
    assert (past.dashboard.total, past.dashboard.page_count, past.dashboard.page) == (1, 1, 9)


def test_severity_high_with_page_size_20_shows_high_findings_alone(link, varied):
    shown = answer(link, severity="High", page_size=20)
    assert {threat.severity for threat in shown.threats} == {"High"}
    assert shown.dashboard.total == varied.findings.filter(severity=Severity.HIGH).count() > 0


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"severity": "high"},
        {"source": "zap"},
        {"kind": "CONFIRMED"},
        {"severity": "Low", "source": "nuclei"},
        {"severity": "Info", "source": "zap", "kind": "suspected"},
        {"status": "all", "kind": "informational"},
        {"query": "finding"},
    ],
)
def test_list_total_facets_and_charts_agree_under_every_filter(link, varied, filters):
    shown = answer(link, page_size=100, **filters)
    total = shown.dashboard.total
    assert len(shown.threats) == total > 0
    for name in ("severity", "source", "kind"):
        facet = getattr(shown.dashboard.facets, name)
        without = {key: value for key, value in filters.items() if key != name}
        assert sum(value.count for value in facet) == answer(link, **without).dashboard.total
    for chart_id in ("severity", "source", "kind"):
        assert sum(sum(series.values) for series in chart(shown, chart_id).series) == total


def test_a_facet_count_is_what_choosing_that_value_gives(link, varied):
    facets = answer(link, kind="confirmed").dashboard.facets
    for severity, count in counts(facets.severity).items():
        assert answer(link, kind="confirmed", severity=severity).dashboard.total == count
    for source, count in counts(facets.source).items():
        assert answer(link, kind="confirmed", source=source).dashboard.total == count


@pytest.mark.parametrize("filters", [{}, {"severity": "High", "source": "zap"}, {"kind": "suspected"}])
@pytest.mark.parametrize("status", ["open", "all"])
def test_a_count_of_a_status_is_what_asking_for_it_gives(link, varied, filters, status):
    facet = counts(answer(link, status=status, **filters).dashboard.facets.status)
    assert list(facet) == ["open", "fixed", "false_positive", "accepted_risk", "all"]
    for other, count in facet.items():
        assert answer(link, status=other, **filters).dashboard.total == count


def test_facets_show_every_value_even_when_it_would_leave_nothing(link, site):
    make_finding(site, severity=Severity.HIGH)
    make_source("zap")
    facets = answer(link).dashboard.facets
    assert counts(facets.severity) == {"Critical": 0, "High": 1, "Medium": 0, "Low": 0, "Info": 0}
    assert counts(facets.source) == {"nuclei": 1, "zap": 0}


@pytest.mark.parametrize("source", ["zap", "mdn-observatory", "essentials", "expected"])
def test_a_known_source_without_findings_narrows_to_nothing(link, site, source):
    make_source("expected", enabled=True)
    make_finding(site)
    assert answer(link, source=source).dashboard.total == 0


def test_a_misspelt_source_is_refused_and_the_known_ones_are_named(link, site):
    make_finding(site, source=make_source("house-scanner", enabled=False))
    make_source("of-another-account", enabled=False)
    with pytest.raises(InvalidRequest) as refused:
        answer(link, source="nucli,zap,house-scanner")
    [error] = refused.value.details["errors"]
    assert error["field"] == "source"
    assert error["message"].startswith("has nucli, which is unknown; the sources are acunetix, burp, dns, ")
    assert "house-scanner" in error["message"]
    assert "of-another-account" not in error["message"]


def test_open_findings_are_shown_unless_another_status_is_asked_for(link, site):
    now = timezone.now()
    make_finding(site, title="Open one")
    make_finding(site, title="Fixed one", status="fixed", fixed_at=now)
    make_finding(site, title="Accepted one", status="accepted_risk")

    def titles(**filters):
        return {threat.title for threat in answer(link, **filters).threats}

    assert titles() == {"Open one"}
    assert titles(status="fixed") == {"Fixed one"}
    assert titles(status="accepted_risk") == {"Accepted one"}
    assert titles(status="all") == {"Open one", "Fixed one", "Accepted one"}


def test_findings_of_another_website_are_never_shown(link):
    make_finding(make_website("other.example.com"))
    shown = answer(link)
    assert shown.threats == []
    assert shown.summary.open == 0


SEARCHED = {
    "title": "Café Übersicht: SQL injection in login",
    "description": "A parameter reaches the database.",
    "location": "https://shop.example.com/account/sign-in?x=1",
    "rule": "sqli-login-form",
    "cve": ["CVE-2024-12345"],
}


@pytest.mark.parametrize(
    "query",
    [
        "sql", "SQL injection", "injection sql", "inj", "cafe", "CAFÉ", "uber", "parameter reaches",
        "sign-in", "sqli login", "cve-2024-12345", "2024", "login   database", 'sql "injection"', "sql%",
    ],
)  # fmt: skip
def test_words_are_found_in_title_description_location_rule_and_cve(link, site, query):
    make_finding(site, **SEARCHED)
    make_finding(site, title="Something else")
    assert answer(link, query=query).dashboard.total == 1


@pytest.mark.parametrize(
    "query",
    [
        "injection xss",
        "njection",
        "sq injection",
        "%",
        "_",
        "' OR 1=1 --",
        '"',
        "*",
        "\u202e",
        "'; DROP",
        "😀",
    ],
)
def test_what_does_not_match_narrows_to_nothing_and_never_widens(link, site, query):
    make_finding(site, **SEARCHED)
    shown = answer(link, query=query)
    assert (shown.dashboard.total, shown.threats) == (0, [])


def test_every_place_of_a_finding_is_searched(link, site):
    make_finding(site, other_locations="https://shop.example.com/cart\nhttps://shop.example.com/checkout")
    assert answer(link, query="checkout").dashboard.total == 1


def test_filters_are_returned_as_understood(link):
    filters = answer(link, severity="hIGH", source="zap", kind="Confirmed", query=" a b ").dashboard.filters
    assert (filters.severity, filters.source, filters.kind, filters.query) == (
        "High",
        "zap",
        "confirmed",
        "a b",
    )
    unset = answer(link, severity="", kind=None).dashboard.filters
    assert (unset.severity, unset.source, unset.kind, unset.query) == (None, None, None, None)


def test_summary_describes_the_whole_website_whatever_the_filter(link, varied):
    assert answer(link, severity="High", query="nothing").summary == answer(link).summary


def test_summary_counts_the_open_findings(link, site):
    now = timezone.now()
    make_finding(site, severity=Severity.CRITICAL, first_seen=now - timedelta(days=40))
    make_finding(site, severity=Severity.LOW, kind=Kind.SUSPECTED, first_seen=now - timedelta(days=2))
    make_finding(site, status="fixed", first_seen=now - timedelta(days=60), fixed_at=now - timedelta(days=3))
    summary = answer(link).summary
    assert (summary.open, summary.confirmed, summary.new_7d, summary.fixed_7d) == (2, 1, 1, 1)
    by_severity = summary.by_severity
    assert (by_severity["Critical"], by_severity["Low"], by_severity["Medium"]) == (1, 1, 0)
    assert (summary.oldest_open_days, summary.newest_open_days) == (40, 2)
    assert summary.last_scan_at is None


@pytest.mark.parametrize(
    ("days", "age"),
    [(0, 0), (6, 0), (7, 1), (29, 1), (30, 2), (89, 2), (90, 3), (364, 3), (365, 4)],
)
def test_the_ages_of_the_chart_count_today_as_their_first_day(link, site, days, age):
    make_finding(site, first_seen=timezone.now() - timedelta(days=days))
    response = answer(link)
    (chart,) = (chart for chart in response.charts if chart.id == "age")
    assert response.summary.oldest_open_days == days
    assert [*chart.series[0].values].index(1) == age


@pytest.mark.parametrize(
    ("severity", "kind", "expected"),
    [
        (None, None, "A"),
        (Severity.INFO, Kind.INFORMATIONAL, "A"),
        (Severity.INFO, Kind.SUSPECTED, "A"),
        (Severity.LOW, Kind.CONFIRMED, "B"),
        (Severity.MEDIUM, Kind.CONFIRMED, "C"),
        (Severity.HIGH, Kind.CONFIRMED, "D"),
        (Severity.CRITICAL, Kind.CONFIRMED, "F"),
        (Severity.CRITICAL, Kind.SUSPECTED, "D"),
        (Severity.LOW, Kind.SUSPECTED, "A"),
    ],
)
def test_grade_follows_the_worst_open_finding(link, site, severity, kind, expected):
    make_coverage(site)
    if severity is not None:
        make_finding(site, severity=severity, kind=kind)
    dashboard = answer(link).dashboard
    assert (dashboard.grade, dashboard.grade_provisional) == (expected, False)


@pytest.mark.parametrize(
    ("severity", "kind", "expected"),
    [
        (None, None, None),
        (Severity.INFO, Kind.CONFIRMED, None),
        (Severity.LOW, Kind.CONFIRMED, None),
        (Severity.MEDIUM, Kind.SUSPECTED, None),
        (Severity.MEDIUM, Kind.CONFIRMED, "C"),
        (Severity.HIGH, Kind.CONFIRMED, "D"),
        (Severity.CRITICAL, Kind.SUSPECTED, "D"),
        (Severity.CRITICAL, Kind.CONFIRMED, "F"),
    ],
)
def test_a_bad_grade_needs_no_complete_check_and_is_provisional(link, site, severity, kind, expected):
    if severity is not None:
        make_finding(site, severity=severity, kind=kind)
    make_coverage(site, state="partial", completed_at=None)
    dashboard = answer(link).dashboard
    assert (dashboard.grade, dashboard.grade_provisional) == (expected, expected is not None)


@pytest.mark.parametrize("source", ["dns", "testssl", "sslyze", "nmap"])
@pytest.mark.parametrize(("severity", "expected"), [(None, None), (Severity.LOW, None), (Severity.HIGH, "D")])
def test_a_check_that_reads_no_page_makes_no_grade_final(link, site, source, severity, expected):
    make_coverage(site, source=make_source("essentials"), state="failed", completed_at=None)
    make_coverage(site, source=make_source(source))
    if severity is not None:
        make_finding(site, severity=severity)
    response = answer(link)
    assert (response.dashboard.grade, response.dashboard.grade_provisional) == (
        expected,
        expected is not None,
    )


def test_a_provisional_grade_promises_no_good_one(link, site):
    make_coverage(site, source=make_source("dns"))
    make_finding(site, severity=Severity.HIGH)
    assert answer(link).summary.next_grade is None
    make_finding(site, severity=Severity.MEDIUM)
    assert answer(link).summary.next_grade.grade == "C"


def test_a_grade_is_final_once_a_check_of_the_pages_was_complete(link, site):
    make_coverage(site, source=make_source("dns"), state="failed", completed_at=None)
    make_coverage(site, source=make_source("essentials"))
    assert answer(link).dashboard.grade == "A"


def test_the_last_check_is_the_last_complete_one_of_the_pages(link, site):
    now = timezone.now()
    essentials = make_coverage(site, source=make_source("essentials"), state="failed", completed_at=None)
    assert answer(link).summary.last_scan_at is None
    dns = make_coverage(site, source=make_source("dns"))
    assert answer(link).summary.last_scan_at == dns.completed_at
    Coverage.objects.filter(pk=essentials.pk).update(completed_at=now - timedelta(days=90))
    assert answer(link).summary.last_scan_at == now - timedelta(days=90)
    zap = make_coverage(site, source=make_source("zap"), completed_at=now - timedelta(days=3))
    assert answer(link).summary.last_scan_at == zap.completed_at


def test_the_first_check_is_due_after_the_shortest_interval_of_an_enabled_engine(link, site):
    make_source("nuclei", interval_days=7)
    make_source("zap", interval_days=3)
    make_source("wapiti", interval_days=1, enabled=False)
    linked_on = link.created_at.date()
    assert answer(link).summary.first_check_by == linked_on + timedelta(days=3)
    make_coverage(site, source=make_source("nuclei"), state="failed", completed_at=None)
    assert answer(link).summary.first_check_by is None


def test_without_an_engine_no_first_check_is_due(link, site):
    make_source("nuclei", enabled=False)
    assert answer(link).summary.first_check_by is None


def test_grade_ignores_what_is_no_longer_open(link, site):
    make_coverage(site)
    make_finding(site, severity=Severity.CRITICAL, status="false_positive")
    assert answer(link).dashboard.grade == "A"


def test_trend_counts_new_and_fixed_findings_by_week(link, site):
    now = datetime.now(UTC)
    monday = now.date() - timedelta(days=now.weekday())
    make_finding(site, first_seen=now)
    make_finding(
        site,
        first_seen=now - timedelta(weeks=2),
        status="fixed",
        fixed_at=now - timedelta(weeks=1),
        last_seen=now,
    )
    make_finding(site, first_seen=now - timedelta(weeks=60), last_seen=now)
    trend = chart(answer(link), "trend")
    assert len(trend.labels) == 13
    assert [date.fromisoformat(label).weekday() for label in trend.labels] == [0] * 13
    assert trend.labels[-1] == monday.isoformat()
    new, fixed = (series.values for series in trend.series)
    assert (new[-3:], sum(new)) == ([1, 0, 1], 2)
    assert (fixed[-3:], sum(fixed)) == ([0, 1, 0], 1)


def test_trend_follows_the_filters_whatever_the_status(link, site):
    make_finding(site, severity=Severity.HIGH, status="false_positive")
    make_finding(site, severity=Severity.LOW)
    new, _ = chart(answer(link, severity="High"), "trend").series
    assert sum(new.values) == 1


def test_open_findings_are_known_at_the_end_of_each_week(link, site):
    make_finding(site, severity=Severity.HIGH)
    today = datetime.now(UTC).date()
    monday = today - timedelta(days=today.weekday())
    first_known = monday - timedelta(days=15)  # the Sunday before the third full week
    OpenCount.objects.create(website_id=site.pk, day=first_known, **no_counts() | {"high": 4, "critical": 1})
    last_sunday = monday - timedelta(days=1)
    OpenCount.objects.create(website_id=site.pk, day=last_sunday, **no_counts() | {"high": 2})
    shown = chart(answer(link, severity="Low"), "open")
    assert shown.labels == [(monday - timedelta(weeks=back)).isoformat() for back in (3, 2, 1, 0)]
    values = {series.name: series.values for series in shown.series}
    assert (values["Critical"], values["High"]) == ([1, 1, 0, 0], [4, 4, 2, 1])


def no_counts():
    return {name: 0 for name in OpenDay._fields if name != "day"}


def test_open_findings_are_counted_by_age_whatever_the_filters(link, site):
    now = datetime.now(UTC)
    for days in (0, 6, 7, 364, 365, 900):
        make_finding(site, severity=Severity.HIGH, first_seen=now - timedelta(days=days), last_seen=now)
    make_finding(site, status="fixed", fixed_at=now)
    shown = chart(answer(link, severity="Low"), "age")
    assert dict(zip(shown.labels, shown.series[0].values, strict=True)) == {
        "Up to 7 days": 2,
        "8 to 30 days": 1,
        "31 to 90 days": 0,
        "91 to 365 days": 1,
        "Over 365 days": 2,
    }


def test_evidence_is_cut_to_2_kb_inside_no_character(link, site):
    make_finding(site, evidence="€" * 1000, description="é" * 3000)
    threat = answer(link).threats[0]
    assert threat.evidence == "€" * 682
    assert threat.evidence_truncated
    assert threat.description == "é" * 2048


def test_references_stop_before_4_kb(link, site):
    make_finding(site, references=[f"https://example.com/{number:04}/{'x' * 1000}" for number in range(9)])
    assert [reference[20:24] for reference in answer(link).threats[0].references] == ["0000", "0001", "0002"]


def test_the_50_newest_notes_are_given_each_cut_to_4_kb(link, site):
    for number in range(51):
        make_note(site, body=f"{number} {'é' * 3000}")
    notes = answer(link).analyst_notes
    assert [note.body.split()[0] for note in notes] == [str(number) for number in range(50, 0, -1)]
    assert max(len(note.body.encode()) for note in notes) <= 4096


def test_short_evidence_is_whole(link, site):
    make_finding(site, evidence="x" * 2048)
    threat = answer(link).threats[0]
    assert (len(threat.evidence), threat.evidence_truncated) == (2048, False)


def test_coverage_shows_what_was_never_checked(link, site):
    make_coverage(site, source=make_source("nuclei"), urls_checked=12, version="3.1")
    make_source("zap")
    make_source("retired", enabled=False)
    make_finding(site, source=make_source("nuclei"))
    nuclei, zap = answer(link).coverage
    assert (nuclei.source, nuclei.state, nuclei.findings, nuclei.urls_checked) == ("nuclei", "ok", 1, 12)
    assert (zap.source, zap.state, zap.findings, zap.last_run_at) == ("zap", "never", None, None)


def test_a_pinned_note_comes_first_however_many_are_newer(link, site):
    make_note(site, body="pinned", is_pinned=True)
    make_note(site, body="pinned again", is_pinned=True)
    for number in range(50):
        make_note(site, body=f"{number}")
    notes = answer(link).analyst_notes
    assert [(note.body, note.pinned) for note in notes[:3]] == [
        ("pinned again", True),
        ("pinned", True),
        ("49", False),
    ]


def test_internal_notes_and_those_for_other_accounts_never_leave(link, site):
    other = make_account("acct_0002", secrets=[])
    make_note(site, body="for all")
    make_note(site, body="for us", account=link.account)
    make_note(site, body="for them", account=other)
    make_note(site, body="internal", is_internal=True)
    make_note(make_website("other.example.com"), body="elsewhere")
    assert {note.body for note in answer(link).analyst_notes} == {"for all", "for us"}


def test_entitlement_has_days_left_and_sites_used(link):
    make_link(link.account, make_website("b.example.com"))
    revoked = make_link(link.account, make_website("c.example.com"))
    revoked.revoke(by="tests", reason="asked to", now=timezone.now())
    entitlement = answer(link).entitlement
    assert (entitlement.plan, entitlement.status, entitlement.days_left) == ("standard", "active", 335)
    assert (entitlement.sites_used, entitlement.sites_limit) == (2, 5)
    assert entitlement.usable_until == entitlement.ends_on


def statements(client, link, **fields):
    with ExitStack() as stack:
        captured = [stack.enter_context(CaptureQueriesContext(connections[alias])) for alias in connections]
        assert ask(client, fields_for(link, **fields)).status_code == 200
    return sum(map(len, captured))


def test_the_number_of_statements_does_not_depend_on_findings_or_page_size(client, link, site):
    make_finding(site)
    make_note(site)
    ask(client, fields_for(link))  # records the secret's use, once a minute
    assert statements(client, link, page_size=1) == STATEMENTS
    for _ in range(120):
        make_finding(site, source=make_source("zap"))
        make_note(site)
    assert statements(client, link, page_size=100) == STATEMENTS + STATEMENTS_OF_A_CHANGE
    assert statements(client, link, severity="Medium", kind="confirmed", source="zap") == STATEMENTS


def test_the_same_question_again_takes_but_the_statements_of_the_caller(client, link, site):
    make_finding(site)
    assert ask(client, fields_for(link)).status_code == 200
    assert statements(client, link) == STATEMENTS_WHEN_REMEMBERED


def test_a_page_far_down_takes_no_more_statements(client, link, site):
    for _ in range(3):
        make_finding(site)
    ask(client, fields_for(link))
    assert statements(client, link, page=3, page_size=1) == STATEMENTS


def test_closed_findings_are_not_searched_unless_asked_for(link, site):
    make_finding(site, title="Gone", status=Finding.Status.FIXED, fixed_at=timezone.now())
    assert answer(link, query="gone").dashboard.total == 0
    assert answer(link, query="gone", status="all").dashboard.total == 1
