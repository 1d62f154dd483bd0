"""Callbacks of Stripe, verified by its own library, which is imported only on use.

Stripe's timestamps are whole seconds, and the paid period is on a subscription's items.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any

import msgspec

from dashboard_api.billing.snapshots import (
    FIRST_DAY,
    LAST_DAY,
    CannotApply,
    Content,
    CustomerLink,
    Ignored,
    Refused,
    Snapshot,
    stored_type,
)

TOLERANCE_SECONDS = 300  # both ways; the library accepts any future time
API_SECONDS = 10  # timeout of each call of Stripe's API
LINK = "checkout.session.completed"  # links a customer to an account
# Events that contain a whole subscription. In the same second, a greater rank is later.
RANKS = {
    "customer.subscription.created": 0,
    "customer.subscription.updated": 1,
    "customer.subscription.paused": 1,
    "customer.subscription.resumed": 1,
    "customer.subscription.deleted": 2,
}
# Ours by Stripe's; a subscription with an empty status does not count.
_STATUSES = {
    "trialing": "trialing",
    "active": "active",
    "past_due": "past_due",
    "unpaid": "suspended",
    "paused": "suspended",
    "canceled": "active",  # until its last day
    "incomplete": "",
    "incomplete_expired": "",
}
_UNPAID_REASONS = ("payment_failed", "payment_disputed")  # Stripe's reasons for a cancellation
_SENT_AT = re.compile(r"t=([0-9]{1,12}),", re.ASCII)  # the header begins with "t=SECONDS,"
_Name = Annotated[str, msgspec.Meta(pattern=r"\A[!-~]{1,255}\Z")]


class _Id(msgspec.Struct, frozen=True):
    id: _Name


class _Item(msgspec.Struct, frozen=True):
    price: _Id
    current_period_end: int | None = None


class _Items(msgspec.Struct, frozen=True):
    data: list[_Item]


class _Cancellation(msgspec.Struct, frozen=True):
    reason: str | None = None


class _Subscription(msgspec.Struct, frozen=True, kw_only=True):
    id: _Name
    customer: _Name
    status: str
    items: _Items
    livemode: bool = True
    metadata: dict[str, str] = {}
    cancel_at_period_end: bool = False
    cancel_at: int | None = None
    ended_at: int | None = None
    cancellation_details: _Cancellation | None = None
    current_period_end: int | None = None  # before Stripe's version 2025-03-31


class _Session(msgspec.Struct, frozen=True, kw_only=True):
    mode: str = ""
    client_reference_id: _Name | None = None
    customer: _Name | None = None


class _Data(msgspec.Struct, frozen=True):
    object: msgspec.Raw = msgspec.Raw()
    previous_attributes: dict[str, Any] | None = None


class _Event(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    created: int = 0
    livemode: bool = True
    data: _Data = _Data()


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> str:
    """Verify a callback, and return the event's id; raises Refused. ``headers`` have lower-case names."""
    import stripe

    header = headers.get("stripe-signature", "")
    sent_at = _SENT_AT.match(header)
    if sent_at is None:
        raise Refused("headers")
    if abs(int(sent_at[1]) - int(now.timestamp())) > TOLERANCE_SECONDS:
        raise Refused("time")
    for secret in secrets:
        try:
            stripe.WebhookSignature.verify_header(body, header, secret)
        except (stripe.SignatureVerificationError, ValueError, TypeError):  # not UTF-8, or not ASCII
            continue
        return _event_id(body)
    raise Refused("signature")


def _event_id(body: bytes) -> str:
    """Return the event's id, or the hash of a body that is not an event."""
    try:
        return msgspec.json.decode(body, type=_Id).id
    except (msgspec.DecodeError, ValueError, RecursionError):
        return hashlib.sha256(body).hexdigest()


def read(body: bytes, *, livemode: bool) -> Content:
    """Return the decoded event; raises CannotApply if an event of a known type is malformed."""
    try:
        event = msgspec.json.decode(body, type=_Event)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return Ignored(why="unreadable")
    kind = stored_type(event.type)
    at = _valid_time(event.created)
    if event.type != LINK and event.type not in RANKS:
        return Ignored(type=kind, occurred_at=at, why="unknown_type")
    if event.livemode is not livemode:
        return Ignored(type=kind, occurred_at=at, why="wrong_mode")
    if at is None:
        raise CannotApply("unreadable")
    try:
        if event.type == LINK:
            session = msgspec.json.decode(event.data.object, type=_Session)
            if session.mode != "subscription" or not (session.client_reference_id and session.customer):
                return Ignored(type=LINK, occurred_at=at, why="no_reference")
            ref = session.client_reference_id
            return CustomerLink(type=LINK, occurred_at=at, customer=session.customer, billing_ref=ref)
        subscription = msgspec.json.decode(event.data.object, type=_Subscription)
        facts = _facts(msgspec.json.decode(event.data.object))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise CannotApply("unreadable") from error
    order = (event.created, RANKS[event.type])
    previous = event.data.previous_attributes or {}
    return _snapshot(subscription, kind, at, order, facts=facts, previous=previous)


def fetch(customer: str, key: str, now: datetime, *, livemode: bool) -> list[Snapshot]:
    """Return the customer's current subscriptions from Stripe's API; raises CannotApply."""
    import stripe

    connection = stripe.RequestsClient(timeout=API_SECONDS)
    client = stripe.StripeClient(key, http_client=connection, max_network_retries=1)
    try:
        page = client.v1.subscriptions.list({"customer": customer, "status": "all", "limit": 100})
        found = [each.to_dict(for_json=True) for each in page.auto_paging_iter()]
    except stripe.StripeError as error:
        raise CannotApply(type(error).__name__) from error
    snapshots = []
    for values in found:
        try:
            subscription = msgspec.convert(values, _Subscription)
        except msgspec.ValidationError as error:
            raise CannotApply("unreadable") from error
        if subscription.livemode is livemode:
            order = (int(now.timestamp()), 0)
            snapshots.append(_snapshot(subscription, "api", now, order, facts=_facts(values), previous={}))
    return snapshots


def _snapshot(
    subscription: _Subscription,
    kind: str,
    at: datetime,
    order: tuple[int, int],
    *,
    facts: dict[str, Any],
    previous: dict[str, Any],
) -> Snapshot:
    status = _STATUSES.get(subscription.status)
    if status is None or not subscription.items.data:
        raise CannotApply("unreadable")
    reason = subscription.cancellation_details.reason if subscription.cancellation_details else None
    if subscription.status == "canceled" and reason in _UNPAID_REASONS:
        status = "expired"
    # Without a previous status, this event did not change it.
    was_late = previous.get("status", subscription.status) == "past_due"
    return Snapshot(
        type=kind,
        occurred_at=at,
        object_id=subscription.id,
        order=order,
        status=status,
        ends_on=_last_day(subscription),
        billing_ref=subscription.metadata.get("billing_ref", ""),
        customer=subscription.customer,
        price=subscription.items.data[0].price.id,
        other_prices=tuple(item.price.id for item in subscription.items.data[1:]),
        renews=not _is_ending(subscription),
        cancels=_is_ending(subscription),
        past_due_since=at.date() if status == "past_due" and not was_late else None,
        facts=facts,
        previous=_facts(previous),
    )


def _is_ending(subscription: _Subscription) -> bool:
    will_end = subscription.cancel_at_period_end or subscription.cancel_at is not None
    return will_end or subscription.status == "canceled"


def _last_day(subscription: _Subscription) -> date:
    """Return the day of the end, or else of the next payment; raises CannotApply."""
    periods = [item.current_period_end or subscription.current_period_end for item in subscription.items.data]
    known = [end for end in periods if end is not None]
    end = subscription.ended_at or subscription.cancel_at or min(known, default=None)
    moment = _valid_time(end) if end is not None else None
    if moment is None:
        raise CannotApply("unreadable")
    return moment.date()


def _facts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that put events of the same second in order."""
    names = ("status", "cancel_at_period_end", "cancel_at", "canceled_at", "ended_at", "trial_end")
    facts = {name: values[name] for name in (*names, "latest_invoice") if name in values}
    if isinstance(items := values.get("items"), dict) and isinstance(items.get("data"), list):
        facts["items"] = [_item_facts(item) for item in items["data"] if isinstance(item, dict)]
    return facts


def _item_facts(item: Mapping[str, Any]) -> list[Any]:
    price = item.get("price")
    return [price.get("id") if isinstance(price, dict) else None, item.get("current_period_end")]


def _valid_time(seconds: int) -> datetime | None:
    """Return the time in UTC if it is between FIRST_DAY and LAST_DAY."""
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return at if FIRST_DAY <= at.date() <= LAST_DAY else None
