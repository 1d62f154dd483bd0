"""Delivery: at least once, with one Message-ID, and without delays by failures of others."""

import smtplib
from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.core.mail.backends import locmem
from django.db import OperationalError

from portal.answers import service
from portal.models import PendingNotification, Subscription
from portal.notifications import delivery
from portal.notifications.delivery import CLAIM_LIFETIME, MAX_AGE, send_due
from portal.notifications.digest import Digest, Message
from tests.factories import make_portal_website
from tests.portal.dashboards import make_change, make_changes, make_message_change
from tests.racing import race

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAILY = Subscription.Frequency.DAILY


def send_at(websites, *, now):
    return send_due(websites, clock=lambda: now)


def create(membership, website, number=1, *, at=NOON):
    digest = Digest(findings=[make_change(number)], total=1)
    return PendingNotification.objects.create(
        membership=membership, website=website, digest=digest.to_json(), created_at=at
    )


@pytest.fixture(autouse=True)
def _open(monkeypatch):
    """The service still names the findings and messages of these tests."""
    messages = [make_message_change(1), make_message_change(2)]
    changes = make_changes(make_change(1), make_change(2), messages=messages)
    monkeypatch.setattr(service, "get_changes_since", lambda *_, **__: changes)


@pytest.fixture
def refusing(monkeypatch):
    """A mail server that refuses e-mails to some people."""

    def refuse(*people):
        def send(backend, messages):
            if set(messages[0].to) & {f"{person}@example.com" for person in people}:
                raise smtplib.SMTPRecipientsRefused({})
            return send_messages(backend, messages)

        send_messages = locmem.EmailBackend.send_messages
        monkeypatch.setattr(locmem.EmailBackend, "send_messages", send)

    return refuse


def test_an_email_goes_to_each_member_about_each_website(account, website, owner, viewer, subscribe):
    subscribe(viewer)
    outlet = make_portal_website(account, "outlet.example.com")
    for member in (owner, viewer):
        create(member, website), create(member, outlet)
    outcome = send_at([website, outlet], now=NOON)
    assert (outcome.sent, outcome.waiting, outcome.failures) == (4, 0, ())
    assert sorted((message.to[0], message.subject[:8]) for message in mail.outbox) == [
        ("owner@example.com", "outlet.e"),
        ("owner@example.com", "shop.exa"),
        ("viewer@example.com", "outlet.e"),
        ("viewer@example.com", "shop.exa"),
    ]


def test_an_email_goes_out_for_each_import(website, owner):
    for number in (1, 2):
        create(owner, website, number)
    assert send_at([website], now=NOON).sent == 2
    assert [message.body.count("/findings/") for message in mail.outbox] == [1, 1]


def test_an_email_is_sent_once(website, owner):
    create(owner, website)
    send_at([website], now=NOON)
    assert send_at([website], now=NOON + timedelta(days=1)).sent == 0
    assert len(mail.outbox) == 1


def test_notifications_of_an_unpolled_website_wait(account, website, owner):
    outlet = make_portal_website(account, "outlet.example.com")
    create(owner, website), create(owner, outlet)
    outcome = send_at([website], now=NOON)
    assert (outcome.sent, outcome.waiting) == (1, 1)


# Daily e-mails


def test_daily_notifications_are_one_email_the_next_morning(account, website, owner, subscribe):
    subscribe(owner, frequency=DAILY)
    outlet = make_portal_website(account, "outlet.example.com")
    create(owner, website), create(owner, outlet, at=NOON + timedelta(hours=6))
    for hours in (0, 6, 17):
        assert send_at([website, outlet], now=NOON + timedelta(hours=hours)).sent == 0
    assert send_at([website, outlet], now=NOON + timedelta(hours=18)).sent == 1
    assert [message.subject for message in mail.outbox] == ["News about 2 websites"]
    create(owner, website, at=NOON + timedelta(hours=18))
    assert send_at([website, outlet], now=NOON + timedelta(hours=30)).sent == 0
    assert send_at([website, outlet], now=NOON + timedelta(hours=42)).sent == 1


def test_weekly_notifications_are_one_email_on_monday_morning(website, owner, subscribe):
    subscribe(owner, frequency="weekly")
    monday = NOON.replace(hour=6) + timedelta(days=7 - NOON.weekday())
    create(owner, website)
    assert send_at([website], now=monday - timedelta(seconds=1)).sent == 0
    assert send_at([website], now=monday).sent == 1
    create(owner, website, at=monday)
    assert send_at([website], now=monday + timedelta(days=6)).sent == 0
    assert send_at([website], now=monday + timedelta(days=7)).sent == 1


# Messages


def create_message(membership, website, number=1, *, at=NOON):
    digest = Digest(since="1.", messages=[Message.of(make_message_change(number))])
    return PendingNotification.objects.create(
        membership=membership, website=website, digest=digest.to_json(), created_at=at
    )


@pytest.mark.parametrize("frequency", ["immediate", "daily", "weekly", None])
def test_messages_are_sent_at_once_and_apart_from_findings(website, viewer, subscribe, frequency):
    if frequency:
        subscribe(viewer, frequency=frequency)
    create_message(viewer, website)
    assert [send_at([website], now=NOON).sent for _ in range(2)] == [1, 0]
    assert mail.outbox[0].subject == "shop.example.com: Robin wrote about “Finding 7”"


def test_a_member_who_chose_never_meanwhile_gets_no_message(website, viewer, subscribe):
    create_message(viewer, website)
    subscribe(viewer, frequency="never")
    assert send_at([website], now=NOON).sent == 0


def test_a_message_that_was_deleted_meanwhile_is_not_sent(website, viewer):
    create_message(viewer, website, 3)
    assert send_at([website], now=NOON).sent == 0


def test_messages_beyond_those_that_the_service_returns_are_sent(website, viewer, monkeypatch):
    monkeypatch.setattr(delivery, "MAX_CHANGES", 2)
    create_message(viewer, website, 3)
    assert send_at([website], now=NOON).sent == 1


# Members without e-mails


@pytest.mark.parametrize("fields", [{"email": ""}, {"is_active": False}])
def test_a_member_without_address_or_access_gets_no_email(website, owner, fields):
    create(owner, website)
    type(owner.user).objects.update(**fields)
    outcome = send_at([website], now=NOON)
    assert (outcome.sent, outcome.waiting, mail.outbox) == (0, 0, [])


def test_a_member_who_unsubscribed_gets_no_email(website, owner, subscribe):
    create(owner, website)
    subscribe(owner, frequency="never")
    assert send_at([website], now=NOON).sent == 0


# Failures


def test_a_refused_email_is_retried_and_does_not_delay_others(website, owner, viewer, subscribe, refusing):
    subscribe(viewer)
    create(owner, website), create(viewer, website)
    refusing("owner")
    outcome = send_at([website], now=NOON)
    assert (outcome.sent, outcome.waiting) == (1, 1)
    assert (outcome.refused, outcome.failures) == (("owner: SMTPRecipientsRefused: {}",), ())
    assert [message.to for message in mail.outbox] == [["viewer@example.com"]]


def test_a_refused_email_is_sent_when_the_server_accepts_it(website, owner, monkeypatch):
    create(owner, website)
    with monkeypatch.context() as patch:
        patch.setattr(locmem.EmailBackend, "send_messages", _raising(smtplib.SMTPServerDisconnected("gone")))
        send_at([website], now=NOON)
    assert send_at([website], now=NOON + timedelta(minutes=5)).sent == 1
    assert len(mail.outbox) == 1


def test_changes_after_a_failed_email_are_a_second_email(website, owner, monkeypatch):
    create(owner, website)
    with monkeypatch.context() as patch:
        patch.setattr(locmem.EmailBackend, "send_messages", _raising(OSError("busy")))
        send_at([website], now=NOON)
    create(owner, website, 2)
    assert send_at([website], now=NOON).sent == 2
    assert {("Finding 1" in sent.body, "Finding 2" in sent.body) for sent in mail.outbox} == {
        (True, False),
        (False, True),
    }


def test_a_refused_email_is_sent_without_a_website_that_was_lost_meanwhile(
    account, website, owner, subscribe, monkeypatch
):
    subscribe(owner, frequency=DAILY)
    outlet = make_portal_website(account, "outlet.example.com")
    create(owner, website), create(owner, outlet, 2)
    morning = NOON + timedelta(hours=18)
    with monkeypatch.context() as patch:
        patch.setattr(locmem.EmailBackend, "send_messages", _raising(OSError("busy")))
        send_at([website, outlet], now=morning)
    assert send_at([website], now=morning).sent == 1
    assert "Finding 1" in mail.outbox[0].body
    assert "outlet.example.com" not in mail.outbox[0].body
    send_at([website, outlet], now=morning)
    assert len({sent.extra_headers["Message-ID"] for sent in mail.outbox}) == 2


def test_a_mail_server_that_cannot_be_reached_is_tried_once(website, owner, viewer, subscribe, monkeypatch):
    subscribe(viewer)
    create(owner, website), create(viewer, website)
    monkeypatch.setattr(locmem.EmailBackend, "open", _raising(ConnectionRefusedError("no")), raising=False)
    outcome = send_at([website], now=NOON)
    assert (outcome.sent, outcome.waiting) == (0, 2)
    assert outcome.failures == ("The mail server cannot be reached: no",)


def test_a_lost_mail_server_leaves_the_others_for_the_next_run(
    website, owner, viewer, subscribe, monkeypatch
):
    subscribe(viewer)
    create(owner, website), create(viewer, website)
    with monkeypatch.context() as patch:
        opened = iter([True])
        patch.setattr(
            locmem.EmailBackend, "open", lambda _: next(opened, None) or _raising(OSError("away"))()
        )
        patch.setattr(locmem.EmailBackend, "send_messages", _raising(smtplib.SMTPServerDisconnected("gone")))
        outcome = send_at([website], now=NOON)
    assert [failure.split(":")[0] for failure in outcome.failures] == [
        "owner",
        "The mail server cannot be reached",
    ]
    assert send_at([website], now=NOON).sent == 2


def test_an_invalid_address_does_not_delay_others(website, owner, viewer, subscribe):
    subscribe(viewer)
    type(owner.user).objects.filter(pk=owner.user.pk).update(email="o@example.com\nBcc: all@example.com")
    create(owner, website), create(viewer, website)
    outcome = send_at([website], now=NOON)
    assert (outcome.sent, len(outcome.failures)) == (1, 1)


def test_an_email_that_cannot_be_written_does_not_delay_others(
    website, owner, viewer, subscribe, monkeypatch
):
    def fail_for_the_owner(email_id, notifications):
        if notifications[0].membership == owner:
            raise KeyError("unforeseen")
        return compose(email_id, notifications)

    compose = delivery.compose
    monkeypatch.setattr(delivery, "compose", fail_for_the_owner)
    subscribe(viewer)
    create(owner, website), create(viewer, website)
    outcome = send_at([website], now=NOON)
    assert (outcome.sent, len(outcome.failures)) == (1, 1)


def test_notifications_expire_after_days_without_a_mail_server(website, owner):
    create(owner, website, at=NOON - MAX_AGE - timedelta(seconds=1))
    outcome = send_at([website], now=NOON)
    assert (outcome.expired, outcome.sent, outcome.waiting) == (1, 0, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_crash_loses_no_email_and_a_second_attempt_has_the_same_message_id(
    website, owner, monkeypatch, is_accepted
):
    """Whether the server accepted the e-mail is unknown: later it is sent again, with its Message-ID."""
    create(owner, website)
    sent = locmem.EmailBackend.send_messages

    def crash(backend, messages):
        if is_accepted:
            sent(backend, messages)
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(locmem.EmailBackend, "send_messages", crash)
        with pytest.raises(OperationalError):
            send_at([website], now=NOON)
    assert send_at([website], now=NOON + CLAIM_LIFETIME).sent == 0
    assert send_at([website], now=NOON + CLAIM_LIFETIME + timedelta(seconds=1)).sent == 1
    assert len(mail.outbox) == 1 + is_accepted
    assert len({message.extra_headers["Message-ID"] for message in mail.outbox}) == 1
    assert send_at([website], now=NOON + 3 * CLAIM_LIFETIME).sent == 0


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_runs_send_an_email_once(website, owner):
    create(owner, website)
    outcomes = race(lambda _: send_at([website], now=NOON).sent, times=4)
    assert (sum(outcomes), len(mail.outbox)) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_claim_starts_with_each_email(account, website, owner, monkeypatch):
    """A second run does not send an e-mail that the first run is sending."""
    outlet = make_portal_website(account, "outlet.example.com")
    create(owner, website), create(owner, outlet)
    others = []
    send_messages = locmem.EmailBackend.send_messages

    def send(backend, messages):
        if mail.outbox and not others:
            others.append(send_at([website, outlet], now=NOON + 2 * CLAIM_LIFETIME).sent)
        return send_messages(backend, messages)

    monkeypatch.setattr(locmem.EmailBackend, "send_messages", send)
    times = iter([NOON, NOON, NOON + 2 * CLAIM_LIFETIME])
    assert send_due([website, outlet], clock=lambda: next(times)).sent == 2
    assert (others, len(mail.outbox)) == ([0], 2)


def test_an_email_takes_few_statements(account, website, owner, django_assert_max_num_queries):
    """Each e-mail takes a few statements: to claim it, read it, check the account, and delete it."""
    for number in range(10):
        create(owner, make_portal_website(account, f"site{number}.example.com"))
    with django_assert_max_num_queries(10 * 8 + 4):
        send_at(list(account.websites.all()), now=NOON)


def _raising(error):
    def fail(*_, **__):
        raise error

    return fail
