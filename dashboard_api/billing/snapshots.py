"""Snapshots of subscriptions, and which is current: pure functions, independent of the order of arrival."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from dashboard_api import limits

STATUSES = ("trialing", "active", "past_due", "suspended", "expired")
_PAID = 3  # the greatest result of _worth: a subscription without a late payment
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2200, 1, 1)  # other dates of providers are mistakes


class Refused(Exception):
    """A callback with a wrong signature, time or form: it is not stored."""


class CannotApply(Exception):
    """An event that cannot be applied now; ``code`` says why, and has no text from the event."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def stored_type(text: str) -> str:
    """Return an event's type for storage: at most 100 printable characters."""
    return "".join(each for each in text if each.isprintable())[:100]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Base class of events."""

    type: str = ""
    occurred_at: datetime | None = None


class Ignored(Event, frozen=True, kw_only=True):
    """An event without an effect; ``why`` is a code."""

    why: str


class CustomerLink(Event, frozen=True, kw_only=True):
    """An event that links the provider's customer to the account with this ``billing_ref``."""

    customer: str
    billing_ref: str


class Snapshot(Event, frozen=True, kw_only=True):
    """The whole state of a subscription at one moment.

    A greater ``order`` is newer. ``facts`` has the provider's values, and ``previous`` the values that this
    event replaced. Without a ``status`` the subscription does not count. If the event does not say since when
    a payment is late, ``with_lateness`` sets ``past_due_since`` from the subscription.
    """

    object_id: str
    order: tuple[int, int]
    status: str
    ends_on: date
    billing_ref: str = ""
    customer: str = ""
    plan: str = ""
    price: str = ""
    other_prices: tuple[str, ...] = ()  # of the subscription's further items
    renews: bool = False
    cancels: bool = False
    past_due_since: date | None = None
    facts: dict[str, Any] = {}
    previous: dict[str, Any] = {}


Content = Snapshot | CustomerLink | Ignored


def merge(held: Iterable[Snapshot], new: Snapshot) -> tuple[Snapshot, ...]:
    """Return the newest snapshots: one, or several with the same order."""
    by_key = {_sort_key(each): each for each in (*held, new)}  # equal snapshots become one
    newest = max(each.order for each in by_key.values())
    return tuple(by_key[key] for key in sorted(by_key) if by_key[key].order == newest)


def _sort_key(snapshot: Snapshot) -> bytes:
    """Return a sort key that is the same for equal snapshots: databases reorder the members of JSON."""
    return msgspec.json.encode(snapshot, order="sorted")


def latest(held: Iterable[Snapshot]) -> Snapshot:
    """Return the current snapshot: if several have the same timestamp, one that no other replaced.

    Ties are broken by content, so that the order of arrival does not matter.
    """
    return max(_unreplaced(held), key=_sort_key)


def is_ambiguous(held: Iterable[Snapshot]) -> bool:
    """Return whether snapshots with the same timestamp contradict each other: ``latest`` is then a guess."""
    return len({msgspec.json.encode(effect(each)) for each in _unreplaced(held)}) > 1


def _unreplaced(held: Iterable[Snapshot]) -> list[Snapshot]:
    """Return the snapshots that no other one replaced, or all if each was replaced."""
    candidates = list(held)
    last = [each for each in candidates if not any(_replaces(other, each) for other in candidates)]
    return last or candidates


def _replaces(new: Snapshot, old: Snapshot) -> bool:
    """Return whether the values that ``new`` replaced are values of ``old``."""
    if new is old or not new.previous:
        return False
    return all(name in old.facts and old.facts[name] == value for name, value in new.previous.items())


def effect(snapshot: Snapshot) -> dict[str, Any]:
    """Return the values that a snapshot sets on an entitlement, except the plan."""
    return {
        "status": snapshot.status,
        "ends_on": snapshot.ends_on,
        "renews": snapshot.renews and not snapshot.cancels,
        "cancels": snapshot.cancels,
        "past_due_since": snapshot.past_due_since if snapshot.status == "past_due" else None,
    }


def has_same_effect(one: Snapshot, other: Snapshot) -> bool:
    """Return whether two snapshots of a subscription have the same effect."""

    def facts(snapshot: Snapshot) -> tuple[Any, ...]:
        values = effect(snapshot) | {"past_due_since": None}  # only some events say it
        return values, snapshot.plan, snapshot.price, snapshot.other_prices

    return facts(one) == facts(other)


def best(
    snapshots: Iterable[Snapshot], today: date, size: Callable[[Snapshot], tuple[int, int]] = lambda _: (0, 0)
) -> Snapshot | None:
    """Return the most useful snapshot, if any counts: paid before past due before suspended.

    So an overdue extra never blocks a paid year. Among paid ones, the largest plan comes first:
    ``size`` returns its rank and its limit of websites.
    """

    def key(each: Snapshot) -> tuple[Any, ...]:
        worth = _worth(each, today)
        return worth, size(each) if worth == _PAID else (0, 0), each.ends_on, each.object_id

    return max((each for each in snapshots if each.status), key=key, default=None)


def is_paid_on(values: Mapping[str, Any], day: date) -> bool:
    """Return whether these values of ``effect`` make an entitlement usable on ``day``, and not late."""
    grace = limits.RENEWAL_GRACE if values["renews"] else timedelta()
    return values["status"] in ("active", "trialing") and values["ends_on"] >= day - grace


def is_usable_on(values: Mapping[str, Any], day: date) -> bool:
    """Return whether these values make an entitlement usable on ``day``, even with a payment in grace."""
    since = values["past_due_since"]
    is_late = values["status"] == "past_due" and since is not None and since >= day - limits.PAST_DUE_GRACE
    return is_late or is_paid_on(values, day)


def _worth(snapshot: Snapshot, today: date) -> int:
    if snapshot.status in ("active", "trialing"):
        return _PAID if is_paid_on(effect(snapshot), today) else 0
    return {"past_due": 2, "suspended": 1}.get(snapshot.status, 0)
