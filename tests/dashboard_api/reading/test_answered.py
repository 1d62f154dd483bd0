"""Filters, facets, days and answers of one account are what counting the findings one by one gives."""

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard_api.api import response_cache
from dashboard_api.models import Account, Answer, Finding, Kind, Severity, SiteLink
from dashboard_api.reading import website as kept
from signed_api import limits
from signed_api.answers import ANSWERS, DUE
from signed_api.findings import DashboardRequest
from tests.dashboard_api import calls
from tests.dashboard_api.answers.acting import act
from tests.dashboard_api.reading.varied import HOSTS, TODAY, make_varied_website
from tests.factories import make_account, make_event, make_finding, make_link

pytestmark = pytest.mark.django_db
ZONE = "Pacific/Auckland"  # already 5 March
LOCAL_DAY = date(2026, 3, 5)
RULES = {"critical_days": 7, "high_days": 0, "medium_days": 90, "low_days": 120}
DAYS = [LOCAL_DAY + timedelta(days=days) for days in range(-8, 13, 4)]
QUERIES = ("finding 1", "rule 3")
PEOPLE = ("user-1", "user-2", "user-3")
COLUMNS = {
    "severity": [severity.label for severity in Severity],
    "source": ["nuclei", "zap", "Burp"],
    "kind": Kind.values,
    "hosts": list(HOSTS),
    "answer": ["none", *ANSWERS],
    "assignee": ["none", *PEOPLE, "user-4"],
    "due": list(DUE),
}


def answer_all(link, *, seed):
    """Let the account answer about half of the findings, whatever their status is now."""
    dice = random.Random(seed)
    kinds = (*Answer.Kind.values, "will_fix", *["none"] * 5)
    answers = []
    for finding in link.website.findings.order_by("pk"):
        kind = dice.choice(kinds)
        if kind == "none":
            continue
        is_fix = kind == "will_fix"
        answers.append(
            Answer(
                account=link.account,
                website=link.website,
                finding=finding,
                answer=kind,
                severity_then=finding.severity,
                at=TODAY,
                due_on=dice.choice([None, *DAYS]) if is_fix else None,
                until=LOCAL_DAY if kind in ("accepted", "waiting") else None,
                assignee=dice.choice(["", *PEOPLE]) if is_fix else "",
            )
        )
    Answer.objects.bulk_create(answers)
    SiteLink.objects.filter(pk=link.pk).update(answers_version=1)


@pytest.fixture
def link():
    """An account with answers and rules; another account of the website has others."""
    site = make_varied_website()
    link = make_link(make_account(time_zone=ZONE, **RULES), site)
    answer_all(link, seed=0)
    answer_all(make_link(make_account("acct_0002", low_days=1), site), seed=5)
    for number, finding in enumerate(site.findings.order_by("pk")[:60]):
        make_event(finding, "regressed", at=TODAY - timedelta(hours=60 * number))
        make_event(finding, "regressed", at=TODAY - timedelta(hours=90 * number + 5))
    # Events of other kinds do not begin the days again.
    make_event(site.findings.last(), "rated", at=TODAY)
    return link


def columns_of(link):
    """Return status and columns of each finding, computed one by one."""
    answers = {answer.finding_id: answer for answer in Answer.objects.open().filter(account=link.account)}
    rows = []
    for finding in link.website.findings.select_related("source").prefetch_related("events").order_by("pk"):
        answer = answers.get(finding.pk)
        rows.append(
            (
                finding.pk,
                finding.status,
                {
                    "severity": Severity(finding.severity).label,
                    "source": finding.source.slug,
                    "kind": finding.kind,
                    "hosts": finding.host,
                    "answer": answer.answer if answer else "none",
                    "assignee": (answer and answer.assignee) or "none",
                    "due": due_group(due_of(link, finding, answer)),
                },
            )
        )
    return rows


def due_of(link, finding, answer):
    if finding.status != "open" or (answer and answer.answer == "accepted"):
        return None
    if answer and answer.due_on:
        return answer.due_on
    account = Account.objects.get(pk=link.account_id)
    label = Severity(finding.severity).label.lower()
    days = getattr(account, f"{label}_days", 0)
    if not days:
        return None
    returns = [event.at for event in finding.events.all() if event.event == "regressed"]
    opened = max(returns, default=finding.first_seen)
    return opened.astimezone(ZoneInfo(account.time_zone)).date() + timedelta(days=days)


def due_group(due):
    if due is None:
        return "none"
    if due < LOCAL_DAY:
        return "overdue"
    return "this_week" if due < LOCAL_DAY + timedelta(days=7) else "later"


def values_of(column):
    return st.lists(st.sampled_from(COLUMNS[column]), min_size=1, max_size=3, unique=True).map(",".join)


requests = st.fixed_dictionaries(
    {},
    optional={column: values_of(column) for column in COLUMNS}
    | {
        "status": st.sampled_from([*Finding.Status.values, "all"]),
        "query": st.sampled_from(QUERIES),
    },
)


def with_words(link, query):
    """Return the ids of the findings that match a query; tests of words tell whether they do."""
    request = {"status": "all", "query": query, "page_size": 100}
    pages = [calls.answer(link, now=TODAY, **request, page=page).threats for page in range(1, 6)]
    return {int(threat.id) for page in pages for threat in page}


def passes(columns, request, *, without=None):
    return all(
        name == without or name not in request or value in request[name].split(",")
        for name, value in columns.items()
    )


def test_facets_add_up_to_the_total_under_all_other_filters(link):
    rows = columns_of(link)
    words = {query: with_words(link, query) for query in QUERIES}
    for name, values in (("answer", COLUMNS["answer"]), ("due", DUE)):
        assert {columns[name] for _, _, columns in rows} == set(values)

    @settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
    @given(request=requests)
    def check(request):
        query = request.get("query")
        found = calls.answer(link, now=TODAY, **request, page_size=100)
        page, status = found.dashboard, request.get("status", "open")
        matching = rows
        if query:  # which findings match words is tested elsewhere
            matching = [row for row in rows if row[0] in words[query]]
        listed = [(pk, columns) for pk, own, columns in matching if status in (own, "all")]
        total = sum(passes(columns, request) for _, columns in listed)
        assert page.total == total
        for name in COLUMNS:
            counts = Counter(columns[name] for _, columns in listed if passes(columns, request, without=name))
            shown = {value.value: value.count for value in getattr(page.facets, name)}
            # Each facet has all values of the findings, so its sum is the total without its own filter.
            expected = {value: count for value, count in counts.items() if value}
            assert {value: count for value, count in shown.items() if count} == expected, (name, request)
            without = {key: value for key, value in request.items() if key != name}
            if name != "hosts":
                assert sum(shown.values()) == calls.answer(link, now=TODAY, **without).dashboard.total
        ids = {int(threat.id) for threat in found.threats}
        assert ids <= {pk for pk, columns in listed if passes(columns, request)}
        assert len(ids) == min(total, 100)

    check()


def test_each_finding_has_its_answer_and_its_day(link):
    answers = {answer.finding_id: answer for answer in Answer.objects.open().filter(account=link.account)}
    findings = {finding.pk: finding for finding in link.website.findings.prefetch_related("events")}
    for page in range(1, 6):
        for threat in calls.answer(link, now=TODAY, status="all", page=page, page_size=100).threats:
            answer = answers.get(int(threat.id))
            assert threat.due == due_of(link, findings[int(threat.id)], answer)
            if answer is None:
                assert threat.answer is None
                continue
            shown = threat.answer
            assert (shown.answer, shown.due, shown.until, shown.assignee) == (
                answer.answer,
                answer.due_on,
                answer.until,
                answer.assignee,
            )


def test_the_summary_counts_open_findings_whatever_the_filters_are(link):
    still_open = [columns for _, status, columns in columns_of(link) if status == "open"]
    answers, due = (Counter(columns[name] for columns in still_open) for name in ("answer", "due"))
    for request in ({}, {"severity": "Low"}, {"answer": "accepted"}, {"query": "nothing", "status": "fixed"}):
        summary = calls.answer(link, now=TODAY, **request).summary
        assert summary.answers == {value: answers[value] for value in COLUMNS["answer"]}
        assert (summary.overdue, summary.due_this_week) == (due["overdue"], due["this_week"])


def test_problems_count_open_answers_of_open_findings(link):
    counted = Counter()
    for problem in calls.answer(link, now=TODAY, group_by="problem", page_size=100).dashboard.problems:
        counted.update(problem.answers)
    still_open = Counter(columns["answer"] for _, status, columns in columns_of(link) if status == "open")
    assert counted == {answer: count for answer, count in still_open.items() if answer != "none"}


def test_accepted_risks_are_not_among_what_to_do_first(link):
    first = calls.answer(link, now=TODAY).dashboard.do_first
    listed = calls.answer(
        link,
        now=TODAY,
        group_by="problem",
        page_size=100,
        answer="none,will_fix,waiting,disputed,fixed",
    ).dashboard.problems
    assert first
    assert [(each.id, each.findings) for each in listed if each.severity != "Info"][: len(first)] == [
        (each.id, each.findings) for each in first
    ]


def test_an_account_without_answers_and_rules_pays_no_statement_and_gets_the_same(link):
    plain = make_link(make_account("acct_0003"), link.website)
    kept.clear()
    calls.answer(plain, now=TODAY)
    with CaptureQueriesContext(connection) as plain_statements:
        response = calls.answer(plain, now=TODAY)
    assert not [each for each in plain_statements if "dashboard_api_answer" in each["sql"]]
    assert response.summary.answers == {"none": response.summary.open} | dict.fromkeys(ANSWERS, 0)
    assert {threat.due for threat in response.threats} == {None}


def test_the_people_with_most_findings_are_offered_and_those_of_the_request(link, monkeypatch):
    monkeypatch.setattr(limits, "MAX_ASSIGNEES", 1)
    rows = [columns["assignee"] for _, status, columns in columns_of(link) if status == "open"]
    counts = Counter(rows)
    people = sorted(PEOPLE, key=lambda person: (-counts[person], person))
    facet = calls.answer(link, now=TODAY, assignee=f"{people[2]},nobody-knows").dashboard.facets.assignee
    assert [(value.value, value.count) for value in facet] == [
        ("none", counts["none"]),
        (people[0], counts[people[0]]),
        ("nobody-knows", 0),
        (people[2], counts[people[2]]),
    ]


# Days


@pytest.mark.parametrize(
    ("zone", "now", "group"),
    [
        ("UTC", datetime(2026, 3, 10, 23, 59, tzinfo=UTC), "this_week"),
        ("UTC", datetime(2026, 3, 11, 0, 1, tzinfo=UTC), "overdue"),
        ("Pacific/Auckland", datetime(2026, 3, 10, 10, 59, tzinfo=UTC), "this_week"),
        ("Pacific/Auckland", datetime(2026, 3, 10, 11, 1, tzinfo=UTC), "overdue"),
        ("America/Los_Angeles", datetime(2026, 3, 11, 6, 59, tzinfo=UTC), "this_week"),
        ("America/Los_Angeles", datetime(2026, 3, 11, 7, 1, tzinfo=UTC), "overdue"),
        ("UTC", datetime(2026, 3, 4, 12, tzinfo=UTC), "this_week"),
        ("UTC", datetime(2026, 3, 3, 23, tzinfo=UTC), "later"),
    ],
)
def test_a_day_ends_in_the_zone_of_the_account(zone, now, group):
    link = make_link(make_account(time_zone=zone))
    act(link, "will_fix", make_finding(link.website), due="2026-03-10", now=datetime(2026, 3, 1, tzinfo=UTC))
    request = DashboardRequest(
        host=link.website.host, link_id=link.link_id, portal_account_ref=link.account.ref, due=group
    )
    for _ in range(2):  # from memory, the second time
        body = response_cache.dashboard_response(calls.account_site(link), request, now)
        assert b'"total":1,' in body
    facets = calls.answer(link, now=now).dashboard.facets.due
    assert {value.value: value.count for value in facets}[group] == 1


def test_what_was_read_before_midnight_of_the_account_is_not_shown_after_it():
    link = make_link(make_account(time_zone="Pacific/Auckland"))
    act(link, "will_fix", make_finding(link.website), due="2026-03-10", now=datetime(2026, 3, 1, tzinfo=UTC))
    request = DashboardRequest(
        host=link.website.host, link_id=link.link_id, portal_account_ref=link.account.ref, due="overdue"
    )
    before, after = datetime(2026, 3, 10, 10, 59, tzinfo=UTC), datetime(2026, 3, 10, 11, 1, tzinfo=UTC)
    totals = [
        b'"total":1,' in response_cache.dashboard_response(calls.account_site(link), request, now)
        for now in (before, after, before)
    ]
    assert totals == [False, True, False]


def test_a_finding_that_comes_back_starts_its_days_again():
    link = make_link(make_account(medium_days=10))
    finding = make_finding(link.website, first_seen=TODAY - timedelta(days=50))
    assert calls.answer(link, now=TODAY).summary.overdue == 1
    make_event(finding, "regressed", at=TODAY - timedelta(days=4))
    finding.save()  # an event alone is no change of the data
    response = calls.answer(link, now=TODAY)
    assert (response.summary.overdue, response.summary.due_this_week) == (0, 1)
    assert response.threats[0].due == date(2026, 3, 10)


def test_lists_follow_each_change_of_an_answer_at_once():
    link = make_link()
    finding = make_finding(link.website)
    request = DashboardRequest(
        host=link.website.host, link_id=link.link_id, portal_account_ref=link.account.ref, answer="none"
    )

    def total():
        body = response_cache.dashboard_response(calls.account_site(link), request, TODAY)
        return b'"total":1,' in body

    assert total()
    act(link, "will_fix", finding, now=TODAY)
    assert not total()
    act(link, "withdraw", finding, now=TODAY)
    assert total()
