"""Answers of accounts to findings: each act, its refusals, and that a refusal changes nothing."""

from datetime import UTC, date, datetime

import pytest

from audit.models import AuditEvent
from dashboard_api.answers.acts import AlreadyAnswered, BadDay, TooManyDisputes
from dashboard_api.answers.records import WrongState
from dashboard_api.decisions import cases
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Account, Answer, Case, Message, Severity, SiteLink
from signed_api import limits
from tests.dashboard_api.answers.acting import DAY, NEEDED, NOW, REASON, act, open_answer, outcomes
from tests.factories import make_account, make_finding, make_link

pytestmark = pytest.mark.django_db
ANSWERS = ("will_fix", "accepted", "disputed", "fixed")
ANALYST = {"by": "ada", "person": ""}


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def finding(link):
    return make_finding(link.website)


def set_rules(link, **rules):
    Account.objects.filter(pk=link.account_id).update(**rules)


def stored(link):
    """Everything that an act can change."""
    tables = (Answer, Case, Message, AuditEvent)
    return [list(model.objects.order_by("pk").values()) for model in tables], list(
        SiteLink.objects.values("answers_version")
    )


def refused(error, link, act_name, *findings, **fields):
    """Let an act be refused, which changes nothing; return the error."""
    before = stored(link)
    with pytest.raises(error) as refusal:
        act(link, act_name, *findings, **fields)
    assert stored(link) == before
    return refusal.value


def disagree(link, finding, text="It is on two pages.", now=NOW):
    case = Case.objects.open().get(answers__finding=finding, account=link.account)
    cases.disagree(case, text=text, now=now, **ANALYST)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_open_finding_can_be_answered_and_its_status_stays(link, finding, name):
    answer = act(link, name, finding)
    assert (answer.answer, answer.by, answer.at, answer.severity_then) == (name, "user-1", NOW, 2)
    finding.refresh_from_db()
    assert finding.status == "open"
    assert SiteLink.objects.get().answers_version > 0
    event = AuditEvent.objects.get(action=f"answer.{name}")
    assert event.account == "acct_0001"
    assert event.host == link.website.host


@pytest.mark.parametrize("status", ["fixed", "accepted_risk", "false_positive"])
@pytest.mark.parametrize("name", ANSWERS)
def test_only_open_findings_can_be_answered(link, finding, name, status):
    closed = make_finding(link.website, status=status, fixed_at=NOW if status == "fixed" else None)
    refused(WrongState, link, name, finding, closed)


@pytest.mark.parametrize("second", ANSWERS)
@pytest.mark.parametrize("first", ANSWERS)
def test_a_new_answer_replaces_the_open_one_and_the_old_one_is_kept(link, finding, first, second):
    act(link, first, finding)
    answer = act(link, second, finding, now=NOW + DAY)
    assert answer.answer == second
    assert outcomes(link, finding) == ["replaced", ""]
    assert Case.objects.open().filter(kind="dispute").count() == (second == "disputed")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_call_can_refuse_to_replace_an_open_answer(link, finding, name):
    other = make_finding(link.website)
    act(link, name, finding, only_unanswered=True)
    refused(AlreadyAnswered, link, name, other, finding, only_unanswered=True)
    act(link, name, other, only_unanswered=True)


def test_an_answer_of_another_account_is_never_in_the_way(link, finding):
    other = make_link(make_account("acct_0002"), link.website)
    act(link, "accepted", finding)
    act(other, "will_fix", finding, only_unanswered=True)
    assert open_answer(link, finding).answer == "accepted"
    assert open_answer(other, finding).answer == "will_fix"


# Will be fixed: days and people


def test_the_day_and_the_person_are_as_given(link, finding):
    answer = act(link, "will_fix", finding, due="2026-03-04", assignee="user-7")
    assert (answer.due_on, answer.assignee) == (date(2026, 3, 4), "user-7")


def test_without_a_day_the_rule_for_the_severity_gives_it(link):
    set_rules(link, critical_days=2, high_days=0, low_days=365)
    for severity, due in (
        (Severity.CRITICAL, date(2026, 3, 6)),
        (Severity.HIGH, None),
        (Severity.LOW, date(2027, 3, 4)),
        (Severity.INFO, None),
    ):
        assert act(link, "will_fix", make_finding(link.website, severity=severity)).due_on == due


def test_days_are_in_the_time_zone_of_the_account(link, finding):
    set_rules(link, time_zone="Pacific/Auckland", medium_days=1)
    late = datetime(2026, 3, 4, 11, 30, tzinfo=UTC)  # half past midnight on 5 March there
    error = refused(BadDay, link, "will_fix", finding, due="2026-03-04", now=late)
    assert error.field == "due"
    assert act(link, "will_fix", finding, due="2026-03-05", now=late)
    assert act(link, "will_fix", finding, now=late).due_on == date(2026, 3, 6)


# Accepted risks


@pytest.mark.parametrize("until", ["2026-03-03", "2027-03-05"], ids=["passed", "in over a year"])
def test_a_risk_is_accepted_until_a_day_within_a_year(link, finding, until):
    assert refused(BadDay, link, "accepted", finding, until=until).field == "until"
    for day in ("2026-03-04", "2027-03-04"):
        assert act(link, "accepted", finding, until=day).until.isoformat() == day


@pytest.mark.parametrize("severity", Severity)
def test_a_second_person_confirms_accepted_risks_of_critical_and_high_findings(link, severity):
    set_rules(link, second_person=True)
    finding = make_finding(link.website, severity=severity)
    answer = act(link, "accepted", finding)
    if severity < Severity.HIGH:
        assert answer.answer == "accepted"
        return
    assert answer.answer == "waiting"
    refused(WrongState, link, "confirm", finding, by="user-1")
    refused(WrongState, link, "decline", finding, by="user-1")
    answer = act(link, "confirm", finding, by="user-2")
    assert (answer.answer, answer.by, answer.second_by) == ("accepted", "user-1", "user-2")
    refused(WrongState, link, "confirm", finding, by="user-3")


def test_a_declined_risk_ends_and_the_first_person_reads_why(link):
    set_rules(link, second_person=True)
    finding = make_finding(link.website, severity=Severity.HIGH)
    act(link, "accepted", finding)
    act(link, "decline", finding, by="user-2", reason="Not without a test.")
    assert outcomes(link, finding) == ["declined"]
    message = Message.objects.get()
    assert (message.side, message.event, message.text) == ("service", "declined", "Not without a test.")


def test_an_answer_without_a_person_is_confirmed_by_one(link):
    set_rules(link, second_person=True)
    finding = make_finding(link.website, severity=Severity.HIGH)
    act(link, "accepted", finding, by="")
    assert act(link, "confirm", finding, by="user-2").answer == "accepted"


@pytest.mark.parametrize("name", ["confirm", "decline"])
def test_all_chosen_findings_must_wait_for_a_second_person(link, finding, name):
    set_rules(link, second_person=True)
    waiting = make_finding(link.website, severity=Severity.CRITICAL)
    act(link, "accepted", finding, waiting)
    refused(WrongState, link, name, finding, waiting)
    refused(WrongState, link, name, finding)


# Disputes


def test_many_disputed_findings_are_one_case_about_the_worst(link):
    low, high, other = (
        make_finding(link.website, severity=severity)
        for severity in (Severity.LOW, Severity.HIGH, Severity.HIGH)
    )
    act(link, "disputed", low, other, high, evidence="curl shows it")
    case = Case.objects.get()
    assert (case.finding, case.findings, case.by, case.opened_at) == (high, 3, "user-1", NOW)
    assert {answer.case for answer in Answer.objects.open()} == {case}
    message = Message.objects.get()
    assert (message.event, message.finding, message.text) == ("disputed", high, f"{REASON}\n\ncurl shows it")


def test_a_finding_can_be_disputed_once_more_with_new_evidence_and_not_a_third_time(link, finding):
    other = make_finding(link.website)
    act(link, "disputed", finding)
    disagree(link, finding)
    assert outcomes(link, finding) == ["disagreed"]
    refused(WrongState, link, "disputed", finding)
    act(link, "disputed", finding, other, evidence="A new one")
    disagree(link, finding)
    refused(WrongState, link, "disputed", other)
    refused(WrongState, link, "disputed", finding, evidence="Another one")
    act(link, "disputed", other, evidence="Another one")


def test_decisions_about_another_account_limit_no_dispute(link, finding):
    other = make_link(make_account("acct_0002"), link.website)
    act(other, "disputed", finding)
    disagree(other, finding)
    assert act(link, "disputed", finding).answer == "disputed"


def test_an_account_has_a_limited_number_of_open_disputes(link, finding, monkeypatch):
    monkeypatch.setattr(limits, "MAX_OPEN_DISPUTES", 2)
    others = [make_finding(link.website) for _ in range(3)]
    act(link, "disputed", *others[:2])
    act(link, "disputed", others[2])
    refused(TooManyDisputes, link, "disputed", finding)
    act(make_link(make_account("acct_0002"), link.website), "disputed", finding)
    act(link, "will_fix", finding)
    act(link, "withdraw", others[2])
    act(link, "disputed", finding)


def test_a_withdrawn_dispute_closes_its_case_when_no_finding_of_it_is_disputed(link, finding):
    other = make_finding(link.website)
    act(link, "disputed", finding, other)
    act(link, "withdraw", finding)
    assert Case.objects.open().exists()
    act(link, "withdraw", other)
    assert Case.objects.get().outcome == "withdrawn"


# Withdraw


@pytest.mark.parametrize("name", ANSWERS)
def test_an_open_answer_can_be_withdrawn_once(link, finding, name):
    act(link, name, finding)
    assert act(link, "withdraw", finding) is None
    assert outcomes(link, finding) == ["withdrawn"]
    refused(WrongState, link, "withdraw", finding)


def test_nobody_withdraws_an_answer_of_another_account(link, finding):
    other = make_link(make_account("acct_0002"), link.website)
    act(other, "will_fix", finding)
    refused(WrongState, link, "withdraw", finding)


# What the contract refuses before anything is read


@pytest.mark.parametrize(
    ("name", "fields", "field"),
    [
        ("accepted", {"reason": ""}, "reason"),
        ("accepted", {"until": ""}, "until"),
        ("accepted", {"due": "2026-03-05"}, "due"),
        ("accepted", {"assignee": "user-1"}, "assignee"),
        ("disputed", {"reason": "x" * (limits.MIN_DISPUTE_REASON - 1)}, "reason"),
        ("disputed", {"until": "2026-03-05"}, "until"),
        ("will_fix", {"evidence": "x"}, "evidence"),
        ("fixed", {"due": "2026-03-05"}, "due"),
        ("withdraw", {"reason": "Never mind"}, "reason"),
        ("confirm", {"by": ""}, "by"),
        ("decline", {"by": ""}, "by"),
        ("will_fix", {"name": "Eve"}, "name"),
        ("will_fix", {"by": "two words"}, "by"),
        ("will_fix", {"by": "x" * 65}, "by"),
        ("will_fix", {"assignee": "a,b"}, "assignee"),
        ("will_fix", {"due": "2026-02-30"}, "due"),
        ("will_fix", {"reason": "x" * (limits.MAX_ANSWER_TEXT + 1)}, "reason"),
        ("will_fix", {"request_key": "a b"}, "request_key"),
        ("will_fix", {"filters": {"severity": "High"}}, "finding_ids"),
    ],
)
def test_fields_that_do_not_fit_the_act_are_named(link, finding, name, fields, field):
    error = refused(InvalidRequest, link, name, finding, **fields)
    assert field in {each["field"] for each in error.details["errors"]}


@pytest.mark.parametrize("name", NEEDED)
def test_each_act_is_on_the_audit_log_with_its_person(link, name):
    set_rules(link, second_person=True)
    finding = make_finding(link.website, severity=Severity.HIGH)
    if name in ("withdraw", "confirm", "decline"):
        act(link, "accepted", finding)
    act(link, name, finding)
    event = AuditEvent.objects.get(action=f"answer.{name}")
    assert event.after == {"findings": 1, "first": finding.pk}
    assert event.actor is not None
