"""The meaning of events, and which snapshots hold: pure functions, alike in every order of arrival."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from dashboard_api import limits

STATUSES = ("trialing", "active", "past_due", "suspended", "expired")
_PAID = 3  # the worth of a subscription that is in order
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2200, 1, 1)


class Refused(Exception):
    """The signature, the time or the form of a callback is wrong: nothing is stored."""


class CannotApply(Exception):
    """The event cannot be applied now; ``code`` says why, without any text of the event."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def stored_type(text: str) -> str:
    """Return the type of an event as it is stored."""
    return "".join(each for each in text if each.isprintable())[:100]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """The part that every event has."""

    type: str = ""
    occurred_at: datetime | None = None


class Ignored(Event, frozen=True, kw_only=True):
    """An event that changes nothing; ``why`` is a code."""

    why: str


class Link(Event, frozen=True, kw_only=True):
    """A customer of the provider is the account of ``billing_ref``."""

    customer: str
    billing_ref: str


class Snapshot(Event, frozen=True, kw_only=True):
    """The whole state of a subscription at one moment.

    The greater ``order`` is the newer one. ``facts`` are the values of the provider, and ``previous`` those
    that this event replaced. Without a ``status`` the subscription does not count. ``past_due_since`` is None
    if the event does not say since when; its subscription knows it from others.
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


Content = Snapshot | Link | Ignored


def in_range(day: date) -> date:
    """Return ``day``, or the nearest day that an entitlement may have."""
    return min(max(day, FIRST_DAY), LAST_DAY)


def merge(held: Iterable[Snapshot], new: Snapshot) -> tuple[Snapshot, ...]:
    """Return the newest of the snapshots: several only if they have the same order."""
    every = {_key(each): each for each in (*held, new)}
    newest = max(each.order for each in every.values())
    return tuple(every[key] for key in sorted(every) if every[key].order == newest)


def _key(snapshot: Snapshot) -> bytes:
    """Return the same bytes for equal snapshots: databases order the members of stored JSON."""
    return msgspec.json.encode(snapshot, order="sorted")


def latest(held: Iterable[Snapshot]) -> Snapshot:
    """Return the snapshot that holds: of the same timestamp, the one whose values no other one replaced.

    If that leaves several, the choice is the same for every order of arrival.
    """
    return max(_last(held), key=_key)


def is_ambiguous(held: Iterable[Snapshot]) -> bool:
    """Return whether the snapshots with the same timestamp contradict each other, so that one was chosen."""
    return len({msgspec.json.encode(effect(each)) for each in _last(held)}) > 1


def _last(held: Iterable[Snapshot]) -> list[Snapshot]:
    """Return those whose values no other one replaced; where each was replaced, all of them."""
    candidates = list(held)
    last = [each for each in candidates if not any(_replaces(other, each) for other in candidates)]
    return last or candidates


def _replaces(new: Snapshot, old: Snapshot) -> bool:
    """Return whether ``new`` names the values of ``old`` as those that it replaced."""
    return new is not old and bool(new.previous) and _contains(old.facts, new.previous)


def _contains(facts: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    return all(name in facts and facts[name] == value for name, value in part.items())


def effect(snapshot: Snapshot) -> dict[str, Any]:
    """Return the values that a snapshot sets on an entitlement, without the plan."""
    return {
        "status": snapshot.status,
        "ends_on": snapshot.ends_on,
        "renews": snapshot.renews and not snapshot.cancels,
        "cancels": snapshot.cancels,
        "past_due_since": snapshot.past_due_since if snapshot.status == "past_due" else None,
    }


def is_same(one: Snapshot, other: Snapshot) -> bool:
    """Return whether two snapshots of a subscription have the same effect."""
    first, second = (
        (effect(each) | {"past_due_since": None}, each.plan, each.price, each.other_prices)
        for each in (one, other)
    )
    return first == second


def best(
    snapshots: Iterable[Snapshot], today: date, size: Callable[[Snapshot], tuple[int, int]] = lambda _: (0, 0)
) -> Snapshot | None:
    """Return the snapshot of the subscription that serves the account best; None if none counts.

    An extra that is overdue never blocks a year that is paid. Of those that are paid, the one of the largest
    plan counts, by ``size``.
    """

    def key(each: Snapshot) -> tuple[Any, ...]:
        worth = _worth(each, today)
        return worth, size(each) if worth == _PAID else (0, 0), each.ends_on, each.object_id

    return max((each for each in snapshots if each.status), key=key, default=None)


def is_paid_on(values: Mapping[str, Any], day: date) -> bool:
    """Return whether an entitlement with these values of ``effect`` is usable on ``day``, and not late."""
    grace = limits.RENEWAL_GRACE if values["renews"] else timedelta()
    return values["status"] in ("active", "trialing") and values["ends_on"] >= day - grace


def is_usable_on(values: Mapping[str, Any], day: date) -> bool:
    """Return whether an entitlement with these values is usable on ``day``, also while a payment is late."""
    since = values["past_due_since"]
    is_late = values["status"] == "past_due" and since is not None and since >= day - limits.PAST_DUE_GRACE
    return is_late or is_paid_on(values, day)


def _worth(snapshot: Snapshot, today: date) -> int:
    if snapshot.status in ("active", "trialing"):
        return _PAID if is_paid_on(effect(snapshot), today) else 0
    return {"past_due": 2, "suspended": 1}.get(snapshot.status, 0)
