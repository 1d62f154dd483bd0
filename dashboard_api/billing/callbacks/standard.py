"""Callbacks in the format of Standard Webhooks, with events of our own, for any billing system.

https://www.standardwebhooks.com describes the signature. Its library computes signatures, and this module
compares their texts: the library's own check decodes base64 leniently and accepts changed signatures.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated
from uuid import UUID

import msgspec
from standardwebhooks.webhooks import Webhook

from dashboard_api.billing.snapshots import (
    FIRST_DAY,
    LAST_DAY,
    STATUSES,
    CannotApply,
    Content,
    CustomerLink,
    Ignored,
    Refused,
    Snapshot,
    stored_type,
)

TOLERANCE_SECONDS = 300  # between the time of sending and ours, both ways
EVENT, LINK = "entitlement.set", "customer.linked"  # types of events
_ID = re.compile(r"[!-~]{1,255}", re.ASCII)  # printable, without blanks
_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)
_Name = Annotated[str, msgspec.Meta(pattern=r"\A[!-~]{1,255}\Z")]


class _Data(msgspec.Struct, frozen=True, kw_only=True):
    version: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    status: str
    ends_on: date
    billing_ref: _Name = ""
    customer: _Name = ""
    plan: Annotated[str, msgspec.Meta(pattern=r"\A[-a-zA-Z0-9_]{1,50}\Z")] = ""
    price: _Name = ""
    renews: bool = False
    cancels: bool = False
    past_due_since: date | None = None
    subscription: _Name | None = None


class _LinkData(msgspec.Struct, frozen=True):
    billing_ref: _Name
    customer: _Name


class _Type(msgspec.Struct, frozen=True):
    type: str


class _Envelope(_Type, frozen=True):
    data: msgspec.Raw = msgspec.Raw()
    timestamp: datetime | None = None
    livemode: bool = True


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> str:
    """Verify a callback, and return the event's id; raises Refused. ``headers`` have lower-case names."""
    event_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (_ID.fullmatch(event_id) and _TIME.fullmatch(sent_at)):
        raise Refused("headers")
    if abs(int(sent_at) - int(now.timestamp())) > TOLERANCE_SECONDS:
        raise Refused("time")
    # Several while the sender changes its secret.
    signatures = headers.get("webhook-signature", "").encode("utf-8", "replace").split(b" ")
    for secret in secrets:
        expected = signature(event_id, int(sent_at), body, secret).encode()
        if any(hmac.compare_digest(expected, each) for each in signatures):
            return event_id
    raise Refused("signature")


def signature(event_id: str, sent_at: int, body: bytes, secret: str) -> str:
    """Return the signature of a callback in the form of its header; raises Refused."""
    try:
        return Webhook(secret).sign(event_id, datetime.fromtimestamp(sent_at, UTC), body.decode())
    except (ValueError, OverflowError, OSError) as error:  # not UTF-8, or a time beyond the calendar
        raise Refused("form") from error


def read(body: bytes, *, livemode: bool) -> Content:
    """Return the decoded event; raises CannotApply if an event of a known type is malformed."""
    try:
        name = msgspec.json.decode(body, type=_Type).type
    except (msgspec.DecodeError, ValueError, RecursionError):
        return Ignored(why="unreadable")
    kind = stored_type(name)
    if name not in (EVENT, LINK):
        return Ignored(type=kind, why="unknown_type")
    try:
        envelope = msgspec.json.decode(body, type=_Envelope)
        at = _valid_time(envelope.timestamp)
        if envelope.livemode is not livemode:
            return Ignored(type=kind, occurred_at=at, why="wrong_mode")
        if name == LINK:
            link = msgspec.json.decode(envelope.data, type=_LinkData)
            ref = link.billing_ref
            return CustomerLink(type=kind, occurred_at=at, customer=link.customer, billing_ref=ref)
        data = msgspec.json.decode(envelope.data, type=_Data)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise CannotApply("unreadable") from error
    return _snapshot(data, kind, at)


def _normal_uuid(billing_ref: str) -> str:
    """Return a UUID in its usual form, and any other text unchanged."""
    try:
        return str(UUID(billing_ref))
    except ValueError:
        return billing_ref


def _valid_time(at: datetime | None) -> datetime | None:
    """Return the time in UTC if it has a zone and is between FIRST_DAY and LAST_DAY."""
    if at is None or at.tzinfo is None or not FIRST_DAY <= at.date() <= LAST_DAY:
        return None
    return at.astimezone(UTC)


def _snapshot(data: _Data, kind: str, at: datetime | None) -> Snapshot:
    days = [day for day in (data.ends_on, data.past_due_since) if day is not None]
    if data.status not in STATUSES or not all(FIRST_DAY <= day <= LAST_DAY for day in days):
        raise CannotApply("unreadable")
    if data.status == "past_due" and data.past_due_since is None:
        raise CannotApply("unreadable")
    has_plan_or_price = bool(data.plan) is not bool(data.price)  # one of them, not both
    if not has_plan_or_price or not (data.billing_ref or data.customer):
        raise CannotApply("unreadable")
    return Snapshot(
        type=kind,
        occurred_at=at,
        object_id=data.subscription or _normal_uuid(data.billing_ref) or data.customer,
        order=(data.version, int(at.timestamp()) if at else 0),
        status=data.status,
        ends_on=data.ends_on,
        billing_ref=data.billing_ref,
        customer=data.customer,
        plan=data.plan,
        price=data.price,
        renews=data.renews,
        cancels=data.cancels,
        past_due_since=data.past_due_since,
    )
