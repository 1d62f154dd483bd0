"""Sends what is due, each e-mail at least once: one whose end nobody saw is sent again under its own name.

A mail server and a database cannot commit together. The e-mail's Message-ID stays the same, so that most
mail systems show it once (decision record 0032).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from portal.models import Website
from portal.models.notifications import Subscription, Tiding
from portal.notifications.emails import compose

MORNING = 6  # the hour, in UTC, of daily e-mails
LEASE = timedelta(minutes=15)  # longer than it takes to send one
PATIENCE = timedelta(days=3)  # with a mail server that does not take one


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How many e-mails were sent, how many tidings wait or were given up, and what went wrong."""

    sent: int
    waiting: int
    given_up: int
    failures: tuple[str, ...]


def send_due(websites: Collection[Website], *, clock: Callable[[], datetime] = timezone.now) -> Outcome:
    """Send what is due about ``websites``, of which the service has just answered."""
    now = clock()
    given_up, _ = Tiding.objects.filter(heard_at__lt=now - PATIENCE).delete()
    sent, failures = _send(_due(websites, now=now), clock=clock)
    return Outcome(sent=sent, waiting=Tiding.objects.count(), given_up=given_up, failures=tuple(failures))


def _due(websites: Collection[Website], *, now: datetime) -> Iterable[list[Tiding]]:
    """What belongs into one e-mail: an import's news, a day's, or what was tried before as it was."""
    mails: dict[Hashable, list[Tiding]] = defaultdict(list)
    for tiding in _free(now).filter(website__in=websites):
        is_daily = Subscription.of(tiding.membership).rhythm == Subscription.Rhythm.DAILY
        if tiding.mail:
            mails[tiding.mail].append(tiding)
        elif not is_daily:
            mails[tiding].append(tiding)
        elif tiding.heard_at < _last_morning(now):
            mails[tiding.membership_id].append(tiding)
    return mails.values()


def _free(now: datetime) -> QuerySet[Tiding]:
    """Those that nobody is sending just now."""
    free = Tiding.objects.filter(Q(claimed_at=None) | Q(claimed_at__lt=now - LEASE))
    return free.select_related(
        "membership__user", "membership__account", "membership__subscription", "website__account"
    )


def _last_morning(now: datetime) -> datetime:
    today = now.replace(hour=MORNING, minute=0, second=0, microsecond=0)
    return today if today <= now else today - timedelta(days=1)


def _send(mails: Iterable[list[Tiding]], *, clock: Callable[[], datetime]) -> tuple[int, list[str]]:
    """How many were taken; and what became of the others, which are tried again next time."""
    sent, failures = 0, []
    connection = get_connection()
    for tidings in mails:
        try:
            connection.open()  # unless it is
        except OSError as error:
            failures.append(f"The mail server cannot be reached: {error}")
            break
        mail = _claim(tidings, now=clock())
        if mail is None:
            continue
        try:
            sent += _send_one(mail, connection)
        except (OSError, ValueError) as error:
            Tiding.objects.filter(mail=mail).update(claimed_at=None)
            connection.close()
            failures.append(f"{tidings[0].membership.user}: {type(error).__name__}: {error}")
    connection.close()
    return sent, failures


@transaction.atomic
def _claim(tidings: list[Tiding], *, now: datetime) -> UUID | None:
    """The name of the e-mail that is ours to send now; None when somebody else was quicker."""
    mail = tidings[0].mail or uuid4()
    wanted = {tiding.pk for tiding in tidings}
    free = _free(now).select_for_update(of=("self",)).filter(pk__in=wanted)
    if {tiding.pk for tiding in free} != wanted:
        return None
    Tiding.objects.filter(pk__in=wanted).update(mail=mail, claimed_at=now)
    return mail


def _send_one(mail: UUID, connection: BaseEmailBackend) -> int:
    """1 when it was sent, 0 when nobody is there to hear it any more; raises OSError and ValueError."""
    tidings = list(_of(mail))
    heard = bool(tidings) and Subscription.of(tidings[0].membership).hears
    if heard:
        connection.send_messages([compose(mail, tidings)])
    Tiding.objects.filter(mail=mail).delete()
    return int(heard)


def _of(mail: UUID) -> QuerySet[Tiding]:
    """As they stand now, since they were claimed."""
    return Tiding.objects.filter(mail=mail).select_related(
        "membership__user", "membership__account", "membership__subscription", "website__account"
    )
