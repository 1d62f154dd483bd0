"""Subscriptions by website, and changes that are stored completely or not at all, once."""

import pytest
from django.db import DatabaseError
from django.utils import timezone

from foundation.texts.people import reference_of
from portal.answers import service
from portal.models import FeedCursor, PendingNotification, Subscription, Website
from portal.notifications import polling
from portal.notifications.digest import Digest
from portal.notifications.polling import Audience, audiences, delete_unsubscribed, digests_for
from portal.onboarding.actions import remove_unlinked
from signed_api.answers import Message
from signed_api.errors import CannotConnect
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import (
    make_change,
    make_changes,
    make_claim,
    make_finding_response,
    make_message_change,
)
from tests.racing import race
from tests.structs import build

pytestmark = pytest.mark.django_db
BEGIN = "1.0.0."


def subscribers():
    return {
        (audience.website.host, subscription.membership.user.username)
        for audience in audiences()
        for subscription in audience.subscriptions
    }


def store(audience, cursor, changes, *, now):
    polling.store(audience, cursor, changes, digests_for(audience, cursor, changes), now=now)


def store_one(audience, cursor_before=BEGIN, *, number=1, **fields):
    store(audience, cursor_before, make_changes(make_change(number), **fields), now=timezone.now())


# Subscribers


def test_owners_are_subscribed_by_default_and_others_by_choice(website, owner, viewer, subscribe):
    assert subscribers() == {("shop.example.com", "owner")}
    subscribe(viewer)
    subscribe(owner, frequency="never")
    assert subscribers() == {("shop.example.com", "viewer")}


def test_no_member_subscribes_to_other_accounts(website, owner):
    other = make_portal_account("acct_0002")
    make_portal_website(other, "other.example.com")
    make_membership(make_user("stranger"), other)
    assert subscribers() == {("shop.example.com", "owner"), ("other.example.com", "stranger")}


@pytest.mark.parametrize("fields", [{"email": ""}, {"is_active": False}])
def test_a_member_without_address_or_access_is_not_subscribed(website, owner, fields):
    type(owner.user).objects.filter(pk=owner.user.pk).update(**fields)
    assert subscribers() == set()


def test_a_former_member_has_no_notifications(audience, owner):
    store_one(audience, cursor_before="")
    store_one(audience, cursor_before="2.0.0.", cursor="3.0.0.")
    assert PendingNotification.objects.count() == 1
    owner.delete()
    assert (subscribers(), PendingNotification.objects.count()) == (set(), 0)


def test_the_members_take_no_more_statements_when_there_are_many(account, website, django_assert_num_queries):
    for number in range(20):
        make_membership(make_user(f"person{number}"), account)
    with django_assert_num_queries(2):
        audiences()


# Stored changes


def test_later_changes_are_stored_for_each_subscriber(website, owner, viewer, subscribe):
    subscriptions = [Subscription.of(owner), subscribe(viewer, min_severity="Critical")]
    audience = Audience(website=website, subscriptions=subscriptions)
    store(audience, "", make_changes(cursor=BEGIN), now=timezone.now())
    changes = make_changes(make_change(5, "Critical"), make_change(6, "High"), cursor="6.0.0.")
    store(audience, BEGIN, changes, now=timezone.now())
    digests = {
        notification.membership: Digest.from_json(notification.digest)
        for notification in PendingNotification.objects.all()
    }
    assert {member: len(digest.findings) for member, digest in digests.items()} == {owner: 2, viewer: 1}
    assert FeedCursor.objects.get(website=website).cursor == "6.0.0."


def test_changes_without_a_wanted_finding_only_move_the_cursor(audience, website):
    store_one(audience, cursor_before="", cursor=BEGIN)
    store(audience, BEGIN, make_changes(make_change(2, "Low"), cursor="2.0.0."), now=timezone.now())
    assert (PendingNotification.objects.count(), FeedCursor.objects.get().cursor) == (0, "2.0.0.")


def test_the_same_changes_are_stored_once(audience):
    store_one(audience, cursor_before="", cursor=BEGIN)
    for _ in range(2):
        store_one(audience, by_severity={"High": 5})
    (notification,) = PendingNotification.objects.all()
    assert Digest.from_json(notification.digest).total == 5


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_runs_store_changes_once(audience):
    store_one(audience, cursor_before="", cursor=BEGIN)
    race(lambda _: store_one(audience, by_severity={"High": 5}), times=4)
    (notification,) = PendingNotification.objects.all()
    assert Digest.from_json(notification.digest).total == 5


def stored_findings():
    return [
        [change.id for change in Digest.from_json(notification.digest).findings]
        for notification in PendingNotification.objects.all()
    ]


def test_each_import_has_its_own_notification(audience):
    store_one(audience, cursor_before="", cursor=BEGIN)
    store_one(audience, cursor="2.0.0.", number=1)
    store_one(audience, cursor_before="2.0.0.", cursor="3.0.0.", number=2)
    assert stored_findings() == [["1"], ["2"]]


def test_daily_changes_are_one_notification(website, owner, subscribe):
    audience = Audience(website=website, subscriptions=[subscribe(owner, frequency="daily")])
    store_one(audience, cursor_before="", cursor=BEGIN)
    store_one(audience, cursor="2.0.0.", number=1)
    store_one(audience, cursor_before="2.0.0.", cursor="3.0.0.", number=2)
    assert stored_findings() == [["2", "1"]]


@pytest.mark.django_db(transaction=True)
def test_a_crash_keeps_the_old_cursor_and_stores_no_notification(audience, monkeypatch):
    store_one(audience, cursor_before="", cursor=BEGIN)

    def crash(*_, **__):
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(polling, "_store_notification", crash)
        with pytest.raises(DatabaseError):
            store_one(audience)
    assert (FeedCursor.objects.get().cursor, PendingNotification.objects.count()) == (BEGIN, 0)
    store_one(audience)
    assert PendingNotification.objects.count() == 1


def test_a_membership_that_ends_during_the_poll_gets_no_notification(audience, owner):
    store_one(audience, cursor_before="", cursor=BEGIN)
    type(owner).objects.all().delete()
    store_one(audience)
    assert PendingNotification.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_website_that_is_given_up_during_its_first_poll_gets_no_cursor(audience, website):
    type(website).objects.all().delete()
    store_one(audience, cursor_before="")
    assert FeedCursor.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_giving_a_website_up_goes_with_changes_that_are_stored_at_the_same_moment(audience, website):
    claim = make_claim(state="withdrawn")
    store_one(audience, cursor_before="", cursor="0")

    def act(number):
        if number == 4:
            return remove_unlinked(website.account, claim, reason="Sold")
        for each in range(20):
            store_one(audience, cursor_before=str(each), cursor=str(each + 1))
        return None

    assert [result for result in race(act) if result is not None] == [True]
    assert not Website.objects.exists()


def test_a_feed_without_subscribers_loses_its_position_and_its_notifications(audience, owner, subscribe):
    store_one(audience, cursor_before="", cursor=BEGIN)
    store_one(audience)
    delete_unsubscribed(audiences())
    assert (FeedCursor.objects.get().cursor, PendingNotification.objects.count()) == ("2.0.0.", 1)
    subscribe(owner, frequency="never")
    delete_unsubscribed(audiences())
    assert (FeedCursor.objects.get().cursor, PendingNotification.objects.count()) == ("", 0)


# Messages


@pytest.fixture
def conversation(website, owner, viewer, monkeypatch):
    """A viewer who wrote a message and has chosen no e-mails, and the website's audience."""
    wrote = build(Message, id="1", side="member", event="message", by=reference_of(viewer.user_id))
    response = make_finding_response(messages=[wrote])
    monkeypatch.setattr(service, "get_finding", lambda *_: response)
    return audiences()[0]


def stored_messages():
    return {
        notification.membership.user.username: [
            message.id for message in Digest.from_json(notification.digest).messages
        ]
        for notification in PendingNotification.objects.all()
    }


def test_an_answer_to_a_message_is_stored_for_its_author(conversation):
    store_one(conversation, cursor_before="", cursor=BEGIN)
    changes = make_changes(messages=[make_message_change(5)])
    store(conversation, BEGIN, changes, now=timezone.now())
    assert stored_messages() == {"viewer": ["5"]}


def test_messages_are_apart_from_the_findings_of_a_digest(website, conversation, owner, subscribe):
    subscribe(owner, frequency="weekly", min_severity="Info")
    (audience,) = audiences()
    store_one(audience, cursor_before="", cursor=BEGIN)
    ends = make_message_change(5, event="ends_soon", side="service")
    for cursor, later in ((BEGIN, "2.0.0."), ("2.0.0.", "3.0.0.")):
        changes = make_changes(make_change(1), messages=[ends], cursor=later)
        store(audience, cursor, changes, now=timezone.now())
    kinds = [
        (each.membership.user.username, len(digest.findings), len(digest.messages))
        for each in PendingNotification.objects.all()
        for digest in [Digest.from_json(each.digest)]
    ]
    assert sorted(kinds) == [("owner", 0, 2), ("owner", 1, 0), ("viewer", 0, 2)]


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_runs_store_messages_once(conversation):
    store_one(conversation, cursor_before="", cursor=BEGIN)
    changes = make_changes(messages=[make_message_change(5)])
    race(lambda _: store(conversation, BEGIN, changes, now=timezone.now()), times=4)
    assert stored_messages() == {"viewer": ["5"]}


def test_a_conversation_that_cannot_be_read_leaves_its_messages_for_the_next_run(conversation, monkeypatch):
    def fail(*_):
        raise CannotConnect

    store_one(conversation, cursor_before="", cursor=BEGIN)
    changes = make_changes(messages=[make_message_change(5)])
    with monkeypatch.context() as patch:
        patch.setattr(service, "get_finding", fail)
        with pytest.raises(CannotConnect):
            store(conversation, BEGIN, changes, now=timezone.now())
    assert FeedCursor.objects.get().cursor == BEGIN
    store(conversation, BEGIN, changes, now=timezone.now())
    assert stored_messages() == {"viewer": ["5"]}
