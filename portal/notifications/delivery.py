"""Delivery of due e-mails: each at least once, always with the same Message-ID.

A mail server and a database cannot commit together. After an interruption, an e-mail is sent again with the
same Message-ID, so most mail programs show it once.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPRecipientsRefused
from uuid import UUID, uuid4

from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from msgspec.structs import replace

from foundation.operations.storage import is_storage_fault
from portal.answers import service
from portal.models import PendingNotification, Subscription, Website
from portal.notifications.digest import Digest
from portal.notifications.emails import compose
from signed_api.errors import CallError
from signed_api.limits import MAX_CHANGES

logger = logging.getLogger(__name__)
DIGEST_HOUR = 6  # in UTC; weekly digests on Monday
CLAIM_LIFETIME = timedelta(minutes=15)  # longer than it takes to send one e-mail
MAX_AGE = timedelta(days=10)  # of notifications: a week until a digest, and three days of failures


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Counts of e-mails sent and of waiting and expired notifications, with refusals and failures."""

    sent: int
    waiting: int
    expired: int
    refused: tuple[str, ...]
    failures: tuple[str, ...]


def send_due(websites: Collection[Website], *, clock: Callable[[], datetime] = timezone.now) -> Outcome:
    """Send the due e-mails about ``websites``; their changes must have been polled."""
    now = clock()
    expired, _ = PendingNotification.objects.filter(created_at__lt=now - MAX_AGE).delete()
    sent, refused, failures = _send(_due(websites, now=now), clock=clock)
    return Outcome(
        sent=sent,
        waiting=PendingNotification.objects.count(),
        expired=expired,
        refused=tuple(refused),
        failures=tuple(failures),
    )


def send_now(notifications: Iterable[PendingNotification]) -> None:
    """Send an e-mail for each new notification; the next ``send_due`` tries again what fails."""
    _send([[notification] for notification in notifications], clock=timezone.now)


def _due(websites: Collection[Website], *, now: datetime) -> Iterable[list[PendingNotification]]:
    """Group the due notifications by e-mail: an import, a digest, or an earlier attempt."""
    # Keys: the id of an earlier attempt, the notification itself, or the member of a digest or of reminders
    by_email: dict[Hashable, list[PendingNotification]] = defaultdict(list)
    for notification in _unclaimed(now).filter(website__in=websites):
        frequency = Subscription.of(notification.membership).frequency
        if notification.email_id:
            by_email[notification.email_id].append(notification)
        elif Digest.from_json(notification.digest).reminder:
            by_email["reminders", notification.membership_id].append(notification)
        elif frequency == Subscription.Frequency.IMMEDIATE or _is_personal(notification):
            by_email[notification].append(notification)
        elif notification.created_at < _last_digest_time(frequency, now):
            by_email[notification.membership_id].append(notification)
    return by_email.values()


def _unclaimed(now: datetime) -> QuerySet[PendingNotification]:
    """Return the notifications that no other process is sending."""
    unclaimed = Q(claimed_at=None) | Q(claimed_at__lt=now - CLAIM_LIFETIME)
    return _with_relations(PendingNotification.objects.filter(unclaimed))


def _with_relations(notifications: QuerySet[PendingNotification]) -> QuerySet[PendingNotification]:
    return notifications.select_related(
        "membership__user", "membership__account", "membership__subscription", "website__account"
    )


def _last_digest_time(frequency: str, now: datetime) -> datetime:
    """Return when digests of this frequency were last due."""
    time = now.replace(hour=DIGEST_HOUR, minute=0, second=0, microsecond=0)
    if frequency != Subscription.Frequency.WEEKLY:
        return time if time <= now else time - timedelta(days=1)
    time -= timedelta(days=now.weekday())
    return time if time <= now else time - timedelta(days=7)


def _send(
    emails: Iterable[list[PendingNotification]], *, clock: Callable[[], datetime]
) -> tuple[int, list[str], list[str]]:
    """Return the number sent, the refusals and the failures; the next run tries both again."""
    sent = 0
    refused: list[str] = []
    failures: list[str] = []
    connection = get_connection()
    for notifications in emails:
        try:
            connection.open()  # does nothing if it is open
        except OSError as error:
            failures.append(f"The mail server cannot be reached: {error}")
            break
        email_id = _claim(notifications, now=clock())
        if email_id is None:
            continue
        try:
            sent += _send_one(email_id, connection)
        except Exception as error:
            if is_storage_fault(error):
                raise
            if not isinstance(error, (CallError, OSError, ValueError)):  # others are bugs
                logger.exception("an e-mail about changes failed")
            PendingNotification.objects.filter(email_id=email_id).update(claimed_at=None)
            connection.close()
            problems = refused if isinstance(error, SMTPRecipientsRefused) else failures
            problems.append(f"{notifications[0].membership.user}: {type(error).__name__}: {error}")
    connection.close()
    return sent, refused, failures


@transaction.atomic
def _claim(notifications: list[PendingNotification], *, now: datetime) -> UUID | None:
    """Claim the notifications for one e-mail and return its id; None if another process was faster.

    A website that could not be polled in this run is left out: its notification gets an e-mail of its own.
    """
    email_id = notifications[0].email_id or uuid4()
    wanted = {notification.pk for notification in notifications}
    unclaimed = _unclaimed(now).select_for_update(of=("self",)).filter(pk__in=wanted)
    if {notification.pk for notification in unclaimed} != wanted:
        return None
    if notifications[0].email_id:
        PendingNotification.objects.filter(email_id=email_id).exclude(pk__in=wanted).update(email_id=None)
    PendingNotification.objects.filter(pk__in=wanted).update(email_id=email_id, claimed_at=now)
    return email_id


def _send_one(email_id: UUID, connection: BaseEmailBackend) -> int:
    """Return 1 if the e-mail was sent, 0 if it is empty by now or the member no longer wants it.

    Raises CallError and the errors of sending.
    """
    claimed = PendingNotification.objects.filter(email_id=email_id)
    wanted = [each for each in _with_relations(claimed) if _is_wanted(each)]
    notifications = [each for each in wanted if _has_current_content(each)]
    if notifications:
        connection.send_messages([compose(email_id, notifications)])
    claimed.delete()
    return int(bool(notifications))


def _is_personal(notification: PendingNotification) -> bool:
    return bool(Digest.from_json(notification.digest).messages)


def _is_wanted(notification: PendingNotification) -> bool:
    subscription = Subscription.of(notification.membership)
    if Digest.from_json(notification.digest).reminder:
        return subscription.gets_reminders
    return subscription.gets_messages if _is_personal(notification) else subscription.is_active


def _has_current_content(notification: PendingNotification) -> bool:
    """Drop closed findings, internal notes, deleted messages and what was renewed; return whether any remain.

    The service returns only the worst findings, the newest notes and the oldest messages. If its list is
    full, keep those beyond its end.
    """
    digest = Digest.from_json(notification.digest)
    if digest.reminder:
        return digest.reminder.is_current_in(service.get_inventory(notification.website))
    if digest.messages and not digest.since:  # what a member did is no change
        return True
    min_severity = Subscription.of(notification.membership).min_severity
    changes = service.get_changes_since(notification.website, cursor=digest.since, min_severity=min_severity)
    newest = changes.analyst_notes
    newest_ids = {note.id for note in newest}
    # Set if there may be notes older than this one, which the service has left out
    end_of_list = newest[-1].published_at if len(newest) >= MAX_CHANGES else None
    kept = [
        note
        for note in digest.notes
        if note.id in newest_ids
        or (end_of_list is not None and (note.published_at is None or note.published_at <= end_of_list))
    ]
    last = int(changes.messages[-1].id) if len(changes.messages) >= MAX_CHANGES else None
    known = {message.id for message in changes.messages}
    messages = [
        message
        for message in digest.messages
        if message.id in known or (last is not None and int(message.id) > last)
    ]
    digest = replace(digest.reduced_to(changes), notes=kept, messages=messages)
    notification.digest = digest.to_json()
    return bool(digest)
