"""Standing decisions outlive imports, an analyst's own decision wins, and their end restores everything."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard_api.decisions import standing, triage
from dashboard_api.decisions.standing import begin, reach
from dashboard_api.importing import ended_decisions
from dashboard_api.importing.ended_decisions import end
from dashboard_api.importing.undo import undo
from dashboard_api.models import Finding, FindingEvent, ImportRun, Severity, Source, StandingDecision, Website
from tests.dashboard_api.calls import CHANGES_PATH, ask, fields_for
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.dashboard_api.searched import words_are_true
from tests.factories import make_account, make_finding, make_link, make_source, make_website

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
BY = {"by": "ada", "reason": "We looked."}
RULE = "exposed-panel"
LEVELS = ("info", "low", "medium", "high", "critical")


@pytest.fixture
def website():
    return make_website()


def decision_about(rule="", *, severity, website=None, **fields):
    return StandingDecision(
        source=make_source(), rule=rule, severity=severity, website=website, **(BY | fields)
    )


def decide(rule="", **fields):
    decision = decision_about(rule, **fields)
    begin(decision, NOW)
    return decision


def finish(decision):
    return end(decision, by="grace", reason="Not any more.", now=NOW)


def bring(website, *rows, day=1, **options):
    stamp = f"2026-03-{day:02}T10:00:00Z"
    data = json_lines(*(make_row(**({"timestamp": stamp} | row)) for row in rows))
    return import_bytes(data, website, **options)


def row(rule, severity="medium"):
    return {"template_id": rule, "info": {"name": f"Problem {rule}", "severity": severity}}


def state(website):
    fields = ("rule", "status", "severity", "source_severity", "reviewed_at", "triage_until", "fixed_at")
    return list(Finding.objects.filter(website=website).order_by("pk").values_list(*fields))


def levels(website):
    findings = Finding.objects.filter(website=website).order_by("pk")
    return [(each.rule, each.status, Severity(each.severity).label) for each in findings]


def timeline(finding):
    """Return what the timeline shows; a scanner's own rating is not part of it."""
    shown = finding.events.exclude(event="scanner_rated")
    return list(shown.values_list("event", "by", "reason"))


# A rating by rule


def test_every_finding_of_the_rule_gets_the_severity_with_the_reason(website):
    rated = make_finding(website, rule=RULE, severity=Severity.MEDIUM)
    other = make_finding(website, rule="other", severity=Severity.MEDIUM)
    elsewhere = make_finding(website, rule=RULE, source=make_source("zap"), severity=Severity.MEDIUM)
    assert begin(decision_about(RULE, severity=Severity.LOW), NOW) == 1
    for finding in (rated, other, elsewhere):
        finding.refresh_from_db()
    assert (rated.severity, rated.source_severity) == (Severity.LOW, Severity.MEDIUM)
    assert timeline(rated) == [("rated", "ada", "Medium to Low: We looked.")]
    assert other.severity == elsewhere.severity == Severity.MEDIUM
    assert rated.reviewed_at is None


def test_a_rating_survives_ten_imports_and_the_counts_stay_true(website):
    decide(RULE, severity=Severity.LOW)
    for day in range(1, 11):
        level = LEVELS[day % 5]
        bring(website, row(RULE, level), row(f"new-{day}", "high"), day=day, complete=True)
        finding = Finding.objects.get(rule=RULE)
        assert finding.severity == Severity.LOW
        assert words_are_true()
    assert len(timeline(finding)) == 1
    assert finding.source_severity == Severity.INFO


def test_what_the_scanner_rates_alike_is_rated_when_the_scanner_changes_its_mind(website):
    decide(RULE, severity=Severity.LOW)
    bring(website, row(RULE, "low"), day=1)
    bring(website, row(RULE, "high"), day=2)
    finding = Finding.objects.get()
    assert (finding.severity, finding.source_severity) == (Severity.LOW, Severity.HIGH)


def test_the_severity_that_an_analyst_chose_stays(website):
    finding = make_finding(website, rule=RULE, severity=Severity.MEDIUM)
    triage.override_severity(finding, Severity.CRITICAL, **BY, now=NOW)
    rating = decide(RULE, severity=Severity.LOW)
    assert levels(website) == [(RULE, "open", "Critical")]
    assert finish(rating) == 0
    assert levels(website) == [(RULE, "open", "Critical")]


def test_an_analyst_may_rate_a_single_finding_of_the_rule_otherwise(website):
    bring(website, row(RULE, "medium"))
    rating = decide(RULE, severity=Severity.LOW)
    triage.override_severity(Finding.objects.get(), None, **BY, now=NOW)
    bring(website, row(RULE, "medium"), day=2)
    assert levels(website) == [(RULE, "open", "Medium")]
    finish(rating)
    assert levels(website) == [(RULE, "open", "Medium")]


def test_a_severity_that_an_analyst_chose_after_the_rating_stays_when_the_rating_ends(website):
    finding = make_finding(website, rule=RULE, severity=Severity.MEDIUM)
    rating = decide(RULE, severity=Severity.LOW)
    triage.override_severity(finding, Severity.CRITICAL, **BY, now=NOW)
    assert finish(rating) == 0
    finding.refresh_from_db()
    assert (finding.severity, finding.source_severity) == (Severity.CRITICAL, Severity.MEDIUM)


# A minimum severity


def test_findings_below_the_floor_are_accepted_risks_with_the_reason(website):
    low = make_finding(website, severity=Severity.LOW)
    make_finding(website, severity=Severity.MEDIUM)
    fixed = make_finding(website, severity=Severity.INFO, status="fixed", fixed_at=NOW)
    other = make_finding(website, severity=Severity.INFO, source=make_source("zap"))
    assert begin(decision_about(severity=Severity.MEDIUM), NOW) == 1
    assert set(Finding.objects.filter(status="accepted_risk")) == {low}
    assert timeline(low) == [("accepted_risk", "ada", "We looked.")]
    assert timeline(fixed) == timeline(other) == []


def test_a_floor_survives_ten_imports_and_the_counts_stay_true(website):
    decide(severity=Severity.MEDIUM)
    for day in range(1, 11):
        rows = [row(f"{level}-{number}", level) for level in LEVELS for number in range(day)]
        bring(website, *rows, day=day, complete=True)
        accepted = Finding.objects.filter(status="accepted_risk")
        assert accepted.count() == 2 * day
        assert not Finding.objects.filter(status="open", severity__lt=Severity.MEDIUM).exists()
        assert words_are_true()
    assert FindingEvent.objects.count() == accepted.count()


def test_a_finding_that_becomes_severe_is_open_again(website):
    decide(severity=Severity.MEDIUM)
    bring(website, row(RULE, "low"), day=1)
    bring(website, row(RULE, "high"), day=2)
    assert levels(website) == [(RULE, "open", "High")]
    assert timeline(Finding.objects.get())[-1] == (
        "reconsidered",
        "",
        "It is High now, which is not accepted.",
    )
    bring(website, row(RULE, "low"), day=3)
    assert levels(website) == [(RULE, "accepted_risk", "Low")]


def test_a_finding_that_comes_back_below_the_floor_is_accepted_again(website):
    bring(website, row(RULE, "low"), row("other", "high"), day=1, complete=True)
    bring(website, row("other", "high"), day=2, complete=True)
    decide(severity=Severity.MEDIUM)
    bring(website, row(RULE, "low"), row("other", "high"), day=3, complete=True)
    finding = Finding.objects.get(rule=RULE)
    assert [event for event, _, _ in timeline(finding)] == ["fixed", "regressed", "accepted_risk"]


def test_a_false_positive_below_the_floor_that_is_elsewhere_is_an_accepted_risk(website):
    bring(website, row(RULE, "low"))
    triage.decide(Finding.objects.get(), "false_positive", **BY, now=NOW)
    decide(severity=Severity.MEDIUM)
    result = bring(website, row(RULE, "low") | {"matched_at": "https://shop.example.com/further"}, day=2)
    assert (result.reopened, result.new_severities) == (1, {})
    steps = [event for event, _, _ in timeline(Finding.objects.get())]
    assert steps == ["false_positive", "regressed", "accepted_risk"]


def test_what_an_analyst_reopens_stays_open(website):
    bring(website, row(RULE, "low"))
    floor = decide(severity=Severity.MEDIUM)
    triage.reopen(Finding.objects.get(), **BY, now=NOW)
    for day in (2, 3):
        bring(website, row(RULE, "low"), day=day)
        assert levels(website) == [(RULE, "open", "Low")]
    assert finish(floor) == 0


@pytest.mark.parametrize("status", ["false_positive", "accepted_risk", "fixed"])
def test_what_an_analyst_decided_after_the_floor_stays_when_the_floor_ends(website, status):
    finding = make_finding(website, severity=Severity.LOW)
    floor = decide(severity=Severity.MEDIUM)
    triage.decide(finding, status, **BY, now=NOW)
    assert finish(floor) == 0
    finding.refresh_from_db()
    assert finding.status == status


def test_after_an_analysts_decision_has_expired_the_floor_counts_again(website):
    finding = make_finding(website, severity=Severity.LOW)
    triage.decide(finding, "false_positive", **BY, until=NOW.date(), now=NOW)
    floor = decide(severity=Severity.MEDIUM)
    ended_decisions.expire_triage(NOW + timedelta(days=1))
    bring(website, row("another"))
    finding.refresh_from_db()
    assert finding.status == "accepted_risk"
    finish(floor)
    finding.refresh_from_db()
    assert finding.status == "open"


def test_customers_hear_nothing_of_new_findings_below_the_floor(client, website):
    bring(website, row("first", "high"), day=1)
    link = make_link(website=website)
    decide(severity=Severity.MEDIUM)
    since = ask(client, fields_for(link), path=CHANGES_PATH).json()["cursor"]
    bring(website, row("quiet", "low"), row("loud", "high"), day=2)
    changes = ask(client, fields_for(link, since=since), path=CHANGES_PATH).json()
    assert [change["title"] for change in changes["findings"]] == ["Problem loud"]
    dashboard = ask(client, fields_for(link, status="accepted_risk")).json()
    assert [threat["title"] for threat in dashboard["threats"]] == ["Problem quiet"]


# Several decisions


def test_the_decision_for_the_website_wins_whichever_comes_first(website):
    other = make_website("blog.example.com")
    for site in (website, other):
        bring(site, {**row(RULE, "high"), "matched_at": f"https://{site.host}/"})
    for_all = decide(RULE, severity=Severity.LOW)
    own = decide(RULE, severity=Severity.CRITICAL, website=website)
    assert levels(website) == [(RULE, "open", "Critical")]
    assert levels(other) == [(RULE, "open", "Low")]
    finish(for_all)
    assert levels(website) == [(RULE, "open", "Critical")]
    assert levels(other) == [(RULE, "open", "High")]
    decide(RULE, severity=Severity.INFO)
    assert levels(website) == [(RULE, "open", "Critical")]
    finish(own)
    assert levels(website) == [(RULE, "open", "Info")]


def test_a_website_can_be_an_exception_from_a_floor(website):
    bring(website, row(RULE, "low"), row("other", "info"))
    for_all = decide(severity=Severity.MEDIUM)
    exception = decide(severity=Severity.LOW, website=website)
    assert levels(website) == [(RULE, "open", "Low"), ("other", "accepted_risk", "Info")]
    bring(website, row(RULE, "low"), row("other", "info"), day=2)
    assert levels(website) == [(RULE, "open", "Low"), ("other", "accepted_risk", "Info")]
    finish(exception)
    assert {status for _, status, _ in levels(website)} == {"accepted_risk"}
    finish(for_all)
    assert {status for _, status, _ in levels(website)} == {"open"}


def test_a_rating_lifts_a_finding_over_the_floor_and_its_end_lets_it_sink(website):
    bring(website, row(RULE, "low"))
    decide(severity=Severity.MEDIUM)
    rating = decide(RULE, severity=Severity.HIGH)
    assert levels(website) == [(RULE, "open", "High")]
    finish(rating)
    assert levels(website) == [(RULE, "accepted_risk", "Low")]


def test_decisions_with_equal_severities_end_one_by_one(website):
    bring(website, row(RULE, "high"))
    for_all = decide(RULE, severity=Severity.LOW)
    own = decide(RULE, severity=Severity.LOW, website=website)
    finish(for_all)
    assert levels(website) == [(RULE, "open", "Low")]
    finish(own)
    assert levels(website) == [(RULE, "open", "High")]


@pytest.mark.parametrize("rule", ["", RULE])
@pytest.mark.parametrize("of_website", [False, True])
def test_a_second_decision_about_the_same_is_refused(website, rule, of_website):
    scope = {"website": website if of_website else None}
    first = decide(rule, severity=Severity.LOW, **scope)
    with pytest.raises(ValidationError, match="There is a decision about this already"):
        decide(rule, severity=Severity.HIGH, **scope)
    finish(first)
    decide(rule, severity=Severity.HIGH, **scope)


@pytest.mark.parametrize("fields", [{"reason": " "}, {"by": " "}, {"reason": "x" * 451}])
def test_nothing_is_decided_without_a_name_and_a_reason(website, fields):
    make_finding(website, rule=RULE)
    with pytest.raises(ValidationError):
        decide(RULE, severity=Severity.LOW, **fields)
    assert not StandingDecision.objects.exists()
    decision = decide(RULE, severity=Severity.LOW)
    with pytest.raises(ValidationError, match="Say why"):
        end(decision, by="grace", reason=" ", now=NOW)
    assert StandingDecision.objects.active().get() == decision


# The end


def test_the_end_restores_exactly_what_the_decisions_changed(website):
    bring(website, *(row(f"{level}-{number}", level) for level in LEVELS for number in range(3)))
    triage.decide(Finding.objects.get(rule="low-0"), "accepted_risk", **BY, now=NOW)
    triage.override_severity(Finding.objects.get(rule="high-0"), Severity.INFO, **BY, now=NOW)
    before = state(website)
    floor, rating = decide(severity=Severity.HIGH), decide("critical-1", severity=Severity.INFO)
    assert state(website) != before
    finish(rating)
    finish(floor)
    accepted = Finding.objects.get(rule="high-0")  # an analyst had rated it below the floor
    assert timeline(accepted)[-2:] == [
        ("accepted_risk", "ada", "We looked."),
        ("reconsidered", "grace", "Not any more."),
    ]
    assert state(website) == before
    assert words_are_true()


def test_the_end_of_a_floor_opens_also_what_an_analyst_has_confirmed_since(website):
    bring(website, row(RULE, "low"))
    floor = decide(severity=Severity.HIGH)
    triage.confirm(Finding.objects.get(), **BY, now=NOW)
    finish(floor)
    assert Finding.objects.get().status == "open"


def test_an_ended_decision_does_nothing_any_more(website):
    decision = decide(RULE, severity=Severity.LOW)
    finish(decision)
    bring(website, row(RULE, "high"))
    assert levels(website) == [(RULE, "open", "High")]
    assert (decision.ended_by, decision.end_reason, decision.ended_at) == ("grace", "Not any more.", NOW)


def test_beginning_or_ending_again_changes_nothing(website, monkeypatch):
    monkeypatch.setattr(standing, "TRIAGE_BATCH", 2)
    for _ in range(5):
        make_finding(website, rule=RULE, severity=Severity.LOW)
    decision = decide(severity=Severity.MEDIUM)
    assert begin(decision, NOW) == 0
    assert finish(decision) == 5
    assert finish(decision) == 0
    assert FindingEvent.objects.count() == 10
    assert words_are_true()


DECISIONS = st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(list(Severity)), st.booleans())


@pytest.mark.slow
@settings(max_examples=13, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), decisions=st.lists(DECISIONS, max_size=6, unique_by=lambda each: (each[0], each[2])))
def test_any_decisions_ended_in_any_order_leave_no_trace_on_findings(data, decisions):
    Website.objects.all().delete()  # of the example before
    StandingDecision.objects.all().delete()
    website = make_website()
    rules = data.draw(
        st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(list(Severity))), max_size=6)
    )
    for rule, severity in rules:
        make_finding(website, rule=rule, severity=severity)
    before = state(website)
    begun = [
        decide(rule, severity=severity, website=website if own else None) for rule, severity, own in decisions
    ]
    again = state(website)
    for decision in begun:
        begin(decision, NOW)
    assert state(website) == again
    for decision in data.draw(st.permutations(begun)):
        finish(decision)
    assert state(website) == before
    assert words_are_true()


# Costs and the preview


def test_an_import_without_decisions_costs_one_query_more(website, monkeypatch):
    make_source()

    def queries(day):
        with CaptureQueriesContext(connection) as captured:
            bring(website, row("a"), row("b"), day=day)
        return [query["sql"] for query in captured]

    queries(1)
    mine = [sql for sql in queries(2) if "standingdecision" in sql]
    assert len(mine) == 1
    after = len(queries(3))
    monkeypatch.setattr(standing, "apply_to", lambda *_: 0)
    assert after - len(queries(4)) == 1


def test_an_import_with_many_ratings_needs_as_many_queries_as_with_one(website):
    def queries(day):
        with CaptureQueriesContext(connection) as captured:
            bring(website, row("rule-0", "high"), row("other"), day=day)
        return len(captured)

    decide("rule-0", severity=Severity.LOW)
    queries(1)
    one = queries(2)
    for number in range(1, 30):
        decide(f"rule-{number}", severity=Severity.LOW)
    assert queries(3) == one


def test_the_preview_counts_findings_websites_and_accounts(website):
    other = make_website("blog.example.com")
    account = make_account()
    make_link(account, website)
    make_link(account, other)
    make_link(make_account("acct_0002"), other).revoke(by="ada", reason="gone", now=NOW)
    for site in (website, website, other):
        make_finding(site, rule=RULE, severity=Severity.LOW)
    assert reach(decision_about(RULE, severity=Severity.HIGH)) == (3, 2, 1)
    assert reach(decision_about(severity=Severity.MEDIUM)) == (3, 2, 1)
    assert reach(decision_about(severity=Severity.LOW)) == (0, 0, 0)
    decide(RULE, severity=Severity.INFO, website=website)
    assert reach(decision_about(RULE, severity=Severity.HIGH)) == (1, 1, 1)
    assert not Source.objects.exclude(slug="nuclei").exists()


def test_taking_an_import_back_keeps_the_decision_and_the_counts(website):
    decide(severity=Severity.MEDIUM)
    decide(RULE, severity=Severity.LOW)
    bring(website, row(RULE, "high"), row("quiet", "info"), day=1, complete=True)
    before = state(website)
    bring(website, row("quiet", "info"), row("newer", "low"), day=2, complete=True)
    undo(ImportRun.objects.first(), by="ada", reason="Wrong file", now=timezone.now())
    assert state(website) == before
    assert words_are_true()
    bring(website, row(RULE, "high"), row("newer", "low"), day=3)
    assert {status for _, status, _ in levels(website)} == {"accepted_risk"}
