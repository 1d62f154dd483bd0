"""Members, analysts and scans at once: each race has one outcome, on both databases."""

from collections import Counter
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from dashboard_api.answers import messages
from dashboard_api.answers.acts import AlreadyAnswered, TooManyDisputes
from dashboard_api.answers.messages import TooManyMessages
from dashboard_api.answers.records import WrongState
from dashboard_api.decisions import cases
from dashboard_api.models import Answer, Case, Finding, Message, RememberedCall
from signed_api import limits
from tests.dashboard_api.answers.acting import DAY, NOW, REASON, act, outcomes, scan, write
from tests.dashboard_api.calls import ANSWER_PATH, ANSWER_RULES_PATH, MESSAGE_PATH, ask, fields_for
from tests.factories import make_finding, make_link, make_website
from tests.racing import race

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = 6


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def finding(link):
    scan(link.website, "panel", at=NOW - DAY)
    return Finding.objects.get()


def race_for(*functions, times=TIMES):
    """Call the functions in turn and at once; return the class of each error, or None."""

    def one(number):
        try:
            functions[number % len(functions)]()
        except (WrongState, AlreadyAnswered, TooManyDisputes, TooManyMessages, ValidationError) as error:
            return type(error)

    return race(one, times=times)


def test_of_members_who_answer_at_once_one_answers_first(link, finding):
    results = race_for(
        lambda: act(link, "will_fix", finding, only_unanswered=True),
        lambda: act(link, "accepted", finding, only_unanswered=True, by="user-2"),
    )
    assert Counter(results) == {None: 1, AlreadyAnswered: TIMES - 1}
    assert Answer.objects.count() == 1


def test_of_answers_at_once_the_last_is_open_and_the_others_are_replaced(link, finding):
    results = race_for(
        lambda: act(link, "will_fix", finding),
        lambda: act(link, "disputed", finding),
        lambda: act(link, "fixed", finding),
    )
    assert results == [None] * TIMES
    assert sorted(outcomes(link, finding)) == ["", *["replaced"] * (TIMES - 1)]
    assert Case.objects.open().count() == Answer.objects.open().filter(answer="disputed").count()


def test_an_answer_is_withdrawn_once(link, finding):
    act(link, "disputed", finding)
    results = race_for(lambda: act(link, "withdraw", finding))
    assert Counter(results) == {None: 1, WrongState: TIMES - 1}
    assert outcomes(link, finding) == ["withdrawn"]


def test_of_two_second_persons_one_decides(link):
    link.account.second_person = True
    link.account.save()
    finding = make_finding(link.website, severity=4)
    act(link, "accepted", finding)
    results = race_for(
        lambda: act(link, "confirm", finding, by="user-2"),
        lambda: act(link, "decline", finding, by="user-3"),
    )
    assert Counter(results) == {None: 1, WrongState: TIMES - 1}


def test_of_analysts_who_decide_at_once_one_decides(link, finding):
    act(link, "disputed", finding)
    case = Case.objects.get()
    words = {"by": "ada", "person": "", "text": "We looked.", "now": NOW}
    results = race_for(
        lambda: cases.agree(case, **words),
        lambda: cases.disagree(case, **words | {"by": "grace"}),
    )
    assert Counter(results) == {None: 1, ValidationError: TIMES - 1}
    case.refresh_from_db()
    finding.refresh_from_db()
    assert outcomes(link, finding) == [case.outcome]
    assert finding.status == {"agreed": "false_positive", "disagreed": "open"}[case.outcome]
    assert Message.objects.filter(side="analyst").count() == 1


def test_a_withdrawal_and_a_decision_at_once_are_one_end(link, finding):
    act(link, "disputed", finding)
    case = Case.objects.get()
    words = {"by": "ada", "person": "", "text": "We looked.", "now": NOW}
    results = race_for(lambda: act(link, "withdraw", finding), lambda: cases.disagree(case, **words), times=2)
    assert sorted(map(bool, results)) == [False, True]
    case.refresh_from_db()
    assert outcomes(link, finding) == [case.outcome]


@pytest.mark.parametrize("name", ["fixed", "disputed"])
def test_a_member_and_a_scan_at_once_leave_no_open_answer_to_a_fixed_finding(link, finding, name):
    results = race_for(lambda: act(link, name, finding), lambda: scan(link.website, at=NOW + DAY), times=2)
    ended = {"fixed": "gone", "disputed": "overtaken"}[name]
    was_first = results[0] is None
    assert outcomes(link, finding) == ([ended] if was_first else [])
    assert results == ([None, None] if was_first else [WrongState, None])
    assert not Case.objects.open().exists()


def test_messages_at_once_are_one_question_within_the_limit(link, finding, monkeypatch):
    monkeypatch.setattr(messages, "MAX_OF_PERSON", 4)
    results = race_for(lambda: write(link, finding))
    assert Counter(results) == {None: 4, TooManyMessages: TIMES - 4}
    assert Case.objects.get().messages.count() == 4


def test_disputes_of_two_websites_at_once_keep_the_limit_of_the_account(link, finding, monkeypatch):
    monkeypatch.setattr(limits, "MAX_OPEN_DISPUTES", 1)
    other = make_link(link.account, make_website("other.example.com"))
    elsewhere = make_finding(other.website)
    results = race_for(
        lambda: act(link, "disputed", finding), lambda: act(other, "disputed", elsewhere), times=2
    )
    assert Counter(results) == {None: 1, TooManyDisputes: 1}


# Signed calls


@pytest.mark.parametrize("path", [ANSWER_PATH, MESSAGE_PATH])
def test_a_call_that_is_repeated_at_once_is_done_once(link, finding, path):
    fields = {
        ANSWER_PATH: {"act": "disputed", "finding_ids": str(finding.pk), "reason": REASON},
        MESSAGE_PATH: {"finding_id": str(finding.pk), "text": "Hello"},
    }[path]
    body = fields_for(link, **fields, request_key="once")
    responses = race(lambda _: ask(Client(), body, path=path), times=TIMES)
    assert {response.status_code for response in responses} == {200}
    assert len({response.content for response in responses}) == 1
    assert Message.objects.count() == RememberedCall.objects.count() == 1


def test_a_key_that_is_used_for_two_websites_at_once_is_used_once(link, finding):
    other = make_link(link.account, make_website("other.example.com"))
    bodies = [
        fields_for(each, act="will_fix", finding_ids=str(one.pk), request_key="once")
        for each, one in ((link, finding), (other, make_finding(other.website)))
    ]
    responses = race(lambda number: ask(Client(), bodies[number], path=ANSWER_PATH), times=2)
    assert sorted(response.status_code for response in responses) == [200, 409]
    assert Answer.objects.count() == 1


def test_rules_and_answers_at_once_wait_for_each_other_without_an_error(link, finding):
    def change(number):
        if number % 2:
            rules = {"portal_account_ref": link.account.ref, "high_days": number}
            return ask(Client(), rules, path=ANSWER_RULES_PATH)
        due = f"{timezone.now() + timedelta(days=1):%Y-%m-%d}"
        body = fields_for(link, act="will_fix", finding_ids=str(finding.pk), due=due)
        return ask(Client(), body, path=ANSWER_PATH)

    for _ in range(3):
        assert {response.status_code for response in race(change, times=TIMES)} == {200}
    assert Answer.objects.open().count() == 1
