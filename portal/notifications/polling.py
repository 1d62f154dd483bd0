"""Asks the service what each import changed, on every website that somebody wants to hear of, and keeps it.

The new cursor and what follows from it for each member are one commit: nothing is lost, nothing kept twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from portal import labels, service
from portal.gateway import Changes, Rejected
from portal.models import Website
from portal.models.members import Membership
from portal.models.notifications import Listening, Subscription, Tiding
from portal.notifications.digest import News


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """A website, and who wants to hear of it."""

    website: Website
    subscriptions: Sequence[Subscription]


def audiences() -> list[Audience]:
    """Every website that somebody wants to hear of."""
    members = Membership.objects.select_related("user", "account", "subscription")
    listeners: dict[int, list[Subscription]] = defaultdict(list)
    for membership in members:
        subscription = Subscription.of(membership)
        if subscription.hears:
            listeners[membership.account_id].append(subscription)
    websites = Website.objects.filter(account__in=listeners).select_related("account")
    return [Audience(website=website, subscriptions=listeners[website.account_id]) for website in websites]


def forget_unwanted(wanted: Iterable[Audience]) -> None:
    """What nobody wants to hear of any more begins anew when somebody does."""
    wanted = list(wanted)
    Listening.objects.exclude(website__in=[audience.website for audience in wanted]).delete()
    members = {each.membership for audience in wanted for each in audience.subscriptions}
    Tiding.objects.exclude(membership__in=members).delete()


def ask(audience: Audience) -> Iterator[tuple[str, Changes]]:
    """What each import since the last time changed, one answer after the other; raises GatewayError.

    With the cursor that was asked with, which is empty the first time.
    """
    listening = Listening.objects.filter(website=audience.website).first()
    since = listening.cursor if listening else ""
    mildest = max((each.floor for each in audience.subscriptions), key=labels.rank)
    more = True
    while more:
        try:
            changes = service.ask_what_an_import_changed(audience.website, since=since, min_severity=mildest)
        except Rejected:  # another service, perhaps: the next run begins anew
            Listening.objects.filter(website=audience.website, cursor=since).delete()
            raise
        yield since, changes
        since, more = changes.cursor, changes.more and changes.cursor != since


def news_for(audience: Audience, since: str, changes: Changes) -> list[tuple[Subscription, News]]:
    """What each member is to be told; nobody is told nothing."""
    told = ((each, News.of(changes, each, since=since)) for each in audience.subscriptions)
    return [(subscription, news) for subscription, news in told if news]


@transaction.atomic
def keep(audience: Audience, since: str, changes: Changes, *, now: datetime) -> None:
    """Go on from the answer's cursor, with what is to be told; another run may have been quicker."""
    website = audience.website
    if not since:
        Listening.objects.get_or_create(website=website, defaults={"cursor": changes.cursor})
        return
    if not Listening.objects.filter(website=website, cursor=since).update(cursor=changes.cursor):
        return
    for subscription, news in news_for(audience, since, changes):
        _gather(subscription, website, news, now=now)


def _gather(subscription: Subscription, website: Website, news: News, *, now: datetime) -> None:
    """A tiding of its own, but for a day's e-mail; who has left meanwhile is told nothing."""
    membership = subscription.membership
    if not Membership.objects.select_for_update().filter(pk=membership.pk).exists():
        return
    waiting = Tiding.objects.select_for_update().filter(membership=membership, website=website, mail=None)
    if subscription.rhythm == Subscription.Rhythm.DAILY and (tiding := waiting.first()):
        tiding.told = str(News.read(tiding.told).followed_by(news))
        tiding.save(update_fields=["told"])
    else:
        Tiding.objects.create(membership=membership, website=website, told=str(news), heard_at=now)
