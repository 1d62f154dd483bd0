from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from foundation.texts.people import reference_of
from portal.pages.urls import Address
from portal.pages.view_models.answers import answering
from portal.pages.view_models.people import People
from signed_api.answers import Answer, Message
from tests.factories import make_membership, make_portal_account, make_user
from tests.portal.dashboards import make_finding, make_finding_response
from tests.structs import build

ADDRESS = Address(path="/sites/shop.example.com/")
ADA, BEN = reference_of(1), reference_of(2)
PEOPLE = People({ADA: "ada", BEN: "ben"})
AT = datetime(2026, 11, 29, 9, 30, tzinfo=UTC)


def make_answer(answer="will_fix", **fields):
    optional = dict.fromkeys(("due", "until", "promised_on", "ended_at"))
    return build(Answer, **(optional | {"id": "1", "answer": answer, "by": ADA, "at": AT} | fields))


def make_message(event="message", side="member", **fields):
    return build(Message, **({"id": "5", "event": event, "side": side, "at": AT, "edited_at": None} | fields))


def page_of(*, user_id=1, finding=None, **fields):
    response = make_finding_response(finding=finding or make_finding(due=None, answer=None), **fields)
    return answering(response, ADDRESS, PEOPLE, user_id=user_id)


def facts_of(answer, **fields):
    return page_of(answer=answer, **fields).open.facts


@pytest.mark.parametrize(
    ("answer", "fields", "facts"),
    [
        (make_answer(due=date(2099, 1, 2), assignee=BEN), {}, ("by 2 Jan 2099", "assigned to ben")),
        (make_answer(due=date(2020, 1, 2)), {}, ("by 2 Jan 2020", "overdue")),
        (make_answer(assignee=reference_of(9)), {}, ("assigned to A former member",)),
        (
            make_answer("accepted", until=date(2099, 1, 2), second_by=BEN),
            {},
            ("until 2 Jan 2099", "confirmed by ben"),
        ),
        (
            make_answer("waiting", until=date(2099, 1, 2)),
            {},
            ("until 2 Jan 2099", "waits for a second person"),
        ),
        (make_answer("disputed", promised_on=date(2026, 12, 1)), {}, ("an analyst answers by 1 Dec 2026",)),
        (
            make_answer("disputed", promised_on=date(2026, 12, 1)),
            {"messages": [make_message("disputed"), make_message("asked", "analyst")]},
            ("an analyst asked you a question: answer below",),
        ),
        (
            make_answer("disputed", promised_on=date(2026, 12, 1)),
            {"messages": [make_message("asked", "analyst"), make_message()]},
            ("an analyst answers by 1 Dec 2026",),
        ),
        (make_answer("fixed"), {"can_retest": True}, ("a retest decides whether it is gone",)),
        (
            make_answer("fixed"),
            {},
            ("the next complete scan by Nuclei decides whether it is gone",),
        ),
    ],
)
def test_an_open_answer_says_what_it_promises_and_who_decides(answer, fields, facts):
    assert facts_of(answer, **fields) == facts


@pytest.mark.parametrize(
    ("fields", "who"),
    [
        ({"by": ADA}, "ada"),
        ({"by": reference_of(9)}, "A former member"),
        ({"by": ""}, "Through the API"),
        ({"by": "crm-77"}, "Through the API"),
        ({"by": "", "name": "Kim"}, "Kim (through a share link, not verified)"),
    ],
)
def test_only_current_members_have_names(fields, who):
    assert page_of(answer=make_answer(**fields)).open.who == who


def test_people_are_the_members_of_one_account(db):
    account = make_portal_account()
    ben, ada = (make_membership(make_user(name), account, "viewer") for name in ("ben", "ada"))
    make_membership(make_user("eve"), make_portal_account("acct_0002"))
    names = People.of(account.pk).names
    assert list(names.items()) == [(reference_of(ada.user_id), "ada"), (reference_of(ben.user_id), "ben")]


def test_who_may_not_answer_gets_no_form():
    page = page_of(user_id=None, answer=make_answer("waiting", by=BEN), messages=[make_message(by=ADA)])
    assert (page.form, page.message_form, page.messages[0].form) == (None, None, None)
    assert (page.may_confirm, page.may_withdraw) == (False, False)


def test_a_closed_finding_keeps_its_answer_and_its_conversation_but_takes_no_new_answer():
    page = page_of(finding=make_finding(status="fixed", due=None), answer=make_answer("accepted"))
    assert page.form is None
    assert page.may_withdraw
    assert page.message_form


def test_the_first_person_does_not_confirm_and_another_does():
    waiting = make_answer("waiting", by=ADA)
    assert not page_of(user_id=1, answer=waiting).may_confirm
    assert page_of(user_id=2, answer=waiting).may_confirm
    assert not page_of(user_id=2, answer=make_answer("accepted")).may_confirm


def test_the_form_begins_with_the_open_answer_or_with_the_day_of_the_rules():
    due = timezone.localdate() + timedelta(days=3)
    by_rule = page_of(finding=make_finding(due=due))
    assert (by_rule.form["due"].value(), by_rule.form["act"].value()) == (due, None)
    passed = page_of(finding=make_finding(due=date(2020, 1, 2)))
    assert passed.form["due"].value() is None
    assert passed.due == "It was due on 2 Jan 2020."
    waiting = page_of(answer=make_answer("waiting", reason="A test.", until=date(2099, 1, 2)))
    values = [waiting.form[name].value() for name in ("act", "reason", "until")]
    assert values == ["accepted", "A test.", date(2099, 1, 2)]


def test_a_dispute_is_offered_as_long_as_it_is_possible():
    first = page_of(may_dispute=True)
    assert "disputed" in dict(first.form.fields["act"].choices)
    assert first.no_dispute == ""
    last = page_of(may_dispute=False)
    assert "disputed" not in dict(last.form.fields["act"].choices)
    assert last.no_dispute


def test_an_earlier_answer_has_its_outcome_and_the_decision_as_markdown():
    ended = make_answer("disputed", outcome="disagreed", ended_at=AT, decision="It **does** <b>.")
    (past,) = page_of(past_answers=[ended]).past
    assert past.outcome == "An analyst disagreed"
    assert past.decision == "<p>It <strong>does</strong> &lt;b&gt;.</p>\n"


@pytest.mark.parametrize(
    ("message", "title"),
    [
        (make_message(by=ADA), "ada"),
        (make_message(side="analyst", by="Robin"), "Robin, analyst"),
        (make_message("disputed", by=BEN), "ben said that it is not a problem"),
        (make_message("agreed", "analyst", by="Robin"), "Robin agreed: it is not a problem"),
        (make_message("disagreed", "analyst", by="Robin"), "Robin disagreed"),
        (make_message("asked", "analyst", by="Robin"), "Robin asked a question"),
        (make_message("agreed", "service"), "An analyst agreed: it is not a problem"),
        (make_message("gone", "service"), "A scan no longer found it"),
        (make_message("still_there", "service"), "A scan still found it"),
        (make_message("ends_soon", "service"), "The accepted risk ends in 14 days"),
        (make_message("of_tomorrow", "service"), "Of tomorrow"),
    ],
)
def test_messages_and_events_are_said_in_words(message, title):
    (view,) = page_of(messages=[message]).messages
    assert (view.title, view.is_event) == (title, message.event != "message")


def test_a_person_edits_the_own_message_for_an_hour():
    now = timezone.now()
    own = make_message(by=ADA, at=now, text="Is it?")
    views = page_of(
        messages=[
            own,
            make_message(by=BEN, at=now),
            make_message(by=ADA, at=now - timedelta(minutes=61)),
            make_message("disputed", by=ADA, at=now),
            make_message(side="analyst", by=ADA, at=now),
        ]
    ).messages
    assert [bool(view.form) for view in views] == [True, False, False, False, False]
    assert views[0].form["text"].value() == "Is it?"


def test_each_form_has_a_key_of_its_own():
    page = page_of()
    assert len({page.key, page.message_key, page_of().key}) == 3
