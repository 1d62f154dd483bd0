"""Polling of the service for the changes by each import, on every website with subscribers.

The new cursor and its notifications are stored in one commit, so each notification is stored exactly once.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from portal.answers import service
from portal.models import FeedCursor, Membership, PendingNotification, Subscription, Website
from portal.models.notifications import DEFAULT_MIN_SEVERITY
from portal.notifications import conversations
from portal.notifications.digest import Digest
from portal.texts import labels
from signed_api.errors import InvalidRequest
from signed_api.findings import ChangesResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """A website, its subscriptions, and the members who get e-mails about their own messages and answers."""

    website: Website
    subscriptions: Sequence[Subscription]
    members: Sequence[Membership] = ()


def audiences() -> list[Audience]:
    """Return every website with a member who may get e-mails."""
    memberships = Membership.objects.select_related("user", "account", "subscription")
    by_account: dict[int, list[Subscription]] = defaultdict(list)
    for membership in memberships:
        subscription = Subscription.of(membership)
        if subscription.gets_messages:
            by_account[membership.account_id].append(subscription)
    websites = Website.objects.filter(account__in=by_account).select_related("account")
    return [
        Audience(
            website=website,
            subscriptions=[each for each in by_account[website.account_id] if each.is_active],
            members=[each.membership for each in by_account[website.account_id]],
        )
        for website in websites
    ]


def delete_unsubscribed(current: Sequence[Audience]) -> None:
    """Empty cursors and delete notifications without a subscriber.

    A later subscription starts with a new cursor; the empty one shows that there was one before.
    """
    unsubscribed = FeedCursor.objects.exclude(website__in=[audience.website for audience in current])
    unsubscribed.exclude(cursor="").update(cursor="", version="")
    members = {member for audience in current for member in audience.members}
    PendingNotification.objects.exclude(membership__in=members).delete()


def poll(audience: Audience) -> Iterator[tuple[str, ChangesResponse]]:
    """Yield the changes by each import since the last poll, with the cursor before it.

    The first cursor of a website is empty. For a new link, polling begins before its first check, and the
    findings up to the first poll are one change. A website that had subscribers before skips the changes
    until now. Raises CallError.
    """
    feed = FeedCursor.objects.filter(website=audience.website).first()
    cursor = feed.cursor if feed else ""
    severities = (subscription.min_severity for subscription in audience.subscriptions)
    lowest = max(severities, key=labels.severity_rank, default=DEFAULT_MIN_SEVERITY)
    get_changes = service.get_changes_of_next_import if cursor else service.get_changes_since
    has_more = True
    while has_more:
        try:
            changes = get_changes(audience.website, cursor=cursor, min_severity=lowest)
            if feed and not cursor and changes.more:  # skip these: they were sent before, or not wanted
                changes = get_changes(audience.website, cursor=changes.cursor, min_severity=lowest)
        except InvalidRequest:  # perhaps another service: the next run starts with a new cursor
            rejected = FeedCursor.objects.filter(website=audience.website, cursor=cursor)
            rejected.update(cursor="", version="")
            raise
        yield cursor, changes
        has_more = changes.more and changes.cursor != cursor
        cursor = changes.cursor


def is_read(audience: Audience, version: str) -> bool:
    """Return whether the changes up to this version of the website's data are stored and sent.

    While notifications wait, poll anyway: the website may be paused, which its version does not show.
    """
    if PendingNotification.objects.filter(website=audience.website).exists():
        return False
    return bool(version) and FeedCursor.objects.filter(website=audience.website, version=version).exists()


def note_read(audience: Audience, version: str) -> None:
    """Note that the changes up to this version are stored."""
    FeedCursor.objects.filter(website=audience.website).update(version=version)


def digests_for(
    audience: Audience, cursor: str, changes: ChangesResponse
) -> list[tuple[Subscription, Digest]]:
    """Return the digests of each subscriber, without empty ones; the first cursor has no digests.

    Messages have a digest of their own. Raises CallError.
    """
    if not cursor:
        return []
    found = (
        (subscription, Digest.for_subscription(changes, subscription, since=cursor))
        for subscription in audience.subscriptions
    )
    messages = conversations.digests(audience.website, audience.members, cursor, changes.messages)
    return [*((subscription, digest) for subscription, digest in found if digest), *messages]


@transaction.atomic
def store(
    audience: Audience,
    cursor: str,
    changes: ChangesResponse,
    digests: Iterable[tuple[Subscription, Digest]],
    *,
    now: datetime,
) -> None:
    """Store the new cursor, and notifications with ``digests``.

    It does nothing if another run did, or the website was removed.
    """
    website = audience.website
    if not Website.objects.select_for_update().filter(pk=website.pk).exists():  # first, like a deletion
        return
    if not cursor:
        FeedCursor.objects.get_or_create(website=website)
    if not FeedCursor.objects.filter(website=website, cursor=cursor).update(cursor=changes.cursor):
        return  # another run has moved the cursor
    for subscription, digest in digests:
        _store_notification(subscription, website, digest, now=now)


def _store_notification(
    subscription: Subscription, website: Website, digest: Digest, *, now: datetime
) -> None:
    """Store a notification, or merge it into the waiting digest; skip a membership that has ended."""
    membership = subscription.membership
    if not Membership.objects.select_for_update().filter(pk=membership.pk).exists():
        return
    is_digest = digest.messages or subscription.frequency != Subscription.Frequency.IMMEDIATE
    if is_digest:
        unsent = PendingNotification.objects.select_for_update().filter(
            membership=membership, website=website, email_id=None
        )
        for notification in unsent:
            earlier = Digest.from_json(notification.digest)
            kinds = [(bool(each.messages), bool(each.since)) for each in (earlier, digest)]
            if kinds[0] == kinds[1]:
                notification.digest = earlier.merged_with(digest).to_json()
                notification.save(update_fields=["digest"])
                return
    PendingNotification.objects.create(
        membership=membership, website=website, digest=digest.to_json(), created_at=now
    )
