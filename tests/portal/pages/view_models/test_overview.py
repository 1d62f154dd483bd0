from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone, translation

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.overview import (
    coverage_rows,
    coverage_summary,
    empty_state,
    is_checked,
    overview,
    plan,
)
from portal.texts import labels
from signed_api.findings import Chart, LimitState, Series
from tests.portal.dashboards import (
    make_clean_dashboard,
    make_coverage,
    make_dashboard,
    make_entitlement,
    make_page,
    make_summary,
)
from tests.structs import build

HERE = Address(path="/sites/shop.example.com/")
TODAY = date(2026, 11, 20)
OK, PARTIAL, FAILED, NEVER = (
    make_coverage(state, source_name=state.upper()) for state in ("ok", "partial", "failed", "never")
)


@pytest.mark.parametrize(
    ("coverage", "tone", "words"),
    [
        ([], "never", "Not scanned yet"),
        ([NEVER, NEVER], "never", "Not scanned yet"),
        ([OK], "ok", "Scanned by 1 scanner"),
        ([OK, OK], "ok", "Scanned by 2 scanners"),
        ([OK, NEVER], "partial", "1 of 2 scans completed"),
        ([FAILED, NEVER], "partial", "0 of 2 scans completed"),
    ],
)
def test_coverage_has_a_summary(coverage, tone, words):
    assert coverage_summary(coverage) == (tone, words)


def test_the_summary_links_to_the_findings_of_a_severity_under_any_filters():
    at = Address(path="/s/", filters=Filters(status="fixed", kind="confirmed", query="x", page_size=50))
    counts = {count.label: count for count in overview(make_dashboard(), at).severities}
    assert (counts["High"].count, counts["High"].url) == (2, "/s/?severity=High&page_size=50")
    assert (counts["Low"].count, counts["Low"].url) == (0, "")


@pytest.mark.parametrize(
    ("grade", "open_findings", "coverage", "expected"),
    [
        (None, 0, [], False),
        (None, 0, [NEVER], False),
        (None, 0, [FAILED], False),
        (None, 0, [PARTIAL], True),
        (None, 3, [FAILED], True),
        ("A", 0, [], True),
        (None, 0, [OK], True),
    ],
)
def test_a_zero_means_something_only_where_something_was_checked(grade, open_findings, coverage, expected):
    dashboard = make_dashboard(
        dashboard=make_page(grade=grade), summary=make_summary(open=open_findings), coverage=coverage
    )
    assert is_checked(dashboard) is expected


@pytest.mark.parametrize(
    ("grade", "is_provisional", "title", "meaning"),
    [
        ("F", False, "Grade F", "Critical problems are open"),
        ("F", True, "Grade F so far", "Critical problems are open"),
        (None, False, "Not graded yet", "No scan of its pages has been completed"),
    ],
)
def test_a_grade_says_whether_it_is_final(grade, is_provisional, title, meaning):
    page = make_page(grade=grade, grade_provisional=is_provisional)
    strip = overview(make_dashboard(dashboard=page), HERE)
    assert (strip.grade_title, strip.grade_meaning) == (title, meaning)


def test_the_number_of_new_findings_links_to_their_page():
    at = Address(path="/s/", account="acct_0002", filters=Filters(severity="High"))
    assert overview(make_dashboard(), at).new_url == "/sites/shop.example.com/new/?account=acct_0002"


def never_checked(due):
    return make_clean_dashboard(
        dashboard=make_page(total=0, grade=None),
        summary=make_summary(open=0, first_check_by=due),
        coverage=[NEVER, NEVER],
    )


def in_days(days):
    return timezone.now().date() + timedelta(days=days)


@pytest.mark.parametrize(
    ("days", "hears", "text"),
    [
        (0, False, "First scan by {day}. You will see the results here."),
        (1, True, "First scan by {day}. We will write to you if it finds something serious."),
        (-1, True, "The first scan was due by {day}. If it does not come soon, contact support."),
        (None, True, "No scan of this website has been completed, so we cannot say whether it is clean."),
    ],
)
def test_a_website_never_checked_says_what_happens_next(days, hears, text):
    due = None if days is None else in_days(days)
    news = empty_state(never_checked(due), HERE, gets_emails=hears)
    assert (news.tone, news.title) == ("never", "Not scanned yet")
    assert news.text == text.format(day=due and labels.day(due))


def test_a_website_never_checked_leads_those_who_may_to_a_scan():
    state = empty_state(never_checked(in_days(1)), HERE, may_scan=True)
    assert (state.action_label, state.action_url) == ("Scan now", HERE.of_scans())
    assert empty_state(never_checked(in_days(1)), HERE).action_url == ""


@pytest.mark.parametrize(
    ("days", "text"), [(0, "First scan by {day}"), (-1, "First scan overdue since {day}")]
)
def test_the_grade_of_a_website_never_checked_is_a_day(days, text):
    due = in_days(days)
    strip = overview(never_checked(due), HERE)
    assert (strip.grade_title, strip.grade_meaning) == (
        "Not graded yet",
        text.format(day=labels.day_and_month(due)),
    )


def test_not_checked_is_explained_once():
    rows = coverage_rows(
        [OK, make_coverage("never", last_run_at=None), make_coverage("never", last_run_at=None)], HERE
    )
    assert [bool(row.remark) for row in rows] == [False, True, False]


def test_a_scanner_that_has_run_and_has_no_next_check_is_not_automatic():
    never = make_coverage("never", last_run_at=None)
    rows = coverage_rows([make_coverage(next_due_on=None), make_coverage(next_due_on=TODAY), never], HERE)
    assert [row.is_unscheduled for row in rows] == [True, False, False]


def test_the_findings_of_a_scanner_are_a_link():
    at = Address(path="/s/", filters=Filters(severity="High", page=2))
    found, nothing = coverage_rows([make_coverage(source="zap"), make_coverage(findings=0)], at)
    assert (found.url, nothing.url) == ("/s/?source=zap", "")


def test_numbers_lead_to_their_findings():
    shown = overview(make_dashboard(), Address(path="/s/", filters=Filters(severity="High", page=2)))
    assert shown.open_url == "/s/"
    assert shown.oldest_url == "/s/?sort=oldest"
    assert shown.severities[1].url == "/s/?severity=High"


def test_a_clean_website_names_time_and_scanners():
    earlier = datetime(2026, 11, 1, tzinfo=UTC)
    news = empty_state(
        make_clean_dashboard(coverage=[OK, make_coverage(source_name="ZAP", last_run_at=earlier)]), HERE
    )
    assert (news.tone, news.title, news.checked_by) == ("ok", "No threats found", "OK, ZAP")
    assert news.checked_at == OK.last_run_at


@pytest.mark.parametrize("gap", [PARTIAL, FAILED, NEVER])
def test_a_clean_website_names_incomplete_checks(gap):
    news = empty_state(make_clean_dashboard(coverage=[OK, gap]), HERE)
    assert (news.tone, news.title) == ("partial", "No threats found so far")
    assert gap.source_name in news.text


def test_a_clean_website_with_an_overdue_check_says_so():
    overdue = make_coverage(source_name="ZAP", stale=True)
    news = empty_state(make_clean_dashboard(coverage=[OK, overdue]), HERE)
    assert (news.tone, news.title) == ("partial", "No threats found at the last scan")
    assert news.text == "A new scan is overdue: ZAP."


def test_filters_without_matches_are_not_a_clean_website():
    none = empty_state(make_clean_dashboard(), Address(path="/s/", filters=Filters(severity="Low")))
    assert (none.title, none.action_url) == ("Nothing matches these filters", "")


def test_a_search_without_matches_leads_to_the_names_of_problems_which_it_does_not_read():
    none = empty_state(make_clean_dashboard(), Address(path="/s/", filters=Filters(query="log4shell")))
    assert none.title == "Nothing matches these filters"
    assert "scanners' own texts" in none.text
    assert (none.action_label, none.action_url) == ("All problems", "/s/?view=problems")


@pytest.mark.parametrize(
    ("status", "title"),
    [
        ("fixed", "Nothing has been fixed yet"),
        ("accepted_risk", "No risk has been accepted"),
        ("false_positive", "No false positives"),
        ("all", "No threats found"),
    ],
)
def test_an_empty_status_has_its_own_text(status, title):
    none = empty_state(
        make_clean_dashboard(), Address(path="/s/", filters=Filters(status=status, page_size=50))
    )
    assert none.title == title
    assert none.action_url == ("" if status == "all" else "/s/?page_size=50")


def test_nothing_of_a_status_under_other_filters_is_that_nothing_matches():
    at = Address(path="/s/", filters=Filters(status="fixed", query="x"))
    assert empty_state(make_clean_dashboard(), at).title == "Nothing matches these filters"


def test_a_page_past_the_end_leads_to_the_last():
    at = Address(path="/s/", filters=Filters(page=9))
    past = empty_state(make_dashboard(dashboard=make_page(total=30, page_count=2), threats=[]), at)
    assert (past.title, past.action_url) == ("Page not found", "/s/?page=2")


def test_a_state_of_coverage_the_portal_does_not_know_is_not_clean():
    (row,) = coverage_rows([make_coverage("paused")], HERE)
    assert (row.state, row.tone) == ("Paused", "never")


@pytest.mark.parametrize(
    ("fields", "tone", "offers_renewal"),
    [
        ({}, "ok", False),
        ({"status": "trialing"}, "ok", False),
        ({"status": "past_due"}, "partial", True),
        ({"usable_until": TODAY + timedelta(days=14)}, "partial", True),
        ({"usable_until": TODAY + timedelta(days=15)}, "ok", False),
        ({"ends_on": None}, "ok", False),
    ],
)
def test_a_plan_asks_for_care_when_it_needs_it(fields, tone, offers_renewal):
    shown_plan = plan(make_entitlement(**fields), today=TODAY)
    assert (shown_plan.tone, bool(shown_plan.renew_url)) == (tone, offers_renewal)


@pytest.mark.parametrize(("status", "words"), [("trialing", "Choose a plan"), ("active", "Renew the plan")])
def test_a_plan_that_ends_is_renewed_and_a_trial_leads_to_a_choice(status, words):
    shown_plan = plan(make_entitlement(status=status, usable_until=TODAY), today=TODAY)
    assert str(shown_plan.renew_label) == words


def test_a_renewal_that_needs_the_payers_reference_begins_on_the_page_of_the_plan(settings):
    settings.RENEW_URL = "https://example.com/renew?ref={billing_ref}"
    assert plan(make_entitlement(status="past_due"), today=TODAY).renew_url == "/plan/"


def test_a_plan_names_the_last_day_of_its_results_also_while_a_payment_is_overdue():
    usual = plan(make_entitlement(usable_until=date(2027, 12, 31)), today=TODAY)
    assert (usual.until, usual.days_left, usual.ends_soon) == (date(2027, 12, 31), 406, False)
    overdue = plan(make_entitlement(status="past_due", usable_until=date(2026, 11, 25)), today=TODAY)
    assert (overdue.until, overdue.days_left, overdue.ends_soon) == (date(2026, 11, 25), 5, True)


def test_a_payment_that_failed_on_the_last_day_still_shows_its_days_of_grace():
    ended, until = TODAY - timedelta(days=2), TODAY + timedelta(days=5)
    overdue = plan(
        make_entitlement(status="past_due", ends_on=ended, days_left=0, usable_until=until), today=TODAY
    )
    assert (overdue.until, overdue.days_left) == (until, 5)


def test_a_renewing_plan_shows_its_end_only_after_a_late_renewal():
    terms = make_entitlement(renews=True, ends_on=TODAY, usable_until=TODAY + timedelta(days=3))
    in_time = plan(terms, today=TODAY)
    assert (in_time.renews_after, in_time.until, in_time.ends_soon) == (TODAY, None, False)
    late = plan(terms, today=TODAY + timedelta(days=1))
    assert (late.renews_after, late.days_left, late.ends_soon) == (None, 2, True)


def test_a_plan_shows_its_end():
    assert plan(make_entitlement(), today=TODAY).until == date(2027, 12, 31)


def test_a_plan_is_worded_for_people():
    shown_plan = plan(
        make_entitlement(plan="small_business", status="past_due", features=["deep_scans", "phone_support"]),
        today=TODAY,
    )
    assert (shown_plan.name, shown_plan.state) == ("Small business", "Payment overdue")
    assert shown_plan.features == ("Deep scans", "Phone support")


def test_details_of_a_check_are_in_the_language_of_the_reader():
    row = make_coverage("partial", detail="Failed checks: 2.")
    with translation.override("de"):
        assert coverage_rows([row], HERE)[0].detail == "Fehlgeschlagene Prüfungen: 2."


def test_the_plan_names_limits_that_are_nearly_or_fully_used_but_not_websites_which_have_a_meter():
    states = {"websites": "reached", "calls_per_day": "near", "scans_per_month": "reached", "seats": "ok"}
    limits = [build(LimitState, name=name, limit=5, state=state) for name, state in states.items()]
    shown = plan(make_entitlement(limits=limits), today=TODAY)
    assert shown.limits == ("Calls a day: nearly reached", "Scans a month: limit reached")


def test_new_findings_that_are_no_longer_open_are_counted_apart():
    ages = build(
        Chart,
        id="age",
        title="",
        type="bar",
        labels=["Up to 7 days"],
        series=[build(Series, name="Findings", values=[61])],
    )
    strip = overview(make_dashboard(charts=[ages], summary=make_summary(new_7d=76)), HERE)
    assert (strip.new, strip.new_open) == (76, 61)
    assert overview(make_dashboard(charts=[]), HERE).new_open is None
