"""Messages between members and analysts: questions, who may change what, and limits."""

from datetime import date, timedelta

import pytest
from django.core.exceptions import ValidationError

from audit.models import AuditEvent
from dashboard_api.answers import messages
from dashboard_api.answers.messages import TooManyMessages
from dashboard_api.answers.records import WrongState
from dashboard_api.decisions import cases
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Account, Case, Message, SiteLink
from signed_api import limits
from tests.dashboard_api.answers.acting import DAY, NOW, act, write
from tests.factories import make_account, make_finding, make_link

pytestmark = pytest.mark.django_db
ANALYST = {"by": "ada", "person": ""}
MINUTE = timedelta(minutes=1)


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def finding(link):
    return make_finding(link.website)


def test_a_message_opens_a_question_with_a_promised_day(link, finding):
    version = SiteLink.objects.get().answers_version
    message = write(link, finding)
    case = Case.objects.get()
    assert (case.kind, case.promised_on, case.by) == ("question", date(2026, 3, 6), "user-1")
    assert (message.side, message.event, message.case) == ("member", "message", case)
    assert SiteLink.objects.get().answers_version > version
    assert AuditEvent.objects.filter(action="message.written", account="acct_0001").exists()


def test_further_messages_join_the_open_question_and_move_no_promise(link, finding):
    write(link, finding)
    write(link, finding, now=NOW + DAY, by="user-2")
    case = Case.objects.get()
    assert (case.messages.count(), case.promised_on) == (2, date(2026, 3, 6))


def test_a_message_about_a_disputed_finding_joins_the_dispute(link, finding):
    first = make_finding(link.website, severity=4)
    act(link, "disputed", finding, first)
    write(link, finding)
    case = Case.objects.get()
    assert (case.kind, case.finding, case.messages.count()) == ("dispute", first, 2)


def test_an_answered_question_is_closed_and_the_next_message_opens_another(link, finding):
    write(link, finding)
    cases.reply(Case.objects.get(), text="It is on page 2.", now=NOW, **ANALYST)
    assert Case.objects.get().outcome == "answered"
    write(link, finding, now=NOW + DAY)
    assert Case.objects.open().get().promised_on == date(2026, 3, 9)


def test_a_dispute_that_waits_for_the_customer_comes_back_with_a_new_promise(link, finding):
    act(link, "disputed", finding)
    case = Case.objects.get()
    cases.ask(case, text="Which proxy?", now=NOW, **ANALYST)
    assert not Case.objects.for_analysts().exists()
    write(link, finding, "nginx", now=NOW + 5 * DAY)
    assert [(each.pk, each.promised_on) for each in Case.objects.for_analysts()] == [
        (case.pk, date(2026, 3, 11))
    ]


def test_another_account_has_its_own_question(link, finding):
    other = make_link(make_account("acct_0002"), link.website)
    write(link, finding)
    write(other, finding)
    assert Case.objects.open().count() == 2
    assert messages.case_of(link.account_id, finding.pk).account_id == link.account_id


# Changes of a message


def test_the_author_can_change_a_message_for_an_hour(link, finding):
    message = write(link, finding)
    edited = write(link, finding, "Please look here.", edit=message, now=NOW + timedelta(hours=1))
    assert (edited.pk, edited.text, edited.at) == (message.pk, "Please look here.", NOW)
    assert edited.edited_at == NOW + timedelta(hours=1)
    assert AuditEvent.objects.filter(action="message.edited").exists()
    with pytest.raises(WrongState, match="an hour"):
        write(link, finding, "Too late", edit=message, now=NOW + timedelta(hours=1, seconds=1))
    assert Message.objects.get().text == "Please look here."


def test_nobody_else_can_change_a_message(link, finding):
    message = write(link, finding)
    nameless = write(link, finding, by="")
    for each, by in ((message, "user-2"), (message, ""), (nameless, "user-1")):
        with pytest.raises(WrongState, match="author"):
            write(link, finding, "Changed", edit=each, by=by)
    assert write(link, finding, "Changed", edit=nameless, by="").text == "Changed"


def test_only_messages_of_members_about_the_finding_can_be_changed(link, finding):
    act(link, "disputed", finding)
    other_link = make_link(make_account("acct_0002"), link.website)
    other = write(other_link, finding)
    elsewhere = write(link, make_finding(link.website))
    dispute = Message.objects.get(event="disputed")
    cases.ask(Case.objects.get(kind="dispute"), text="Which proxy?", now=NOW, **ANALYST)
    asked = Message.objects.get(event="asked")
    for each in (other, elsewhere, dispute, asked):
        with pytest.raises(WrongState, match="no such message"):
            write(link, finding, "Changed", edit=each)
    assert not Message.objects.exclude(edited_at=None).exists()


def test_a_message_about_a_dispute_can_be_changed_at_each_of_its_findings(link, finding):
    other = make_finding(link.website)
    act(link, "disputed", finding, other)
    message = write(link, finding)
    assert write(link, other, "Changed", edit=message).text == "Changed"


# Limits


def test_a_person_and_an_account_write_a_limited_number_of_messages_in_an_hour(link, finding, monkeypatch):
    monkeypatch.setattr(messages, "MAX_OF_ACCOUNT", 5)
    monkeypatch.setattr(messages, "MAX_OF_PERSON", 3)
    for number in range(3):
        write(link, finding, now=NOW + number * MINUTE)
    with pytest.raises(TooManyMessages) as refused:
        write(link, finding, now=NOW + 10 * MINUTE)
    assert refused.value.seconds == 50 * 60 + 1
    for _ in range(2):
        write(link, finding, by="user-2", now=NOW + 10 * MINUTE)
    with pytest.raises(TooManyMessages):
        write(link, finding, by="user-3", now=NOW + 10 * MINUTE)
    write(make_link(make_account("acct_0002"), link.website), finding, now=NOW + 10 * MINUTE)
    write(link, finding, now=NOW + timedelta(hours=1, seconds=1))


@pytest.mark.parametrize("text", ["", "x" * (limits.MAX_MESSAGE_LENGTH + 1)])
def test_a_message_has_1_to_4000_characters(link, finding, text):
    with pytest.raises(InvalidRequest):
        write(link, finding, text)
    write(link, finding, "x" * limits.MAX_MESSAGE_LENGTH)


# Analysts


def test_an_analyst_decides_no_case_of_their_own(link, finding):
    act(link, "disputed", finding, by="user-9")
    case = Case.objects.get()
    for decide in (cases.agree, cases.disagree, cases.ask):
        with pytest.raises(ValidationError, match="opened it yourself"):
            decide(case, by="ada", person="user-9", text="Yes", now=NOW)
    cases.agree(case, by="ada", person="user-8", text="Yes", now=NOW)


def test_a_closed_case_is_not_decided_again(link, finding):
    act(link, "disputed", finding)
    case = Case.objects.get()
    cases.disagree(case, text="No", now=NOW, **ANALYST)
    for decide in (cases.agree, cases.disagree, cases.ask):
        with pytest.raises(ValidationError, match="closed meanwhile by ada: disagreed"):
            decide(case, by="grace", person="", text="Yes", now=NOW)


@pytest.mark.parametrize("text", ["", "  ", "x" * 4001])
def test_an_analyst_writes_something_and_not_too_much(link, finding, text):
    act(link, "disputed", finding)
    with pytest.raises(ValidationError, match="characters"):
        cases.agree(Case.objects.get(), text=text, now=NOW, **ANALYST)
    with pytest.raises(ValidationError, match="who decides"):
        cases.agree(Case.objects.get(), by=" ", person="", text="Yes", now=NOW)


def test_questions_are_answered_and_disputes_are_decided(link, finding):
    write(link, finding)
    question = Case.objects.get()
    for decide in (cases.agree, cases.disagree, cases.ask):
        with pytest.raises(ValidationError, match="not a dispute"):
            decide(question, text="Yes", now=NOW, **ANALYST)
    act(link, "disputed", finding)
    with pytest.raises(ValidationError, match="not a question"):
        cases.reply(Case.objects.get(kind="dispute"), text="Yes", now=NOW, **ANALYST)


def test_the_most_urgent_promise_comes_first_and_removed_websites_wait_for_nobody(link, finding):
    write(link, finding, now=NOW + DAY)
    other = make_link(make_account("acct_0002"), link.website)
    write(other, finding)
    assert [case.account.ref for case in Case.objects.for_analysts()] == ["acct_0002", "acct_0001"]
    other.revoke(by="tests", reason="asked to", now=NOW)
    assert [case.account.ref for case in Case.objects.for_analysts()] == ["acct_0001"]


def test_rules_of_an_account_do_not_move_promises_of_analysts(link, finding):
    Account.objects.update(time_zone="Pacific/Auckland")
    write(link, finding)
    assert Case.objects.get().promised_on == date(2026, 3, 6)
