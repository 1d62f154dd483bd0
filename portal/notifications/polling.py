"""Polling of the service for the changes by each import, on every website with subscribers.

The new cursor and its notifications are stored in one commit, so each notification is stored exactly once.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from portal.answers import service
from portal.models import FeedCursor, Membership, PendingNotification, Subscription, Website
from portal.notifications.digest import Digest
from portal.texts import labels
from signed_api.errors import InvalidRequest
from signed_api.findings import ChangesResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """A website and its subscriptions."""

    website: Website
    subscriptions: Sequence[Subscription]


def audiences() -> list[Audience]:
    """Return every website with active subscriptions."""
    memberships = Membership.objects.select_related("user", "account", "subscription")
    by_account: dict[int, list[Subscription]] = defaultdict(list)
    for membership in memberships:
        subscription = Subscription.of(membership)
        if subscription.is_active:
            by_account[membership.account_id].append(subscription)
    websites = Website.objects.filter(account__in=by_account).select_related("account")
    return [Audience(website=website, subscriptions=by_account[website.account_id]) for website in websites]


def delete_unsubscribed(current: Sequence[Audience]) -> None:
    """Empty cursors and delete notifications without a subscriber.

    A later subscription starts with a new cursor; the empty one shows that there was one before.
    """
    unsubscribed = FeedCursor.objects.exclude(website__in=[audience.website for audience in current])
    unsubscribed.exclude(cursor="").update(cursor="", version="")
    members = {each.membership for audience in current for each in audience.subscriptions}
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
    lowest = max(severities, key=labels.severity_rank)
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
    """Return the digest of each subscriber, without empty ones; the first cursor has no digests."""
    if not cursor:
        return []
    digests = (
        (subscription, Digest.for_subscription(changes, subscription, since=cursor))
        for subscription in audience.subscriptions
    )
    return [(subscription, digest) for subscription, digest in digests if digest]


@transaction.atomic
def store(audience: Audience, cursor: str, changes: ChangesResponse, *, now: datetime) -> None:
    """Store the new cursor and the notifications, unless another run did, or the website was removed."""
    website = audience.website
    if not Website.objects.select_for_update().filter(pk=website.pk).exists():  # first, like a deletion
        return
    if not cursor:
        FeedCursor.objects.get_or_create(website=website)
    if not FeedCursor.objects.filter(website=website, cursor=cursor).update(cursor=changes.cursor):
        return  # another run has moved the cursor
    for subscription, digest in digests_for(audience, cursor, changes):
        _store_notification(subscription, website, digest, now=now)


def _store_notification(
    subscription: Subscription, website: Website, digest: Digest, *, now: datetime
) -> None:
    """Store a notification, or merge it into the waiting digest; skip a membership that has ended."""
    membership = subscription.membership
    if not Membership.objects.select_for_update().filter(pk=membership.pk).exists():
        return
    unsent = PendingNotification.objects.select_for_update().filter(
        membership=membership, website=website, email_id=None
    )
    is_digest = subscription.frequency != Subscription.Frequency.IMMEDIATE
    if is_digest and (notification := unsent.first()):
        merged = Digest.from_json(notification.digest).merged_with(digest)
        notification.digest = merged.to_json()
        notification.save(update_fields=["digest"])
    else:
        PendingNotification.objects.create(
            membership=membership, website=website, digest=digest.to_json(), created_at=now
        )
