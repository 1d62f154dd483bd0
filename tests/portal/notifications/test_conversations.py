"""Messages and answers are mailed to the members whom they concern, and to nobody else."""

from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends import locmem
from django.utils import timezone

from foundation.texts.people import reference_of
from portal.answers import service
from portal.models import PendingNotification
from portal.notifications import conversations
from portal.notifications.conversations import (
    MAX_MENTIONED,
    digests,
    notify_mentions,
    notify_second_person,
)
from portal.notifications.delivery import send_due
from portal.notifications.polling import audiences
from signed_api.answering import AnsweredFinding, AnswersResponse
from signed_api.answers import Answer, Message
from signed_api.errors import UnknownFinding
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_finding_response, make_message_change
from tests.structs import build, refused

pytestmark = pytest.mark.django_db


def make_message(number=1, event="message", **fields):
    side = "analyst" if event in ("message", "asked", "agreed", "disagreed") else "service"
    return make_message_change(number, event=event, side=side, **fields)


def make_answer(by="", **fields):
    return build(Answer, id="1", answer="disputed", by=by and reference_of(by.user_id), **fields)


def made_by(member):
    return reference_of(member.user_id)


@pytest.fixture
def finding(monkeypatch):
    """Let the service return this conversation for each finding, and count its calls."""
    calls = []

    def finding(**fields):
        def get_finding(_website, finding_id):
            calls.append(finding_id)
            return make_finding_response(**fields)

        monkeypatch.setattr(service, "get_finding", get_finding)
        return calls

    return finding


@pytest.fixture
def members(account, owner, viewer):
    """An owner, a viewer, and a manager and two contributors by name."""
    roles = {"manager": "manager", "ada": "contributor", "bob": "contributor"}
    named = {name: make_membership(make_user(name), account, role) for name, role in roles.items()}
    return named | {"owner": owner, "viewer": viewer}


def mailed(website, members, *messages):
    found = digests(website, members.values(), "1.", messages)
    return {
        subscription.membership.user.username: [message.id for message in digest.messages]
        for subscription, digest in found
    }


# Recipients


def test_an_analysts_message_goes_to_who_answered_who_is_assigned_and_who_wrote(website, members, finding):
    wrote = build(Message, id="1", side="member", event="message", by=made_by(members["viewer"]))
    finding(
        answer=make_answer(members["ada"], assignee=made_by(members["bob"])),
        messages=[wrote, build(Message, id="2", side="analyst", event="message", by="user-1")],
    )
    assert mailed(website, members, make_message()) == {"ada": ["1"], "bob": ["1"], "viewer": ["1"]}


def test_earlier_answers_are_part_of_the_conversation(website, members, finding):
    finding(past_answers=[make_answer(members["bob"], second_by=made_by(members["ada"]))])
    assert mailed(website, members, make_message(event="disagreed")) == {"ada": ["1"], "bob": ["1"]}


def test_references_of_people_who_left_or_of_an_integrator_reach_nobody(website, members, finding):
    finding(answer=make_answer(assignee="Robin"), past_answers=[make_answer(members["ada"])])
    members["ada"].delete()
    del members["ada"]
    assert mailed(website, members, make_message()) == {}


@pytest.mark.parametrize("event", ["gone", "still_there"])
def test_what_became_of_a_fix_goes_to_who_said_it_and_to_the_assignee(website, members, finding, event):
    said = make_answer(members["ada"], outcome=event)
    planned = make_answer(members["owner"], outcome="replaced", assignee=made_by(members["bob"]))
    finding(past_answers=[said, planned, make_answer(members["viewer"], outcome=event)])
    assert mailed(website, members, make_message(event=event)) == {"ada": ["1"], "bob": ["1"]}


@pytest.mark.parametrize("event", ["ends_soon", "expired", "worse"])
def test_the_end_of_an_accepted_risk_goes_to_owners_and_managers_as_well(website, members, finding, event):
    finding(answer=make_answer(members["ada"]))
    assert set(mailed(website, members, make_message(event=event))) == {"ada", "owner", "manager"}


@pytest.mark.parametrize("event", ["fixed", "withdrawn", "replaced", "of a later service"])
def test_other_events_send_no_email_and_read_no_conversation(website, members, finding, event):
    calls = finding(answer=make_answer(members["ada"]))
    assert (mailed(website, members, make_message(event=event)), calls) == ({}, [])


def test_a_conversation_is_read_once_for_all_its_messages(website, members, finding):
    calls = finding(answer=make_answer(members["ada"]))
    assert mailed(website, members, make_message(1), make_message(2)) == {"ada": ["1", "2"]}
    assert calls == ["7"]


def test_an_act_about_many_findings_is_one_call_for_the_newest_answers(
    website, members, finding, monkeypatch
):
    calls = finding()
    answered = [
        build(AnsweredFinding, finding_id=str(number), answer=make_answer(members["ada"], outcome="gone"))
        for number in range(1, 51)
    ]
    answers = build(AnswersResponse, ok=True, answers=answered)
    monkeypatch.setattr(service, "get_answers", lambda *_: answers)
    gone = [make_message(number, "gone", finding_id=str(number)) for number in range(1, 51)]
    assert (len(mailed(website, members, *gone)["ada"]), calls) == (50, [])


def test_an_analysts_words_among_many_events_are_read(website, members, finding, monkeypatch):
    calls = finding(answer=make_answer(members["ada"]))
    monkeypatch.setattr(service, "get_answers", lambda *_: build(AnswersResponse, ok=True, answers=[]))
    decided = [make_message(number, "decided", finding_id=str(number)) for number in range(1, 50)]
    assert mailed(website, members, *decided, make_message(50, finding_id="99")) == {"ada": ["50"]}
    assert calls == ["99"]


def test_the_conversation_of_a_deleted_finding_concerns_nobody(website, members, monkeypatch):
    def unknown(*_):
        raise refused(UnknownFinding)

    monkeypatch.setattr(service, "get_finding", unknown)
    assert mailed(website, members, make_message()) == {}


def test_members_without_a_choice_get_messages_and_those_who_chose_never_get_none(
    members, website, subscribe
):
    subscribe(members["ada"], frequency="never")
    type(members["bob"].user).objects.filter(pk=members["bob"].user_id).update(is_active=False)
    type(members["manager"].user).objects.filter(pk=members["manager"].user_id).update(email="")
    (audience,) = audiences()
    assert {each.user.username for each in audience.members} == {"owner", "viewer"}
    assert [each.membership for each in audience.subscriptions] == [members["owner"]]


# Mentions


def mention(website, text, *, author):
    notify_mentions(website, finding_id="7", title="Old", text=text, author=author.user)
    to = sorted(message.to[0].partition("@")[0] for message in mail.outbox)
    mail.outbox.clear()
    return to


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("@bob, could you look? Thanks, @VIEWER.", ["bob", "viewer"]),
        ("@bob @bob (@bob)", ["bob"]),
        ("Ask bob@example.com, not @bobby or @stranger", []),
        ("@ada wrote this herself", []),
        ("", []),
    ],
)
def test_a_mention_is_mailed_to_that_member_at_once(website, members, text, people):
    make_membership(make_user("stranger"), make_portal_account("acct_0002"))
    assert mention(website, text, author=members["ada"]) == people
    assert not PendingNotification.objects.exists()


def test_a_mention_names_its_author_and_quotes_the_words(website, members):
    notify_mentions(
        website,
        finding_id="7",
        title="Old <jQuery>",
        text="@bob **look** at [this](https://evil.example/) ![x](https://evil.example/y.png)",
        author=members["ada"].user,
    )
    (message,) = mail.outbox
    assert message.subject == "shop.example.com: ada mentioned you in a message about “Old <jQuery>”"
    assert "@bob look at this !x\n" in message.body
    assert "https://portal.example.com/sites/shop.example.com/findings/7/\n" in message.body
    html = message.alternatives[0][0]
    assert "evil.example" not in html + message.body
    assert "<img" not in html
    assert "Old &lt;jQuery&gt;" in html


def test_few_members_are_mentioned_at_once(account, website, members):
    names = [f"person{number}" for number in range(MAX_MENTIONED + 1)]
    for name in names:
        make_membership(make_user(name), account, "viewer")
    text = " ".join(f"@{name}" for name in names)
    assert mention(website, text, author=members["ada"]) == sorted(names[:MAX_MENTIONED])


def test_a_member_who_chose_never_is_not_mailed(website, members, subscribe):
    subscribe(members["bob"], frequency="never")
    assert mention(website, "@bob", author=members["ada"]) == []


def test_a_mention_waits_for_the_mail_server_and_is_sent_once(website, members, monkeypatch):
    def fail(*_):
        raise OSError("busy")

    with monkeypatch.context() as patch:
        patch.setattr(locmem.EmailBackend, "send_messages", fail)
        assert mention(website, "@bob", author=members["ada"]) == []
    assert [send_due([website]).sent for _ in range(2)] == [1, 0]
    assert mail.outbox[0].to == ["bob@example.com"]


def test_without_a_mail_server_nothing_is_stored(website, members, settings):
    settings.EMAIL_URL = ""
    assert mention(website, "@bob", author=members["ada"]) == []
    assert not PendingNotification.objects.exists()


def test_a_mention_of_a_member_who_left_before_the_retry_is_not_sent(website, members, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(conversations.delivery, "send_now", lambda _: None)
        mention(website, "@bob", author=members["ada"])
    members["bob"].delete()
    assert send_due([website], clock=lambda: timezone.now() + timedelta(hours=1)).sent == 0


# The second person


def test_a_risk_that_waits_for_a_second_person_is_mailed_to_the_others_who_may_confirm(website, members):
    notify_second_person(website, title="Old", count=74, by=members["ada"].user)
    assert sorted(message.to[0] for message in mail.outbox) == [
        "bob@example.com",
        "manager@example.com",
        "owner@example.com",
    ]
    text = "ada accepts a risk, and you can confirm or decline: “Old” and 73 more"
    assert mail.outbox[0].subject == f"shop.example.com: {text}"
    assert "https://portal.example.com/sites/shop.example.com/?answer=waiting" in mail.outbox[0].body


def test_members_of_another_account_with_the_same_website_get_no_e_mail(website, members):
    other = make_portal_account("acct_0002")
    make_portal_website(other)
    make_membership(make_user("neighbour"), other)
    notify_second_person(website, title="Old", count=1, by=members["ada"].user)
    assert "neighbour@example.com" not in [message.to[0] for message in mail.outbox]
