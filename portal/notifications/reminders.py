"""Reminders before certificates and domains expire: one for each of them, 30, 14 and 3 days before."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction

from portal.answers import service
from portal.models import Account, Membership, PendingNotification, SentReminder, Website
from portal.notifications.digest import Digest, Reminder
from portal.notifications.polling import Audience
from portal.texts import expiry
from signed_api.errors import CallError, InactiveEntitlement
from signed_api.inventory import DOMAIN, LastDay, LastDaysRequest
from signed_api.limits import MAX_PAGE_DEPTH, MAX_PAGE_SIZE

THRESHOLDS = (3, 14, 30)  # days


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """A reminder, so many ``days`` before; ``items`` are the same certificate or domain of websites."""

    key: str
    days: int
    items: list[LastDay]


@dataclass(slots=True)
class Outcome:
    """The number of reminders that were stored, and the failures."""

    created: int = 0
    failures: list[str] = field(default_factory=list)


def store_due(audiences: Iterable[Audience], *, now: datetime) -> Outcome:
    """Store the reminders that are due on the websites of ``audiences``, each once for its account.

    Call it outside any transaction, because it calls the service.
    """
    by_account: dict[Account, list[Audience]] = {}
    for audience in audiences:
        by_account.setdefault(audience.website.account, []).append(audience)
    outcome = Outcome()
    for account, found in by_account.items():
        members = [each.membership for each in found[0].subscriptions if each.gets_reminders]
        if not members:
            continue
        websites = {audience.website.host: audience.website for audience in found}
        try:
            for due in _due(account, websites, now):
                outcome.created += _store(due, websites, members, now)
        except InactiveEntitlement:
            continue
        except CallError as error:
            outcome.failures.append(f"{account.ref}: {type(error).__name__}: {error}")
    return outcome


def _due(account: Account, websites: Mapping[str, Website], now: datetime) -> Iterator[_Due]:
    """Yield the reminders of the account that are due and not stored yet; raises CallError."""
    by_key: dict[str, list[LastDay]] = {}
    for item in _expiring(account):
        if item.host in websites and item.valid_until > now:
            by_key.setdefault(_key(item), []).append(item)
    stored = SentReminder.objects.filter(account=account, key__in=by_key).values_list("key", "days")
    known = set(stored)
    for key, items in by_key.items():
        left = expiry.days_left(items[0].valid_until, now)
        days = min((each for each in THRESHOLDS if left <= each), default=0)
        if days and (key, days) not in known and not _may_be_renewed(items[0], days):
            yield _Due(key=key, days=days, items=items)


def _expiring(account: Account) -> Iterator[LastDay]:
    """Yield what expires within the longest threshold, the soonest first; raises CallError."""
    seen = 0
    for number in range(1, MAX_PAGE_DEPTH // MAX_PAGE_SIZE + 1):
        request = LastDaysRequest(within_days=max(THRESHOLDS) + 1, page=number, page_size=MAX_PAGE_SIZE)
        found = service.get_last_days(account, request)
        yield from found.items
        seen += len(found.items)
        if not found.items or seen >= found.total:
            return


def _key(item: LastDay) -> str:
    """Return the key of a certificate, or of a domain with its last day; a renewed one has another key."""
    return f"{item.name} {item.valid_until:%Y-%m-%d}" if item.kind == DOMAIN else item.fingerprint


def _may_be_renewed(item: LastDay, days: int) -> bool:
    """Return whether a program may have renewed the certificate since a scan saw it.

    Programs renew in the last third of a lifetime: of 90 days, 30 days before the end. If a scan saw the
    certificate in that third, none did.
    """
    if item.valid_from is None:
        return False
    third = (item.valid_until - item.valid_from) / 3
    return timedelta(days=days) >= third and item.seen_at < item.valid_until - third


def _store(due: _Due, websites: Mapping[str, Website], members: Sequence[Membership], now: datetime) -> int:
    """Store the reminder for each member, and return their number; 0 if another run did it."""
    first = due.items[0]
    website = websites[first.host]
    reminder = Reminder(
        kind=first.kind,
        name=first.name,
        port=first.port,
        issuer=first.issuer,
        fingerprint=first.fingerprint,
        valid_until=first.valid_until,
        seen_at=first.seen_at,
        also=sorted({item.host for item in due.items} - {first.host}),
    )
    with transaction.atomic():
        if not Website.objects.select_for_update().filter(pk=website.pk).exists():
            return 0
        fields = {"account": website.account, "key": due.key, "days": due.days}
        _row, is_new = SentReminder.objects.get_or_create(**fields, defaults={"created_at": now})
        if not is_new:
            return 0
        still = Membership.objects.select_for_update().filter(pk__in=[each.pk for each in members])
        digest = Digest(reminder=reminder).to_json()
        notifications = [
            PendingNotification(membership=member, website=website, digest=digest, created_at=now)
            for member in still
        ]
        PendingNotification.objects.bulk_create(notifications)
    return len(notifications)
